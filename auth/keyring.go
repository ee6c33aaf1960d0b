package auth

import (
	"slices"

	"github.com/google/uuid"
)

// decoyHash is what keys are compared with where no organization has one: a valid hash of
// the cost of new keys. What the comparison says is never used.
const decoyHash = "$2a$10$7EqJtq98hPqEX7fNZaFWoOhi5B0a1H5vZc1m3QjXr8m0cUu4rJ7Gu"

// Keyring is a set of organizations with their key hashes and their rules for tokens and
// certificates. It never changes.
type Keyring struct {
	orgs map[uuid.UUID]*Organization
	// withKeys are those that a key can be compared with, in the order of the file.
	withKeys []*Organization
	keys     int
	// Who is meant by a certificate's name, and by an issuer's token.
	bySAN   map[string]CertificateLogin
	byToken map[tokenSource][]TokenLogin
}

// CertificateLogin is a rule for certificates and the organization for which it stands.
type CertificateLogin struct {
	Org  *Organization // must not be changed
	Rule CertificateRule
}

// TokenLogin is a rule for tokens and the organization for which it stands.
type TokenLogin struct {
	Org  *Organization // must not be changed
	Rule TokenRule
}

// tokenSource is what all tokens for a rule carry.
type tokenSource struct{ issuer, audience string }

// NewKeyring takes the organizations out of a document, which must not be edited after.
func NewKeyring(doc *Document) *Keyring {
	r := &Keyring{
		orgs:    make(map[uuid.UUID]*Organization, len(doc.orgs)),
		bySAN:   make(map[string]CertificateLogin),
		byToken: make(map[tokenSource][]TokenLogin),
	}
	for i := range doc.orgs {
		o := &doc.orgs[i]
		r.orgs[o.ID] = o
		r.keys += len(o.Keys)
		if len(o.Keys) > 0 {
			r.withKeys = append(r.withKeys, o)
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
// is given as CertificateSANs does. At most one organization has a rule for a name.
func (r *Keyring) Certificate(san string) (CertificateLogin, bool) {
	login, ok := r.bySAN[san]
	return login, ok
}

// Tokens returns the rules for an issuer's tokens for an audience, of all organizations,
// in the order of the file. The slice must not be changed.
func (r *Keyring) Tokens(issuer, audience string) []TokenLogin {
	return r.byToken[tokenSource{issuer, audience}]
}

// TokensOf returns an organization's rules for tokens. The slice must not be changed.
func (r *Keyring) TokensOf(org uuid.UUID) []TokenRule {
	if o, ok := r.orgs[org]; ok {
		return o.Tokens
	}
	return nil
}

// Organizations returns how many organizations there are.
func (r *Keyring) Organizations() int { return len(r.orgs) }

// Keys returns how many key hashes there are, in all organizations together.
func (r *Keyring) Keys() int { return r.keys }

// only returns the uses of what is in the keyring.
func (r *Keyring) only(uses Uses) Uses {
	kept := make(Uses, len(uses))
	for org, o := range r.orgs {
		for _, id := range o.callers() {
			c := Credential{org, id}
			if use, ok := uses[c]; ok {
				kept[c] = use
			}
		}
	}
	return kept
}

// suspects returns the hashes to compare a key with. For an organization that has none
// they are those of another one, chosen by choice, so that the answer takes as long as
// that for a wrong key; known is false then, and the comparison must not count.
func (r *Keyring) suspects(org uuid.UUID, choice uint64) (o *Organization, known bool) {
	if o, ok := r.orgs[org]; ok && len(o.Keys) > 0 {
		return o, true
	}
	if n := uint64(len(r.withKeys)); n > 0 {
		return r.withKeys[choice%n], false
	}
	return &Organization{Keys: []StoredKey{{Hash: decoyHash}}}, false
}

// find returns the organization and its key that has this hash.
func (r *Keyring) find(org uuid.UUID, hash string) (*Organization, StoredKey, bool) {
	return r.key(org, func(k StoredKey) bool { return k.Hash == hash })
}

// findID is find by a key's ID, which follows from its hash.
func (r *Keyring) findID(org uuid.UUID, id string) (*Organization, StoredKey, bool) {
	return r.key(org, func(k StoredKey) bool { return k.ID == id })
}

func (r *Keyring) key(org uuid.UUID, is func(StoredKey) bool) (*Organization, StoredKey, bool) {
	o, ok := r.orgs[org]
	if !ok {
		return nil, StoredKey{}, false
	}
	if i := slices.IndexFunc(o.Keys, is); i >= 0 {
		return o, o.Keys[i], true
	}
	return nil, StoredKey{}, false
}
