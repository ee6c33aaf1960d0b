package oidc

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
)

// Config sets up a Verifier. Zero values mean the defaults.
type Config struct {
	Logger *slog.Logger     // slog.Default()
	Now    func() time.Time // time.Now
	// Transport takes requests to issuers: http.DefaultTransport, which goes through the
	// proxy that HTTPS_PROXY names and trusts the system's certificate authorities.
	Transport *http.Transport
}

// Verifier checks tokens against the rules of an auth.cfg and the keys of their issuers.
// It remembers those keys and nothing of tokens, so that no token outlives its time or its
// rule. It is safe for concurrent use.
type Verifier struct {
	now     func() time.Time
	issuers *issuers
}

// NewVerifier returns a verifier. Close it after use.
func NewVerifier(c Config) (*Verifier, error) {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport.(*http.Transport)
	}
	known, err := newIssuers(c.Logger, c.Now, newClient(c.Transport))
	return &Verifier{c.Now, known}, err
}

// Close breaks off what is being fetched and waits for its end. After it, tokens of issuers
// whose keys are not at hand are refused as unavailable.
func (v *Verifier) Close() error {
	v.issuers.close()
	return nil
}

// VerifyToken returns the rule of a keyring that a token is good for, and what it says of
// its bearer. cred.Org is the organization that the caller named; uuid.Nil if none. A
// refusal is a *fault.Error:
//
//   - TokenRefused, with what is wrong with the token and never what would be right;
//   - IssuerUnavailable, while its issuer's keys can't be had.
func (v *Verifier) VerifyToken(ctx context.Context, rules *keyring.Keyring,
	cred auth.Credentials) (keyring.Token, error) {
	t, err := parse(cred.Key)
	if err != nil {
		return keyring.Token{}, refuse(err)
	}
	logins, err := loginsFor(rules, cred.Org, t)
	if err != nil {
		return keyring.Token{}, refuse(err)
	}
	c, err := v.verify(ctx, t)
	if err != nil {
		return keyring.Token{}, refuse(err)
	}
	login, err := choose(logins, c)
	if err != nil {
		return keyring.Token{}, err
	}
	if err := c.check(v.now(), login.Rule); err != nil {
		return keyring.Token{}, refuse(err)
	}
	return keyring.Token{TokenLogin: login, Subject: c.registered.Subject, Expires: c.expires(login.Rule)}, nil
}

// verify returns what the issuer says in a token.
func (v *Verifier) verify(ctx context.Context, t token) (claims, error) {
	key, err := v.issuers.of(t.issuer).key(ctx, t.keyID, t.algorithm)
	if err != nil {
		return claims{}, err
	}
	return t.verify(key)
}

// refuse returns what to tell about a token that is not good. What its message leaves out
// is for the log.
func refuse(err error) error {
	if trouble, ok := errors.AsType[unavailableError](err); ok {
		unavailable := fault.Wrap(err, fault.IssuerUnavailable, "the token's issuer can't be asked for its keys right now")
		unavailable.RetryAfter = max(trouble.retry, time.Second)
		return unavailable
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.New(fault.TokenRefused, "the token is refused: %v", err)
}
