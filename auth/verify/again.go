package verify

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
)

// errRevoked is for the log.
var errRevoked = errors.New("they are no longer in the auth file")

// VerifyAgain returns what a caller may do by now, whom Verify found earlier in the same
// request, when the keyring in force had this edition or a later one: a request's body may
// take hours to arrive. It compares no hash, and counts no failure: whoever had good
// credentials isn't guessing. A refusal is a *fault.Error: KeyExpired or AddressRefused as
// of Verify, CredentialsRevoked when they are no longer good for this organization, or
// IssuerUnavailable. It is logged as one of Verify is.
func (v *Verifier) VerifyAgain(ctx context.Context, cred auth.Credentials, before auth.Principal,
	edition uint64) (auth.Principal, error) {
	client := auth.Client{Address: before.Address, Request: before.Request}
	now := before
	var err error
	if ring := v.current.Load(); ring.edition != edition {
		now, err = v.currently(ctx, ring, cred, before)
	}
	if err == nil {
		err = usable(now.Grant, nil, v.now(), client.Address)
	}
	if err == nil {
		err = v.trusts()
	}
	if err != nil {
		return auth.Principal{}, v.refuse(ctx, err, claim{before.Org.String(), before}, client)
	}
	return now, nil
}

// VerifyCertificateAgain is VerifyAgain for a caller whom VerifyCertificate found.
func (v *Verifier) VerifyCertificateAgain(ctx context.Context, shown auth.Certificate,
	before auth.Principal) (auth.Principal, error) {
	client := auth.Client{Address: before.Address, Request: before.Request}
	now, err := v.verifyCertificate(ctx, shown, client)
	if fault.Is(err, fault.CredentialsWrong) || err == nil && now.Org != before.Org {
		return auth.Principal{}, v.refuse(ctx, revoked(err), claim{before.Org.String(), before}, client)
	}
	return now, err
}

// currently finds the caller in a keyring that has come into force since.
func (v *Verifier) currently(ctx context.Context, ring *inForce, cred auth.Credentials,
	before auth.Principal) (auth.Principal, error) {
	if v.isRun(cred) {
		return v.runAgain(ctx, cred, before)
	}
	if v.tokens != nil && auth.IsToken(cred.Key) {
		return v.tokenAgain(ctx, ring.Keyring, cred, before)
	}
	m, ok := ring.find(before.Org, func(k keyring.StoredKey) bool { return k.ID == before.KeyID })
	if !ok {
		return auth.Principal{}, revoked(errRevoked)
	}
	now := holderOf(m, before.Org, auth.Client{Address: before.Address, Request: before.Request})
	return now, usable(m.key.Grant, m.key.From, v.now(), before.Address)
}

func (v *Verifier) tokenAgain(ctx context.Context, ring *keyring.Keyring, cred auth.Credentials,
	before auth.Principal) (auth.Principal, error) {
	t, err := v.tokens.VerifyToken(ctx, ring, cred)
	switch {
	case fault.Is(err, fault.TokenRefused):
		return auth.Principal{}, revoked(err)
	case err != nil:
		return auth.Principal{}, err
	case t.Org.ID != before.Org:
		return auth.Principal{}, revoked(errRevoked)
	}
	return bearerOf(t, auth.Client{Address: before.Address, Request: before.Request}), checkAddress(t, before.Address)
}

func revoked(err error) error {
	if err == nil {
		err = errRevoked
	}
	return fault.Wrap(err, fault.CredentialsRevoked,
		"these credentials were good when the request began, and were taken back before all of it had arrived; "+
			"nothing was stored")
}
