package auth

import (
	"context"
	"strings"
	"time"

	"github.com/holdfast/holdfast/fault"
)

// TokenVerifier checks tokens. *oidc.Verifier is one.
type TokenVerifier interface {
	// VerifyToken returns what cred.Key, a token, is good for by the rules of a keyring.
	// cred.Org is the organization that the caller named; uuid.Nil when the caller named
	// none. A refusal is a *fault.Error; one of code TokenRefused counts as a failure.
	VerifyToken(ctx context.Context, rules *Keyring, cred Credentials) (Token, error)
}

// Token is what a verified token comes to.
type Token struct {
	TokenLogin           // the rule that it matches
	Subject    string    // whom it was made for
	Expires    time.Time // the first moment it is no longer good
}

// tokenStart is how every token's header begins: it is {" in base64url.
const tokenStart = "eyJ"

// IsToken reports whether what came in the place of a key is a JSON Web Token by its form:
// three parts in base64url, longer than any key. It says nothing about whether it is good.
func IsToken(key string) bool {
	return len(key) > maxKeyLength && strings.HasPrefix(key, tokenStart) &&
		strings.Count(key, ".") == 2 && onlyOf(key, base62Digits+"-_.")
}

// verifyToken is Verify for a token.
func (v *Verifier) verifyToken(ctx context.Context, cred Credentials, client Client) (Principal, error) {
	t, err := v.admitToken(ctx, cred, placeOf(cred.Org, client.Address))
	if err == nil {
		err = t.checkAddress(client.Address)
	}
	if err != nil {
		return Principal{}, v.refuse(ctx, err, cred.Org, client)
	}
	return t.principal(client), nil
}

func (t Token) checkAddress(address string) error {
	if len(t.Rule.From) > 0 && !within(t.Rule.From, address) {
		return fault.New(fault.AddressRefused, "this token may not be used from %q", address)
	}
	return nil
}

// admitToken counts bad tokens as failures, and tells those who have had too many nothing
// else. A good token gets in all the same: to check a signature costs little more than to
// read the request, and nobody finds one by trying.
func (v *Verifier) admitToken(ctx context.Context, cred Credentials, p place) (Token, error) {
	t, err := v.currentToken(ctx, cred)
	if !fault.Is(err, fault.TokenRefused) {
		return t, err
	}
	if tooMany := v.failures.allowed(p); tooMany != nil {
		return Token{}, tooMany
	}
	v.failures.record(p)
	return Token{}, err
}

// currentToken checks a token by the rules in force; again when they were replaced while
// its issuer was asked for keys.
func (v *Verifier) currentToken(ctx context.Context, cred Credentials) (Token, error) {
	for range maxReloads {
		ring := v.current.Load()
		t, err := v.tokens.VerifyToken(ctx, ring.Keyring, cred)
		if v.current.Load() == ring {
			return t, err
		}
	}
	return Token{}, errReloads
}

func (t Token) principal(client Client) Principal {
	grant := t.Rule.Grant
	grant.Expires = t.Expires
	return Principal{
		Org:     t.Org.ID,
		OrgName: t.Org.Name,
		KeyID:   "oidc." + t.Rule.Name,
		KeyName: t.Rule.Name,
		Subject: t.Subject,
		Grant:   grant,
		Limits:  t.Org.Limits,
		Address: client.Address,
		Request: client.Request,
	}
}
