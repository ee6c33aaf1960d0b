package state_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/document"
	"github.com/holdfast/holdfast/storage/memory"
)

// ruled gives every state the same policy.
type ruled state.Policy

func (r ruled) Policy(uuid.UUID, string) state.Policy { return state.Policy(r) }

// bench is a service with a clock of its own, and an owner who calls.
type bench struct {
	*state.Service
	t      *testing.T
	store  state.Store
	policy state.Policy
	log    *slog.Logger
	now    time.Time
	owner  auth.Principal
}

func newBench(t *testing.T, change func(*state.Policy)) *bench {
	t.Helper()
	b := &bench{
		t: t, store: memory.New(1 << 24), policy: state.DefaultPolicy(), log: slog.New(slog.DiscardHandler),
		now:   time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		owner: auth.Principal{Org: uuid.New(), KeyID: "k-1", Grant: auth.Grant{Role: auth.Owner}},
	}
	change(&b.policy)
	t.Cleanup(func() { _ = b.store.Close() })
	b.over(b.store)
	return b
}

// over has the service stand over another store, such as one that fails. The bench keeps
// its own.
func (b *bench) over(store state.Store) {
	b.Service = state.NewService(store, ruled(b.policy), func() time.Time { return b.now }, b.log)
}

func (b *bench) put(body, lockID string) error {
	_, err := b.Put(b.t.Context(), b.owner, "x", state.Write{Body: []byte(body), LockID: lockID})
	return err
}

func (b *bench) lock(id, who string) error {
	_, err := b.Lock(b.t.Context(), b.owner, "x", state.LockInfo{ID: id, Who: who, Raw: []byte(`{"ID":"` + id + `"}`)})
	return err
}

// must fails the test on the first error.
func (b *bench) must(errs ...error) {
	b.t.Helper()
	for i, err := range errs {
		if err != nil {
			b.t.Fatalf("step %d: %v", i, err)
		}
	}
}

// refuses checks that each error has the code.
func (b *bench) refuses(code fault.Code, errs ...error) {
	b.t.Helper()
	for i, err := range errs {
		if !fault.Is(err, code) {
			b.t.Errorf("step %d: %v; want %s", i, err, code)
		}
	}
}

// on returns how many events of an action are on record.
func (b *bench) on(action audit.Action) []audit.Event {
	b.t.Helper()
	page, err := b.Events(b.t.Context(), b.owner, audit.Query{Action: action, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	return page.Events
}

// The old holder of a lock that was taken over can never write again, nor get its lock back.
func TestTakeover(t *testing.T) {
	b := newBench(t, func(p *state.Policy) { p.LockTTL = time.Hour })
	b.must(b.lock("a", "ada"), b.put(`{"serial":1}`, "a"))
	b.now = b.now.Add(59 * time.Minute)
	b.refuses(fault.LockHeld, b.lock("b", "bob"))
	b.must(b.put(`{"serial":2}`, "a")) // a sign of life
	b.now = b.now.Add(59 * time.Minute)
	b.refuses(fault.LockHeld, b.lock("b", "bob"))
	b.must(b.lock("a", "ada")) // and so is a replay
	b.now = b.now.Add(time.Hour)
	if holder, err := b.Holder(t.Context(), b.owner, "x"); err != nil || holder == nil || holder.Info.ID != "a" {
		t.Errorf("%+v, %v; want the lock still held: it never vanishes by itself", holder, err)
	}
	b.must(b.lock("b", "bob"), b.lock("b", "bob"))

	late := b.put(`{"serial":3}`, "a")
	if held, ok := errors.AsType[*state.HeldError](late); !ok || !fault.Is(late, fault.LockHeld) || held.Holder.ID != "b" {
		t.Errorf("the old holder's write: %v; want a refusal with the new holder", late)
	}
	b.refuses(fault.LockHeld, b.lock("a", "ada"), b.Delete(t.Context(), b.owner, "x", "a"), b.put(`{"serial":2}`, "a"))
	b.must(b.put(`{"serial":4}`, "b"), b.Unlock(t.Context(), b.owner, "x", state.LockInfo{ID: "b", Who: "bob"}))
	b.refuses(fault.LockIDUsed, b.lock("a", "ada"), b.lock("b", "bob"))
	b.refuses(fault.LockNotHeld, b.put(`{"serial":5}`, "a"), b.put(`{"serial":5}`, "b"))
	if over := b.on(audit.LockTakeOver); len(over) != 1 || over[0].LockID != "a" || over[0].Note != "ada" {
		t.Errorf("on record: %+v; want one takeover of ada's lock", over)
	}
	if took := b.on(audit.LockTake); len(took) != 2 {
		t.Errorf("on record: %+v; want two locks", took)
	}
}

// A takeover is in the server's log, with whose lock it was and without the ID of the lock
// that is held now; what takes over nothing is not.
func TestTakeoverIsLogged(t *testing.T) {
	b := newBench(t, func(p *state.Policy) { p.LockTTL = time.Hour })
	var lines bytes.Buffer
	b.log = slog.New(slog.NewTextHandler(&lines, nil))
	b.over(b.store)
	b.must(b.lock("id-of-a", "ada"), b.lock("id-of-a", "ada"))
	b.refuses(fault.LockHeld, b.lock("id-of-b", "bob"))
	b.now = b.now.Add(time.Hour)
	b.must(b.lock("id-of-b", "bob"), b.lock("id-of-b", "bob"))
	text := lines.String()
	if strings.Count(text, "\n") != 1 || strings.Contains(text, "id-of-b") {
		t.Errorf("the log has\n%s", text)
	}
	for _, want := range []string{"level=WARN", `msg="lock taken over"`, "lock_id=id-of-a", "holder=ada", "key=k-1"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %s:\n%s", want, text)
		}
	}
}

// Without lock_ttl no lock is ever taken over.
func TestLocksDoNotExpire(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.lock("a", "ada"))
	b.now = b.now.AddDate(10, 0, 0)
	b.refuses(fault.LockHeld, b.lock("b", "bob"))
}

// A lock that was forced open, with a reason that is on record, is as good as released.
func TestForcedOpen(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.lock("a", "ada"))
	force := func(id string) (*state.Lock, error) {
		return b.ForceUnlock(t.Context(), b.owner, "x", state.Forcing{LockID: id, Reason: "ada left"})
	}
	_, wrong := force("z")
	b.refuses(fault.LockMismatch, wrong)
	for i := range 2 { // the second is a replay
		released, err := force("a")
		if err != nil || (released != nil) != (i == 0) {
			t.Errorf("%+v, %v", released, err)
		}
	}
	b.refuses(fault.LockNotHeld, b.put(`{"serial":1}`, "a"))
	b.refuses(fault.LockIDUsed, b.lock("a", "ada"))
	if forced := b.on(audit.LockForce); len(forced) != 1 || forced[0].Reason != "ada left" || forced[0].Note != "ada" {
		t.Errorf("on record: %+v", forced)
	}
}

// mute is a store that can't record events.
type mute struct{ state.Store }

func (mute) Record(context.Context, audit.Event) error {
	return fault.New(fault.StoreFull, "no room")
}

// What can't be recorded is not shown: sensitive values only after it is on record who
// asked, and a refusal for want of a right stays one.
func TestNothingUnrecordedIsShown(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(`{"version":4,"serial":1,"lineage":"L","outputs":{"p":{"value":"s3same","type":"string","sensitive":true}},"resources":[]}`, ""))
	silent := state.NewService(mute{b.store}, state.DefaultPolicies{}, time.Now, slog.New(slog.DiscardHandler))
	_, open := silent.Diff(t.Context(), b.owner, "x", state.DiffQuery{Number: 1})
	b.must(open)
	_, diff := silent.Diff(t.Context(), b.owner, "x",
		state.DiffQuery{Number: 1, DiffOptions: state.DiffOptions{Sensitive: true}})
	none := func(io.Writer, []document.Output) error { t.Error("it is shown"); return nil }
	_, outputs := silent.Outputs(t.Context(), b.owner, "x", state.OutputsQuery{Sensitive: true}, none)
	_, one := silent.Outputs(t.Context(), b.owner, "x", state.OutputsQuery{Key: "p"}, none)
	b.refuses(fault.StoreFull, diff, outputs, one)
	nobody := b.owner
	nobody.Role = auth.Uploader
	if _, err := silent.Get(t.Context(), nobody, "x"); !fault.Is(err, fault.RightMissing) {
		t.Errorf("without the right: %v", err)
	}
}
