package verify

import (
	"context"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
)

// verifyToken is verifyKey for a token.
func (v *Verifier) verifyToken(ctx context.Context, cred auth.Credentials, client auth.Client) (auth.Principal, error) {
	t, err := v.admitToken(ctx, cred, originOf(cred.Org, client.Address))
	if err != nil {
		return auth.Principal{}, err
	}
	return bearerOf(t, client), checkAddress(t, client.Address)
}

func checkAddress(t keyring.Token, address string) error {
	if len(t.Rule.From) > 0 && !within(t.Rule.From, address) {
		return fault.New(fault.AddressRefused, "this token may not be used from %q", address)
	}
	return nil
}

// admitToken counts bad tokens as failures, and tells those who have had too many nothing
// else. A good token gets in all the same: to check a signature costs little more than to
// read the request, and nobody finds one by trying.
func (v *Verifier) admitToken(ctx context.Context, cred auth.Credentials, o origin) (keyring.Token, error) {
	t, err := v.currentToken(ctx, cred)
	return t, v.countRefused(err, o)
}

// countRefused counts err if it says that a token is bad.
func (v *Verifier) countRefused(err error, o origin) error {
	if !fault.Is(err, fault.TokenRefused) {
		return err
	}
	if tooMany := v.failures.allowed(o); tooMany != nil {
		return tooMany
	}
	v.failures.record(o)
	return err
}

// currentToken checks a token by the rules in force; again when they were replaced while
// its issuer was asked for keys.
func (v *Verifier) currentToken(ctx context.Context, cred auth.Credentials) (keyring.Token, error) {
	for range maxReloads {
		ring := v.current.Load()
		t, err := v.tokens.VerifyToken(ctx, ring.Keyring, cred)
		if v.current.Load() == ring {
			return t, err
		}
	}
	return keyring.Token{}, errReloads
}

// bearerOf returns whom a token stands for.
func bearerOf(t keyring.Token, client auth.Client) auth.Principal {
	grant := t.Rule.Grant
	grant.Expires = t.Expires
	p := principalOf(t.Org, grant, client)
	p.KeyID, p.KeyName, p.Subject = t.Rule.ID(), t.Rule.Name, t.Subject
	return p
}
