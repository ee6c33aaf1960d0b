package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

// SignIn is Verify for somebody who begins a session: it returns beside who they are what has to hold
// still for the session to go on. Its faults are those of Verify.
func (v *Verifier) SignIn(ctx context.Context, cred auth.Credentials,
	client auth.Client) (auth.Principal, auth.Login, error) {
	for range maxReloads {
		ring := v.current.Load()
		p, err := v.Verify(ctx, cred, client)
		if err != nil {
			return auth.Principal{}, auth.Login{}, err
		}
		login := auth.Login{Org: p.Org, KeyID: p.KeyID, Subject: p.Subject}
		if o := ring.Organizations[p.Org]; o != nil {
			if rule, ok := o.TokenRule(p.KeyID); ok {
				login.Rule = conditionsOf(rule)
			}
		}
		if v.current.Load() == ring { // so that it was this rule which let them in
			return p, login, nil
		}
	}
	return auth.Principal{}, auth.Login{}, v.refuse(ctx, errReloads, claim{whose: cred.Whose()}, client)
}

// SignInBy is SignIn for somebody whom an issuer has signed in: match asks it who that is, and finds the
// rule of a keyring that lets them in; its faults are those of keyring.TokenVerifier. It isn't called
// for those who have had too many failures: what it asks costs the issuer something. org is the
// organization that they named; uuid.Nil if none.
func (v *Verifier) SignInBy(ctx context.Context, org uuid.UUID,
	match func(*keyring.Keyring) (keyring.Token, error), client auth.Client) (auth.Principal, auth.Login, error) {
	from := originOf(org, client.Address)
	t, err := keyring.Token{}, v.failures.allowed(from)
	if err == nil {
		t, err = match(v.current.Load().Keyring)
		err = v.countRefused(err, from)
	}
	if err == nil {
		err = checkAddress(t, client.Address)
	}
	if err == nil {
		err = v.trusts()
	}
	if err != nil {
		return auth.Principal{}, auth.Login{}, v.refuse(ctx, err, claimOf(org), client)
	}
	p := bearerOf(t, client)
	p.Expires = time.Time{} // what the issuer has said was for this moment; the session has its own end
	v.tell(p)
	return p, auth.Login{Org: p.Org, KeyID: p.KeyID, Subject: p.Subject, Rule: conditionsOf(t.Rule)}, nil
}

// VerifyLogin returns what somebody may do now who began a session so: the key has to be there still,
// or the rule ask the same of tokens as it did. It compares no hash. A refusal is a *fault.Error:
// CredentialsRevoked, or KeyExpired or AddressRefused as of Verify.
func (v *Verifier) VerifyLogin(ctx context.Context, login auth.Login, client auth.Client) (auth.Principal, error) {
	p, err := v.loginNow(login, client)
	if err != nil {
		of := claimOf(login.Org)
		of.who.KeyID, of.who.Subject = login.KeyID, login.Subject
		return auth.Principal{}, v.refuse(ctx, err, of, client)
	}
	if err := v.trusts(); err != nil {
		return auth.Principal{}, err
	}
	v.tell(p)
	return p, nil
}

func (v *Verifier) loginNow(login auth.Login, client auth.Client) (auth.Principal, error) {
	ring := v.current.Load()
	if login.Rule == "" {
		m, ok := ring.find(login.Org, func(k keyring.StoredKey) bool { return k.ID == login.KeyID })
		if !ok {
			return auth.Principal{}, revoked(errRevoked)
		}
		return holderOf(m, login.Org, client), usable(m.key.Grant, m.key.From, v.now(), client.Address)
	}
	o, ok := ring.Organizations[login.Org]
	if !ok {
		return auth.Principal{}, revoked(errRevoked)
	}
	rule, ok := o.TokenRule(login.KeyID)
	if !ok || conditionsOf(rule) != login.Rule {
		return auth.Principal{}, revoked(errRevoked)
	}
	t := keyring.Token{TokenLogin: keyring.TokenLogin{Org: o, Rule: rule}, Subject: login.Subject}
	return bearerOf(t, client), checkAddress(t, client.Address)
}

// conditionsOf is a fingerprint of what a rule asks of a token, and not of what the token is then
// good for: that is looked up each time.
func conditionsOf(rule keyring.TokenRule) string {
	text, _ := json.Marshal(struct { // of texts and numbers only, which can't fail
		Issuer, Audience string
		Claims           []keyring.ClaimPattern
		ValidFor         int64
	}{rule.Issuer, rule.Audience, rule.Claims, int64(rule.ValidFor)})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
