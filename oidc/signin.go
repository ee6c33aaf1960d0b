package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
)

// SignInConfig says with whom people sign in. Now and Transport are as in Config.
type SignInConfig struct {
	Issuer       string // the URL exactly as its tokens carry it
	ClientID     string // what the issuer calls this server; it is the audience of its tokens
	ClientSecret string // empty for a client that has none
	RedirectURL  string // where the issuer sends browsers back to
	Scopes       []string
	Now          func() time.Time
	Transport    *http.Transport
}

// SignIn signs people in by an issuer: authorization code with PKCE. It is safe for concurrent use.
type SignIn struct {
	SignInConfig
	client *http.Client
	places chan struct{} // of codes that are being traded

	mu       sync.Mutex
	provider *gooidc.Provider // nil until the issuer has answered
	failed   error            // what became of asking it, if that went wrong
	fresh    time.Time        // until then it isn't asked again
}

// maxTrades is how many codes are traded at once: whoever makes codes up keeps the issuer no busier.
const maxTrades = 16

// providerFresh is how long what an issuer says of its addresses counts.
const providerFresh = time.Hour

// providerRetry is for how long an issuer that did not answer is left alone: all who come meanwhile
// are told so at once. Who comes while it is being asked waits for the same answer.
const providerRetry = 5 * time.Second

// NewSignIn returns a SignIn. The issuer is asked when somebody comes, not before.
func NewSignIn(c SignInConfig) *SignIn {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport.(*http.Transport)
	}
	client := newClient(c.Transport)
	client.Transport, client.Timeout = bounded{client.Transport}, fetchTimeout
	return &SignIn{SignInConfig: c, client: client, places: make(chan struct{}, maxTrades)}
}

// bounded cuts off what an issuer answers: the library reads to the end.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxKeySetText)
	}
	return answer, err
}

// Flow is what ties the way back from the issuer to the browser that has set out.
type Flow struct {
	State, Nonce string
	Verifier     string // of PKCE
}

// Start returns where to send a browser. Its fault is IssuerUnavailable.
func (s *SignIn) Start(ctx context.Context, f Flow) (address string, err error) {
	provider, err := s.ask(ctx)
	if err != nil {
		return "", err
	}
	return s.oauth(provider).AuthCodeURL(f.State, gooidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), nil
}

func (s *SignIn) oauth(p *gooidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: s.ClientID, ClientSecret: s.ClientSecret, Endpoint: p.Endpoint(), RedirectURL: s.RedirectURL,
		Scopes: s.Scopes,
	}
}

// ask returns what the issuer says of itself.
func (s *SignIn) ask(ctx context.Context) (*gooidc.Provider, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Now().Before(s.fresh) {
		return s.provider, s.failed
	}
	// Its keys are fetched with this context later on, so it must not be that of a request.
	provider, err := gooidc.NewProvider(gooidc.ClientContext(context.WithoutCancel(ctx), s.client), s.Issuer)
	if err == nil {
		err = s.checkAddresses(provider)
	}
	if err != nil {
		s.provider, s.failed, s.fresh = nil, unavailable(err), s.Now().Add(providerRetry)
		return nil, s.failed
	}
	s.provider, s.failed, s.fresh = provider, nil, s.Now().Add(providerFresh)
	return provider, nil
}

// checkAddresses refuses to send a code where it could be read on the way, and to have keys from where somebody on the
// way could put their own.
func (s *SignIn) checkAddresses(p *gooidc.Provider) error {
	var found discovery
	own, err := url.Parse(s.Issuer)
	if err := errors.Join(err, p.Claims(&found)); err != nil {
		return err
	}
	for _, address := range []string{p.Endpoint().AuthURL, p.Endpoint().TokenURL, found.KeysURL} {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != own.Scheme {
			return fmt.Errorf("the issuer's configuration has no address of https:// for %q", address)
		}
	}
	return nil
}

func unavailable(err error) error {
	f := fault.Wrap(err, fault.IssuerUnavailable,
		"the issuer that signs people in can't be asked right now; try again, or sign in with a key")
	f.RetryAfter = time.Second
	return f
}

// Identity is what the issuer says of somebody who came back.
type Identity struct{ claims claims }

// Finish trades the code that a browser has come back with for who it is. Faults: TokenRefused,
// IssuerUnavailable, Busy.
func (s *SignIn) Finish(ctx context.Context, f Flow, code string) (Identity, error) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		return Identity{}, fault.New(fault.Busy, "too many are signing in right now; try again")
	}
	provider, err := s.ask(ctx)
	if err != nil {
		return Identity{}, err
	}
	ctx, cancel := context.WithTimeout(gooidc.ClientContext(ctx, s.client), 2*fetchTimeout)
	defer cancel()
	given, err := s.oauth(provider).Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return Identity{}, explainExchange(err)
	}
	raw, ok := given.Extra("id_token").(string)
	if !ok || len(raw) > maxToken {
		return Identity{}, fault.New(fault.TokenRefused, "the issuer has sent no ID token that could be read")
	}
	return s.read(ctx, provider, f, raw)
}

// explainExchange tells an issuer that refuses a code from one that can't be reached.
func explainExchange(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response.StatusCode/100 == 4 {
		return fault.Wrap(err, fault.TokenRefused,
			"the issuer does not accept the code that the browser came back with; sign in again")
	}
	return unavailable(err)
}

// read checks an ID token: who has signed it, for whom and until when it is, and that it was made for
// this flow.
func (s *SignIn) read(ctx context.Context, provider *gooidc.Provider, f Flow, raw string) (Identity, error) {
	var names []string
	for _, a := range algorithms() {
		names = append(names, string(a))
	}
	verified, err := provider.Verifier(&gooidc.Config{ClientID: s.ClientID, SupportedSigningAlgs: names,
		Now: s.Now}).Verify(ctx, raw)
	if err != nil {
		return Identity{}, fault.Wrap(err, fault.TokenRefused, "the issuer's ID token is refused")
	}
	if f.Nonce == "" || subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(f.Nonce)) != 1 {
		return Identity{}, fault.New(fault.TokenRefused, "the issuer's ID token was made for another sign-in")
	}
	var c claims
	var party struct {
		Authorized string `json:"azp"`
	}
	if err := errors.Join(verified.Claims(&c.registered), verified.Claims(&c.all), verified.Claims(&party)); err != nil {
		return Identity{}, fault.Wrap(err, fault.TokenRefused, "the claims of the issuer's ID token can't be read")
	}
	if len(verified.Audience) > 1 && party.Authorized != s.ClientID {
		return Identity{}, fault.New(fault.TokenRefused,
			"the issuer's ID token is for several clients, and was made for another one")
	}
	return Identity{c}, nil
}

// Match returns the rule of a keyring that somebody is let in by, of the organization that they
// named, or of any. Its fault is TokenRefused.
func (s *SignIn) Match(rules *keyring.Keyring, org uuid.UUID, who Identity) (keyring.Token, error) {
	logins, err := loginsFor(rules, org, token{issuer: s.Issuer, audience: []string{s.ClientID}})
	if err != nil {
		return keyring.Token{}, refuse(err)
	}
	login, err := choose(logins, who.claims)
	if err != nil {
		return keyring.Token{}, err
	}
	if err := who.claims.check(s.Now(), login.Rule); err != nil {
		return keyring.Token{}, refuse(err)
	}
	return keyring.Token{TokenLogin: login, Subject: who.claims.registered.Subject,
		Expires: who.claims.expires(login.Rule)}, nil
}
