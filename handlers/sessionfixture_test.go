package handlers_test

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	keyedits "github.com/holdfast/holdfast/auth/keys"
	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlsessions"
)

// SignIn implements session.Verifier.
func (k keys) SignIn(ctx context.Context, given auth.Credentials,
	client auth.Client) (auth.Principal, auth.Login, error) {
	p, err := k.Verify(ctx, given, client)
	return p, auth.Login{Org: p.Org, KeyID: p.KeyID, Subject: p.Subject}, err
}

// SignInBy implements session.Verifier.
func (k keys) SignInBy(context.Context, uuid.UUID,
	func(*keyring.Keyring) (keyring.Token, error), auth.Client) (auth.Principal, auth.Login, error) {
	return auth.Principal{}, auth.Login{}, fault.New(fault.TokenRefused, "there are no rules")
}

// VerifyLogin implements session.Verifier.
func (k keys) VerifyLogin(_ context.Context, login auth.Login, client auth.Client) (auth.Principal, error) {
	for _, p := range k {
		if p.Org == login.Org && p.KeyID == login.KeyID {
			p.Address, p.Request = client.Address, client.Request
			return p, nil
		}
	}
	return auth.Principal{}, fault.New(fault.CredentialsRevoked, "the key is gone")
}

// testSessions are kept in memory.
func testSessions(db *sqldb.DB, record audit.Recorder, verifier session.Verifier,
	now func() time.Time) *middleware.Sessions {
	return &middleware.Sessions{Service: session.NewService(session.Deps{
		Store: sqlsessions.New(db), Verifier: verifier, Signer: session.NewSigner([session.SecretLength]byte{1}),
		Audit:  record,
		Limits: session.Limits{Idle: time.Hour, Absolute: 8 * time.Hour, PerHolder: 5}, Now: now,
		Log: slog.New(slog.DiscardHandler),
	})}
}

// testHash is of no key that anybody has.
const testHash = "$2a$10$abcdefghijklmnopqrstuuNZx6Zl1YkIiJwSvyyGnVe8G8n4Tn6yO"

// memoryAuth is an auth file that is in memory.
type memoryAuth struct{ text string }

func (m *memoryAuth) edit(_ context.Context, change func(*authfile.Document) error) error {
	doc, err := authfile.Parse("auth.cfg", m.text)
	if err != nil {
		return err
	}
	if err := change(doc); err != nil {
		return err
	}
	m.text = doc.String()
	return nil
}

func (m *memoryAuth) ring() *keyring.Keyring { return m.document().Keyring() }

func (m *memoryAuth) settings(org uuid.UUID) (authfile.Settings, bool) {
	o, ok := m.document().Find(org)
	return o.Settings(), ok
}

func (m *memoryAuth) document() *authfile.Document {
	doc, err := authfile.Parse("auth.cfg", m.text)
	if err != nil {
		panic(err)
	}
	return doc
}

// wireAuth has one key of acme's, a rule, and a section of states.
const wireAuth = `[11111111-2222-3333-4444-555555555555]
name = Acme
apikey = ` + testHash + ` ; 2026-11-22 first
keep_versions = 100
alias = 77:shop
notify_url = https://hooks.example.com/holdfast
notify_events = default, state.write
decision_url = https://hooks.example.com/decide

[11111111-2222-3333-4444-555555555555.oidc.ci]
issuer = https://issuer.example.com
audience = x
claims.sub = *
role = writer
states = prod/*
from = 192.0.2.0/24

[11111111-2222-3333-4444-555555555555.states.production]
states = prod/**
guards = hold
`

// testKeyEdits edits the keys of an auth file in memory.
func testKeyEdits(record audit.Recorder) *keyedits.Service {
	file := &memoryAuth{wireAuth}
	return keyedits.NewService(keyedits.Deps{
		Edit: file.edit, Take: func(context.Context) error { return nil }, InForce: file.ring, Said: file.settings,
		Gate: audit.NewGate(record, time.Now), Audit: record, Now: time.Now,
	})
}

// wireKey is the ID of the one key.
func wireKey() string { return (&memoryAuth{wireAuth}).ring().Organizations[acme].Keys[0].ID }

// wireSettings is the version of its settings.
func wireSettings() string {
	said, _ := (&memoryAuth{wireAuth}).settings(acme)
	return said.Version
}
