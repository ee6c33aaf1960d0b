package handlers_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/auth/verify"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
)

// slowBody arrives in two halves, between which something happens.
type slowBody struct {
	first, second io.Reader
	between       func()
}

func (b *slowBody) Read(p []byte) (int, error) {
	n, err := b.first.Read(p)
	if err != io.EOF {
		return n, err
	}
	if b.between != nil {
		b.between()
		b.between = nil
	}
	return b.second.Read(p)
}

func arriving(body string, between func()) io.Reader {
	half := len(body) / 2
	return &slowBody{strings.NewReader(body[:half]), strings.NewReader(body[half:]), between}
}

// anyToken takes each token that has a rule of Acme's for one of the job.
type anyToken struct{}

func (anyToken) VerifyToken(_ context.Context, rules *keyring.Keyring, _ auth.Credentials) (keyring.Token, error) {
	for _, login := range rules.Tokens("https://issuer.example", "holdfast") {
		return keyring.Token{TokenLogin: login, Subject: "job", Expires: tokenEnd}, nil
	}
	return keyring.Token{}, fault.New(fault.TokenRefused, "no rule is about it")
}

var (
	tokenStart = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	tokenEnd   = tokenStart.Add(time.Hour)
)

// door is a router with a real verifier, whose clock and auth.cfg tests turn.
type door struct {
	http.Handler
	verifier *verify.Verifier
	now      atomic.Pointer[time.Time]
	hash     string // of acmeKey
	quick    map[string]string
}

func newDoor(t *testing.T) *door {
	d := &door{}
	d.now.Store(&tokenStart)
	deps := testDeps(t)
	d.hash = hashed(acmeKey, authFileCost)
	d.quick = map[string]string{d.hash: hashed(acmeKey, bcrypt.MinCost)}
	var err error
	d.verifier, err = verify.New(verify.Config{Logger: deps.Log, Now: func() time.Time { return *d.now.Load() },
		Tokens: anyToken{}, FailuresPerMinute: 1})
	if err != nil {
		t.Fatal(err)
	}
	deps.Verifier = d.verifier
	if d.Handler, err = handlers.NewRouter(deps); err != nil {
		t.Fatal(err)
	}
	return d
}

// use puts an auth.cfg in force: Acme with these sections.
func (d *door) use(t *testing.T, sections ...string) {
	t.Helper()
	text := "[" + acme.String() + "]\nname = Acme\n"
	for _, section := range sections {
		name, settings, _ := strings.Cut(section, ": ")
		text += "[" + acme.String() + "." + name + "]\n" + strings.ReplaceAll(settings, ", ", "\n") + "\n"
	}
	parsed, err := authfile.Parse("auth.cfg", text)
	if err != nil {
		t.Fatal(err)
	}
	d.verifier.Use(quick(parsed.Keyring(), d.quick))
}

func (d *door) key(rest string) string { return "ci: apikey = " + d.hash + ", " + rest }

const tokenRule = "oidc.ci: issuer = https://issuer.example, audience = holdfast, claims.sub = *, role = owner"

// Vulnerability: credentials count when a request begins, and its body may take hours, so
// that somebody writes long after they were taken back.
// Check: they are looked at again when the body is there, whatever they are and wherever
// it goes; what stays good, stays good.
func TestCredentialsTakenBackWhileTheBodyArrives(t *testing.T) {
	d := newDoor(t)
	token := "eyJhbGciOiJFUzI1NiJ9." + strings.Repeat("x", 60) + ".c2ln"
	shown := &x509.Certificate{DNSNames: []string{"ci.example"}, NotAfter: tokenEnd}
	byKey := func(r *http.Request) { r.SetBasicAuth(acme.String(), acmeKey) }
	byToken := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	byCertificate := func(r *http.Request) {
		r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{shown}}}
	}
	owner, certRule := d.key("role = owner"), "cert.ci: san = dns:ci.example, role = owner"
	later := func(t *testing.T) { end := tokenEnd; d.now.Store(&end) }
	inForce := func(sections ...string) func(*testing.T) {
		return func(t *testing.T) { d.use(t, sections...) }
	}
	for name, test := range map[string]struct {
		prove     func(*http.Request)
		rules     string
		meanwhile func(*testing.T)
		status    int
		code      string
	}{
		"nothing happens":        {byKey, owner, func(*testing.T) {}, 200, ""},
		"another key is revoked": {byKey, owner, inForce(owner, tokenRule), 200, ""},
		"the key is revoked":     {byKey, owner, inForce(), 401, "credentials_revoked"},
		"the key ends": {byKey, d.key("role = owner, expires = 2026-05-01T13:00:00Z"), later, 401,
			"key_expired"},
		"the key is made a reader's": {byKey, owner, inForce(d.key("role = reader")), 403, "right_missing"},
		"the key loses the state": {byKey, owner, inForce(d.key("role = owner, states = other/*")), 403,
			"right_missing"},
		"the key is bound elsewhere": {byKey, owner, inForce(d.key("role = owner, from = 203.0.113.0/24")), 403,
			"address_refused"},
		"nothing happens to the token": {byToken, tokenRule, inForce(tokenRule, owner), 200, ""},
		"the token ends":               {byToken, tokenRule, later, 401, "key_expired"},
		"the token's rule goes":        {byToken, tokenRule, inForce(owner), 401, "credentials_revoked"},
		"nothing happens to the rule":  {byCertificate, certRule, inForce(certRule, owner), 200, ""},
		"the certificate ends":         {byCertificate, certRule, later, 401, "key_expired"},
		"the certificate's rule goes":  {byCertificate, certRule, inForce(owner), 401, "credentials_revoked"},
	} {
		t.Run(name, func(t *testing.T) {
			for i, to := range []struct {
				request, body string
				good          int // status
			}{
				{"POST /api/v1/state/%s", body(1), 200},
				{"PUT /terraform/state/e/%s", body(1), 200},
				{"POST /api/v1/state/%s/candidates", body(1), 201},
				{"LOCK /api/v1/state/%s", infoA, 200},
				{"POST /api/v1/upload?%s", oneUpload("a"), 200},
			} {
				if strings.Contains(to.request, "upload") && name == "the key loses the state" {
					continue // states narrow the rights on states only
				}
				d.now.Store(&tokenStart)
				d.use(t, test.rules)
				method, path, _ := strings.Cut(fmt.Sprintf(to.request, fmt.Sprintf("%x-%d", name, i)), " ")
				r, got := httptest.NewRequest(method, path, arriving(to.body, func() { test.meanwhile(t) })), httptest.NewRecorder()
				test.prove(r)
				d.ServeHTTP(got, r)
				if test.code == "" && got.Code != to.good || test.code != "" &&
					(got.Code != test.status || !strings.Contains(got.Body.String(), test.code)) {
					t.Errorf("%s: %d %s; want %d %s", to.request, got.Code, got.Body, test.status, test.code)
				}
			}
		})
	}
}

// Whoever had a good key was not guessing: however often it happens, a newcomer at its
// address is looked at.
func TestTakenBackIsNoGuess(t *testing.T) {
	d := newDoor(t)
	send := func(key string, between func()) *httptest.ResponseRecorder {
		r, got := httptest.NewRequest("POST", "/api/v1/state/x", arriving(body(1), between)), httptest.NewRecorder()
		r.SetBasicAuth(acme.String(), key)
		d.ServeHTTP(got, r)
		return got
	}
	for range 5 {
		d.use(t, d.key("role = owner"))
		if got := send(acmeKey, func() { d.use(t) }); got.Code != http.StatusUnauthorized ||
			got.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	}
	d.use(t, d.key("role = owner"))
	if got := send("wrong", nil); got.Code != http.StatusUnauthorized {
		t.Errorf("the first wrong key: %d %s", got.Code, got.Body)
	}
}
