package session_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlsessions"
)

var acme = uuid.MustParse("11111111-2222-3333-4444-555555555555")

// everybody lets everybody in who names a key.
type everybody struct{ refusal error }

func (e everybody) SignIn(_ context.Context, given auth.Credentials,
	_ auth.Client) (auth.Principal, auth.Login, error) {
	return auth.Principal{Org: acme, KeyID: given.Key}, auth.Login{Org: acme, KeyID: given.Key}, e.refusal
}

func (e everybody) SignInBy(context.Context, uuid.UUID,
	func(*keyring.Keyring) (keyring.Token, error), auth.Client) (auth.Principal, auth.Login, error) {
	return auth.Principal{}, auth.Login{}, errors.New("not asked")
}

func (e everybody) VerifyLogin(_ context.Context, login auth.Login, _ auth.Client) (auth.Principal, error) {
	return auth.Principal{Org: login.Org, KeyID: login.KeyID}, e.refusal
}

// journal keeps events, or fails to.
type journal struct {
	events []audit.Event
	err    error
}

func (j *journal) Record(_ context.Context, e audit.Event) error {
	if j.err == nil {
		j.events = append(j.events, e)
	}
	return j.err
}

type rig struct {
	*session.Service
	store session.Store
	log   *journal
	clock time.Time
}

func newRig(t *testing.T, spoil func(session.Store) session.Store) *rig {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := &rig{store: sqlsessions.New(db), log: &journal{}, clock: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	r.Service = session.NewService(session.Deps{
		Store: spoil(r.store), Verifier: everybody{}, Signer: session.NewSigner([session.SecretLength]byte{7}), Audit: r.log,
		Limits: session.Limits{Idle: time.Hour, Absolute: 8 * time.Hour, PerHolder: 5},
		Now:    func() time.Time { return r.clock }, Log: slog.New(slog.DiscardHandler),
	})
	return r
}

func asIs(s session.Store) session.Store { return s }

func (r *rig) begin(t *testing.T, key string) (session.Session, string) {
	t.Helper()
	p, login, err := r.Prove(t.Context(), auth.Credentials{Key: key}, auth.Client{})
	if err != nil {
		t.Fatal(err)
	}
	begun, token, err := r.Begin(t.Context(), p, login, session.Client{Agent: "a\x00b" + strings.Repeat("é", 300)})
	if err != nil {
		t.Fatal(err)
	}
	return begun, token
}

// However often somebody signs in, so many sessions are kept and no more; the newest work.
func TestTenThousandSignIns(t *testing.T) {
	suite.Deep(t)
	r := newRig(t, asIs)
	var tokens []string
	for range 10_000 {
		r.clock = r.clock.Add(time.Millisecond)
		_, token := r.begin(t, "k")
		tokens = append(tokens, token)
	}
	all, err := r.store.Sessions(t.Context(), session.Holder{Org: acme, KeyID: "k"})
	if err != nil || len(all) != 5 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	for i, token := range tokens[len(tokens)-6:] {
		if _, _, err := r.Verify(t.Context(), token, auth.Client{}); (err == nil) != (i > 0) {
			t.Errorf("session %d: %v", i, err)
		}
	}
}

// A session is written down now and then, and not with each request; a store that takes nothing, as
// on a full disk, keeps nobody out who is signed in.
func TestTouchesAreFew(t *testing.T) {
	var touches int
	r := newRig(t, func(s session.Store) session.Store { return touching{s, &touches} })
	_, token := r.begin(t, "k")
	for range 600 { // ten minutes
		r.clock = r.clock.Add(time.Second)
		if _, _, err := r.Verify(t.Context(), token, auth.Client{}); err != nil {
			t.Fatal(err)
		}
	}
	if touches != 10 {
		t.Errorf("%d touches in ten minutes", touches)
	}
}

// A stream that goes on looks again and again, and keeps nobody signed in.
func TestLooksAreNoUse(t *testing.T) {
	r := newRig(t, asIs)
	_, token := r.begin(t, "k")
	for range 3 {
		r.clock = r.clock.Add(20*time.Minute - time.Second)
		if _, _, err := r.Look(t.Context(), token, auth.Client{}); err != nil {
			t.Fatal(err)
		}
	}
	r.clock = r.clock.Add(3 * time.Second)
	if _, _, err := r.Look(t.Context(), token, auth.Client{}); !fault.Is(err, fault.SessionOver) {
		t.Errorf("an hour without a request: %v", err)
	}
}

// touching fails every other time.
type touching struct {
	session.Store
	n *int
}

func (s touching) Touch(ctx context.Context, org uuid.UUID, h session.Hash, at time.Time) error {
	*s.n++
	if err := s.Store.Touch(ctx, org, h, at); err != nil {
		return err
	}
	if *s.n%2 == 0 {
		return fault.New(fault.StoreFull, "the store has no space left")
	}
	return nil
}

// A session of which there would be no record does not begin.
func TestNoSessionWithoutRecord(t *testing.T) {
	r := newRig(t, asIs)
	r.log.err = fault.New(fault.StoreFull, "the store has no space left")
	p, login, _ := r.Prove(t.Context(), auth.Credentials{Key: "k"}, auth.Client{})
	if _, token, err := r.Begin(t.Context(), p, login, session.Client{}); !fault.Is(err, fault.StoreFull) || token != "" {
		t.Errorf("%q, %v", token, err)
	}
	if all, _ := r.store.Sessions(t.Context(), session.Holder{Org: acme, KeyID: "k"}); len(all) != 0 {
		t.Errorf("%d sessions", len(all))
	}
}

// Tokens that no server has made are refused without asking the store.
func TestTokensThatAreMadeUpAskNothing(t *testing.T) {
	r := newRig(t, func(session.Store) session.Store { return nil }) // would panic
	other := newRig(t, asIs)
	other.Service.Deps.Signer = session.NewSigner([session.SecretLength]byte{8})
	_, foreign := other.begin(t, "k")
	for _, token := range []string{"", "hfs_", "hfs_" + strings.Repeat("A", 107), foreign, foreign + "=",
		strings.ToUpper(foreign)} {
		if _, _, err := r.Verify(t.Context(), token, auth.Client{}); !fault.Is(err, fault.SessionOver) {
			t.Errorf("%q: %v", token, err)
		}
	}
}

// A store that can't be asked is no end of a session: nobody is told to sign in again for it.
func TestStoreThatIsAway(t *testing.T) {
	r := newRig(t, func(s session.Store) session.Store { return away{s} })
	_, token := r.begin(t, "k")
	if _, _, err := r.Verify(t.Context(), token, auth.Client{}); !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("%v", err)
	}
}

type away struct{ session.Store }

func (away) Session(context.Context, uuid.UUID, session.Hash) (session.Session, bool, error) {
	return session.Session{}, false, fault.New(fault.StoreUnavailable, "away")
}

func TestSweep(t *testing.T) {
	r := newRig(t, asIs)
	r.begin(t, "idle")
	r.clock = r.clock.Add(50 * time.Minute)
	r.begin(t, "going")
	r.clock = r.clock.Add(11 * time.Minute)
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]int{"idle": 0, "going": 1} {
		if all, err := r.store.Sessions(t.Context(), session.Holder{Org: acme, KeyID: key}); err != nil || len(all) != want {
			t.Errorf("%s: %d sessions, %v", key, len(all), err)
		}
	}
}

// What is kept of a browser's own words is short, and can be shown.
func TestAgentsAreCut(t *testing.T) {
	r := newRig(t, asIs)
	begun, _ := r.begin(t, "k")
	if len(begun.Agent) > session.MaxAgent || !strings.HasPrefix(begun.Agent, "a?b") ||
		strings.ContainsFunc(begun.Agent, func(c rune) bool { return c < ' ' || c > '~' }) {
		t.Errorf("%q", begun.Agent)
	}
}

func TestFlows(t *testing.T) {
	signer, other := session.NewSigner([session.SecretLength]byte{1}), session.NewSigner([session.SecretLength]byte{2})
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	f := session.NewFlow(acme, "/ui/x", now)
	sealed, err := signer.Seal(f)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := signer.Open(sealed, now.Add(9*time.Minute)); !ok || got != f || !got.Answers(f.State) ||
		got.Answers("") || got.Answers(f.Nonce) {
		t.Errorf("%t %+v", ok, got)
	}
	if _, ok := signer.Open(sealed, now.Add(10*time.Minute)); ok {
		t.Error("it is good for too long")
	}
	if _, ok := other.Open(sealed, now); ok {
		t.Error("another server takes it")
	}
	for _, text := range []string{"", "x", sealed[1:], sealed + "A", strings.Repeat("A", 4000)} {
		if _, ok := signer.Open(text, now); ok {
			t.Errorf("%q is a flow", text)
		}
	}
	if (session.Flow{}).Answers("") {
		t.Error("no state is answered by none")
	}
}
