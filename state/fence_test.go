package state_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// applies is a run that applies x.
func (b *bench) applies(run string, epoch int64) auth.Principal {
	return auth.Principal{Org: b.owner.Org, KeyID: auth.RunKeyID(run),
		Run: &auth.RunGrant{ID: run, Epoch: epoch, Stage: auth.RunApply, State: "x"}}
}

func (b *bench) ref() state.Ref { return state.Ref{Org: b.owner.Org, Name: "x"} }

func (b *bench) fence(run string, epoch int64, open bool) error {
	_, err := b.Fence(b.t.Context(), b.ref(), state.Fence{Run: run, Epoch: epoch, Open: open})
	return err
}

// putAs writes as a run, under the lock of that ID.
func (b *bench) putAs(p auth.Principal, serial int, lockID string) error {
	_, err := b.Put(b.t.Context(), p, "x", state.Write{Body: []byte(numbered(serial)), LockID: lockID})
	return err
}

func (b *bench) candidates() []state.Candidate {
	b.t.Helper()
	found, _, err := b.Candidates(b.t.Context(), b.owner, "x", "", 99)
	b.must(err)
	return found
}

// Which fence takes the place of which.
func TestFencesThatFollow(t *testing.T) {
	at := func(run string, epoch int64, open bool) state.Fence {
		return state.Fence{Run: run, Epoch: epoch, Open: open}
	}
	held := at("a", 3, true)
	for name, test := range map[string]struct {
		next state.Fence
		want state.Fence
		code fault.Code
	}{
		"the same":                      {held, held, ""},
		"closed":                        {at("a", 3, false), at("a", 3, false), ""},
		"a newer epoch":                 {at("a", 4, true), at("a", 4, true), ""},
		"a newer epoch, closed":         {at("a", 4, false), at("a", 4, false), ""},
		"an older epoch":                {at("a", 2, true), held, fault.RunFenced},
		"an older epoch, closed":        {at("a", 2, false), held, fault.RunFenced},
		"another run":                   {at("b", 1, true), at("b", 1, true), ""},
		"another run, closing too late": {at("b", 9, false), held, ""},
	} {
		b := newBench(t, func(*state.Policy) {})
		b.must(b.fence("a", 3, true))
		head, err := b.Fence(t.Context(), b.ref(), test.next)
		if test.code == "" && (err != nil || head.Fence != test.want) || test.code != "" && !fault.Is(err, test.code) {
			t.Errorf("%s: %+v, %v", name, head.Fence, err)
		}
		if head, err := b.store.Head(t.Context(), b.ref()); err != nil || head.Fence != test.want {
			t.Errorf("%s: then %+v, %v; want %+v", name, head.Fence, err, test.want)
		}
	}
	b := newBench(t, func(*state.Policy) {})
	_, err := b.Fence(t.Context(), state.Ref{Org: b.owner.Org, Name: "../x"}, held)
	b.refuses(fault.NameInvalid, err)
}

// An executor that comes back after it was taken for lost finds the way open when nothing was
// fenced meanwhile, and closed for good once another one has its place.
func TestFenceOfALostExecutor(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	first, second := b.applies("r", 1), b.applies("r", 2)
	b.refuses(fault.RunFenced, b.putAs(first, 1, "")) // nobody has let it
	b.must(b.fence("r", 1, true), b.putAs(first, 2, ""), b.fence("r", 1, false))
	b.refuses(fault.RunFenced, b.putAs(first, 3, ""))
	b.must(b.fence("r", 1, true), b.putAs(first, 4, ""), b.fence("r", 2, true))
	b.refuses(fault.RunFenced, b.putAs(first, 5, ""), b.fence("r", 1, true))
	b.must(b.putAs(second, 6, ""))
	if kept := b.candidates(); len(kept) != 3 {
		t.Errorf("%d candidates of three writes: %+v", len(kept), kept)
	}
	if n := len(b.on(audit.CandidateFence)); n != 3 {
		t.Errorf("%d fenced writes are on record", n)
	}
	if newest, err := b.Get(t.Context(), b.owner, "x"); err != nil || string(newest.Body) != numbered(6) ||
		newest.Author.KeyID != "run.r" {
		t.Errorf("%+v, %v", newest.Version, err)
	}
}

// Only the verdict releases what a lost executor holds, and only that.
func TestReleaseFor(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	p := b.applies("r", 1)
	info := state.LockInfo{ID: "a", Who: "agent", Raw: []byte(`{"ID":"a"}`)}
	release := func(run string) (*state.Lock, error) { return b.ReleaseFor(t.Context(), b.ref(), run, "rebooted") }
	if lock, err := release("r"); lock != nil || err != nil {
		t.Errorf("where there is no state: %+v, %v", lock, err)
	}
	b.must(b.fence("r", 1, true))
	head, err := b.Lock(t.Context(), p, "x", info)
	b.must(err)
	if want := (state.RunRef{ID: "r", Epoch: 1}); head.Lock.Run != want || head.Lock.KeyID != "run.r" {
		t.Errorf("%+v, want %+v", head.Lock, want)
	}
	b.must(b.fence("r", 2, false))
	b.refuses(fault.RunFenced, b.Unlock(t.Context(), p, "x", info))
	for _, other := range []string{"q", ""} {
		if lock, err := release(other); lock != nil || err != nil {
			t.Errorf("for %q: %+v, %v", other, lock, err)
		}
	}
	for i := range 2 { // the second is a replay
		lock, err := release("r")
		if err != nil || (lock != nil) != (i == 0) {
			t.Errorf("%+v, %v", lock, err)
		}
	}
	b.refuses(fault.LockIDUsed, b.lock("a", "ada"))
	b.must(b.lock("b", "ada"))
	if lock, err := release("r"); lock != nil || err != nil {
		t.Errorf("a person's lock: %+v, %v", lock, err)
	}
	forced := b.on(audit.LockForce)
	if len(forced) != 1 || forced[0].Actor.KeyID != "holdfast" || forced[0].Reason != "rebooted" ||
		forced[0].LockID != "a" || forced[0].Note != "agent" {
		t.Errorf("on record: %+v", forced)
	}
}

// An executor's lease is a sign of life of the lock that its run holds; nobody else's is.
func TestSeenFor(t *testing.T) {
	b := newBench(t, func(p *state.Policy) { p.LockTTL = time.Hour })
	run := state.RunRef{ID: "r", Epoch: 1}
	seen := func() error { return b.SeenFor(t.Context(), b.ref(), run) }
	b.must(seen(), b.fence("r", 1, true))
	_, err := b.Lock(t.Context(), b.applies("r", 1), "x", state.LockInfo{ID: "a", Raw: []byte(`{"ID":"a"}`)})
	b.must(err)
	for range 3 {
		b.now = b.now.Add(59 * time.Minute)
		b.must(seen())
		b.refuses(fault.LockHeld, b.lock("b", "bob"))
	}
	b.must(b.fence("r", 2, true))
	b.now = b.now.Add(59 * time.Minute)
	b.must(seen()) // not of the run's epoch any more
	b.now = b.now.Add(time.Minute)
	b.must(b.lock("b", "bob"), seen())
	if lock, err := b.Holder(t.Context(), b.owner, "x"); err != nil || !lock.Seen.Equal(lock.Since) ||
		lock.Run != (state.RunRef{}) {
		t.Errorf("a person's lock: %+v, %v", lock, err)
	}
}

// A fenced write whose bytes are the newest version already needs no candidate, unless they
// are lost.
func TestFencedReplay(t *testing.T) {
	for lost, want := range map[bool]int{false: 0, true: 1} {
		b := newBench(t, func(*state.Policy) {})
		if lost {
			b.over(lossy{b.store})
		}
		b.must(b.fence("r", 1, true), b.putAs(b.applies("r", 1), 1, ""), b.fence("r", 2, true))
		for range 2 {
			b.refuses(fault.RunFenced, b.putAs(b.applies("r", 1), 1, ""))
		}
		if kept := b.candidates(); len(kept) != want {
			t.Errorf("lost %v: %+v", lost, kept)
		}
	}
}

// A candidate that was discarded is not the place for the same bytes: they are kept again.
func TestFencedWriteAfterADiscard(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	p := b.applies("r", 1)
	b.refuses(fault.RunFenced, b.putAs(p, 1, ""))
	b.must(b.Discard(t.Context(), b.owner, "x", b.candidates()[0].ID, "a mistake"))
	for range 2 {
		b.refuses(fault.RunFenced, b.putAs(p, 1, ""))
	}
	open := 0
	for _, c := range b.candidates() {
		if c.Status == state.Open {
			open++
		}
	}
	if open != 1 {
		t.Errorf("%d open candidates: %+v", open, b.candidates())
	}
}

// Whoever listens hears of each change of a state, once, with who made it, and of nothing else.
func TestOnMove(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	var heard []string
	b.OnMove(func(ctx context.Context, m state.Moved) {
		if ctx.Err() != nil || m.Ref != b.ref() {
			t.Errorf("%+v, %v", m, ctx.Err())
		}
		heard = append(heard, fmt.Sprintf("%d %v by %s", m.Head.Version.Number, m.Head.Deleted, m.Actor.KeyID))
	})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := b.Put(ctx, b.owner, "x", state.Write{Body: []byte(numbered(1))})
	cancel()
	b.must(err, b.put(numbered(1), ""), b.lock("a", "ada"), b.put(numbered(2), "a"))
	b.must(b.Unlock(t.Context(), b.owner, "x", state.LockInfo{ID: "a"}), b.fence("r", 1, true),
		b.putAs(b.applies("r", 1), 3, ""))
	b.refuses(fault.LockNotHeld, b.put(numbered(4), "a"))
	b.refuses(fault.RunFenced, b.putAs(b.applies("r", 0), 5, ""))
	_, err = b.Rollback(t.Context(), b.owner, "x", 1, "back", "")
	b.must(err)
	_, err = b.Promote(t.Context(), b.owner, "x", b.candidates()[0].ID, state.Decision{Reason: "on", Anyway: true})
	b.must(err, b.Delete(t.Context(), b.owner, "x", ""), b.Delete(t.Context(), b.owner, "x", ""))
	_, err = b.Undelete(t.Context(), b.owner, "x")
	b.must(err)
	want := []string{"1 false by k-1", "2 false by k-1", "3 false by run.r", "4 false by k-1", "5 false by k-1",
		"5 true by k-1", "5 false by k-1"}
	if !slices.Equal(heard, want) {
		t.Errorf("heard\n%s\nwant\n%s", strings.Join(heard, "\n"), strings.Join(want, "\n"))
	}
}

// A plan is applied to the version that it was made of. The tools would not notice everything: a
// first plan has no lineage to compare.
func TestLockOfAStateThatHasMovedOn(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	first := b.applies("r", 1)
	pinned := func(version uint64) auth.Principal {
		p := b.applies("r", 1)
		p.Run.Version = version
		return p
	}
	b.must(b.fence("r", 1, true))
	lock := func(p auth.Principal, id string) error {
		_, err := b.Lock(t.Context(), p, "x", state.LockInfo{ID: id, Who: "agent"})
		return err
	}
	b.must(lock(first, "none"), b.Unlock(t.Context(), first, "x", state.LockInfo{ID: "none"}))
	_, err := b.Put(t.Context(), b.owner, "x", state.Write{Body: []byte(numbered(1))})
	b.must(err)
	b.refuses(fault.RunStale, lock(first, "late"))
	b.must(lock(pinned(1), "a"), lock(pinned(1), "a"), b.putAs(pinned(1), 2, "a"), lock(pinned(1), "a"))
	b.must(b.Unlock(t.Context(), first, "x", state.LockInfo{ID: "a"}), lock(pinned(1), "b")) // behind its own version
}
