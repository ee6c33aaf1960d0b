package oidc_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/logctx/logtest"
	"github.com/holdfast/holdfast/oidc"
	"github.com/holdfast/holdfast/oidc/oidctest"
)

var (
	acme  = uuid.MustParse("11111111-2222-3333-4444-555555555555")
	other = uuid.MustParse("aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee")
)

const audience = "https://state.example.com"

// rules is an auth.cfg in which Acme takes the tokens of two repositories; %s is the issuer.
const rules = `[11111111-2222-3333-4444-555555555555]
name = Acme

[11111111-2222-3333-4444-555555555555.oidc.github]
issuer = %[1]s
audience = https://state.example.com
claims.repository = acme/inf*
claims.ref = refs/heads/main
role = writer
states = prod/*

[11111111-2222-3333-4444-555555555555.oidc.readers]
issuer = %[1]s
audience = https://state.example.com
claims.repository = acme/docs
role = reader

[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]
name = Other
`

func ring(t testing.TB, text string) *keyring.Keyring {
	t.Helper()
	doc, err := authfile.Parse("auth.cfg", text)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Keyring()
}

// rig is a verifier with an issuer and a clock of its own.
type rig struct {
	*oidc.Verifier
	issuer *oidctest.Issuer
	key    oidctest.Key
	rules  *keyring.Keyring
	clock  atomic.Int64 // seconds
	log    logtest.Journal
}

func newRig(t testing.TB) *rig {
	t.Helper()
	issuer := oidctest.New(t)
	r := &rig{issuer: issuer, key: issuer.Add(t, "first", jose.ES256), rules: ring(t, fmt.Sprintf(rules, issuer.URL))}
	r.clock.Store(1_800_000_000)
	r.Verifier = r.verifier(t, nil)
	return r
}

func (r *rig) verifier(t testing.TB, transport *http.Transport) *oidc.Verifier {
	t.Helper()
	v, err := oidc.NewVerifier(oidc.Config{Logger: slog.New(slog.NewTextHandler(&r.log, nil)), Now: r.now,
		Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

func (r *rig) now() time.Time { return time.Unix(r.clock.Load(), 0) }

func (r *rig) pass(d time.Duration) { r.clock.Add(int64(d / time.Second)) }

// claims are those of a good token.
func (r *rig) claims() oidctest.Claims { return r.issuer.Claims(audience, r.now()) }

// login is a call of Acme's.
func (r *rig) login(token string) (keyring.Token, error) { return r.loginTo(acme, token) }

func (r *rig) loginTo(org uuid.UUID, token string) (keyring.Token, error) {
	return r.VerifyToken(context.Background(), r.rules, auth.Credentials{Org: org, Key: token})
}

func (r *rig) mustPass(t *testing.T, token string) {
	t.Helper()
	if _, err := r.login(token); err != nil {
		t.Fatalf("refused: %v", err)
	}
}

func (r *rig) mustFail(t *testing.T, token string, code fault.Code, message string) {
	t.Helper()
	p, err := r.login(token)
	wantFault(t, err, code, message)
	if p.Org != nil || p.Subject != "" {
		t.Errorf("refused, yet with %+v", p)
	}
}

func wantFault(t *testing.T, err error, code fault.Code, message string) {
	t.Helper()
	if f := fault.From(err); err == nil || f.Code != code || !strings.Contains(f.Message, message) {
		t.Errorf("error %v, want %s: …%s…", err, code, message)
	}
}
