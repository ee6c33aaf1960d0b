package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

// SignIn is Verify for somebody who begins a session: it returns beside who they are what has to hold
// still for the session to go on. Its faults are those of Verify.
func (v *Verifier) SignIn(ctx context.Context, cred auth.Credentials, client auth.Client) (auth.Principal, auth.Login, error) {
	for range maxReloads {
		ring := v.current.Load()
		p, err := v.Verify(ctx, cred, client)
		if err != nil {
			return auth.Principal{}, auth.Login{}, err
		}
		login := auth.Login{Org: p.Org, KeyID: p.KeyID, Subject: p.Subject}
		if o := ring.Organizations[p.Org]; o != nil {
			if rule, ok := tokenRule(o, p.KeyID); ok {
				login.Rule = conditionsOf(rule)
			}
		}
		if v.current.Load() == ring { // so that it was this rule which let them in
			return p, login, nil
		}
	}
	return auth.Principal{}, auth.Login{}, v.refuse(ctx, errReloads, cred.Whose(), client)
}

// VerifyLogin returns what somebody may do now who began a session so: the key has to be there still,
// or the rule ask the same of tokens as it did. It compares no hash. A refusal is a *fault.Error:
// CredentialsRevoked, or KeyExpired or AddressRefused as of Verify.
func (v *Verifier) VerifyLogin(ctx context.Context, login auth.Login, client auth.Client) (auth.Principal, error) {
	p, err := v.loginNow(login, client)
	if err != nil {
		return auth.Principal{}, v.refuse(ctx, err, login.Org.String(), client)
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
	rule, ok := tokenRule(o, login.KeyID)
	if !ok || conditionsOf(rule) != login.Rule {
		return auth.Principal{}, revoked(errRevoked)
	}
	t := keyring.Token{TokenLogin: keyring.TokenLogin{Org: o, Rule: rule}, Subject: login.Subject}
	return bearerOf(t, client), checkAddress(t, client.Address)
}

func tokenRule(o *keyring.Organization, id string) (keyring.TokenRule, bool) {
	for _, rule := range o.Tokens {
		if rule.ID() == id {
			return rule, true
		}
	}
	return keyring.TokenRule{}, false
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
