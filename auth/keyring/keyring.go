// Package keyring has what organizations' callers can prove themselves with: hashes of
// keys, and rules for tokens and certificates. Package authfile reads it from auth.cfg;
// packages verify and oidc check credentials against it.
package keyring

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
)

// Organization is who stands in auth.cfg with what.
type Organization struct {
	ID     uuid.UUID // never uuid.Nil
	Name   string    // may be empty; need not be unique
	Limits auth.Limits
	// Exposure says who is shown what of its states; nil shows all that a role may see.
	Exposure *auth.Exposure
	// What its callers may prove themselves with, each in the order of the file.
	Keys         []StoredKey
	Tokens       []TokenRule
	Certificates []CertificateRule
}

// StoredKey is what is kept of a key.
type StoredKey struct {
	ID    string // 12 hex digits, derived from Hash; not a secret
	Name  string // of its own section; empty for a key in the organization's
	Hash  string // bcrypt, 60 characters
	Cost  int    // of Hash, 10 to 16
	Label string // the comment on the key's line; may be empty
	auth.Grant
	From []netip.Prefix // where it may be used from; empty for anywhere
}

// Called is what people know a key by: its name, or else what its label says behind the date that
// commands put there; empty where that is nothing.
func (k StoredKey) Called() string {
	if k.Name != "" {
		return k.Name
	}
	first, rest, _ := strings.Cut(k.Label, " ")
	if _, err := time.Parse(time.DateOnly, first); err == nil {
		return rest
	}
	return k.Label
}

// Grant returns what a key, or the rule that let somebody in, is good for, by the KeyID of a Principal.
func (o *Organization) Grant(keyID string) (grant auth.Grant, found bool) {
	for _, k := range o.Keys {
		if k.ID == keyID {
			return k.Grant, true
		}
	}
	if r, ok := o.TokenRule(keyID); ok {
		return r.Grant, true
	}
	for _, r := range o.Certificates {
		if r.ID() == keyID {
			return r.Grant, true
		}
	}
	return auth.Grant{}, false
}

// TokenRule returns the rule for tokens that has this ID.
func (o *Organization) TokenRule(id string) (rule TokenRule, found bool) {
	for _, r := range o.Tokens {
		if r.ID() == id {
			return r, true
		}
	}
	return TokenRule{}, false
}

// Keyring is a set of organizations. It never changes: nothing that it holds may be
// changed after New.
type Keyring struct {
	Organizations map[uuid.UUID]*Organization
	// WithKeys are those that a key can be compared with, in the order of the file.
	WithKeys []*Organization
	// Who is meant by a certificate's name, and by an issuer's token.
	bySAN   map[string]CertificateLogin
	byToken map[tokenSource][]TokenLogin
}

// CertificateLogin is a rule for certificates and the organization for which it stands.
type CertificateLogin struct {
	Org  *Organization
	Rule CertificateRule
}

// TokenLogin is a rule for tokens and the organization for which it stands.
type TokenLogin struct {
	Org  *Organization
	Rule TokenRule
}

// Token is what a verified token comes to.
type Token struct {
	TokenLogin           // the rule that it matches
	Subject    string    // whom it was made for
	Expires    time.Time // the first moment it is no longer good
}

// TokenVerifier checks tokens. *oidc.Verifier is one.
type TokenVerifier interface {
	// VerifyToken returns what cred.Key, a token, is good for by the rules. cred.Org is the organization that the caller
	// named; uuid.Nil when the caller named
	// none. A refusal is a *fault.Error; one of code TokenRefused counts as a failure.
	VerifyToken(ctx context.Context, rules *Keyring, cred auth.Credentials) (Token, error)
}

// tokenSource is what all tokens for a rule carry.
type tokenSource struct{ issuer, audience string }

// New returns the keyring of organizations in the order of their file.
func New(orgs ...*Organization) *Keyring {
	r := &Keyring{
		Organizations: make(map[uuid.UUID]*Organization, len(orgs)),
		bySAN:         make(map[string]CertificateLogin),
		byToken:       make(map[tokenSource][]TokenLogin),
	}
	for _, o := range orgs {
		r.Organizations[o.ID] = o
		if len(o.Keys) > 0 {
			r.WithKeys = append(r.WithKeys, o)
		}
		r.addRules(o)
	}
	return r
}

func (r *Keyring) addRules(o *Organization) {
	for _, rule := range o.Tokens {
		source := tokenSource{rule.Issuer, rule.Audience}
		r.byToken[source] = append(r.byToken[source], TokenLogin{o, rule})
	}
	for _, rule := range o.Certificates {
		for _, san := range rule.SANs {
			r.bySAN[san] = CertificateLogin{o, rule}
		}
	}
}

// Certificate returns whom a certificate with this subject alternative name stands for; it
// is given as auth.CertificateSANs does. At most one organization has a rule for a name.
func (r *Keyring) Certificate(san string) (CertificateLogin, bool) {
	login, ok := r.bySAN[san]
	return login, ok
}

// Tokens returns the rules for an issuer's tokens for an audience, of all organizations,
// in the order of the file.
func (r *Keyring) Tokens(issuer, audience string) []TokenLogin {
	return r.byToken[tokenSource{issuer, audience}]
}

// Keys returns how many key hashes there are, in all organizations together.
func (r *Keyring) Keys() int {
	keys := 0
	for _, o := range r.WithKeys {
		keys += len(o.Keys)
	}
	return keys
}
