package state_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

func (b *bench) destroy(number uint64, copies bool) state.Purged {
	b.t.Helper()
	purged, err := b.Destroy(b.t.Context(), b.owner, "x", state.Purging{Number: number, Reason: "a leak", Copies: copies})
	b.must(err)
	return purged
}

// What was purged does not come back by a client that sends it again: under no policy, as no
// version, and as no candidate.
func TestPurgedBytesDoNotComeBack(t *testing.T) {
	for name, policy := range map[string]func(*state.Policy){
		"by default":   func(*state.Policy) {},
		"guards hold":  holding,
		"require_lock": func(p *state.Policy) { p.RequireLock = true },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, policy)
			b.must(b.lock("a", "ada"), b.put(numbered(1), "a"), b.put(numbered(2), "a"))
			b.destroy(2, false)
			b.refuses(fault.BytesPurged, b.put(numbered(2), "a"))
			b.must(b.put(numbered(3), "a"))
			b.refuses(fault.BytesPurged, b.put(numbered(2), "a"))
			_, err := b.AddCandidate(t.Context(), b.owner, "x", []byte(numbered(2)), "")
			b.refuses(fault.BytesPurged, err)
			if body, n := b.newest(); body != numbered(3) || n != 3 {
				t.Errorf("version %d, %q", n, body)
			}
		})
	}
}

// A replay of a purged newest version is an ordinary write to the rules of locks.
func TestReplayOfPurgedTakesTheRules(t *testing.T) {
	b := newBench(t, func(p *state.Policy) { p.RequireLock = true })
	b.must(b.lock("a", "ada"), b.put(numbered(1), "a"))
	b.destroy(1, false)
	b.refuses(fault.LockHeld, b.put(numbered(1), ""))
	b.must(b.Unlock(t.Context(), b.owner, "x", state.LockInfo{ID: "a"}))
	b.refuses(fault.LockRequired, b.put(numbered(1), ""))
	b.refuses(fault.LockNotHeld, b.put(numbered(1), "a"))
}

// An owner who asks gets them back, through the same guards; nobody else does.
func TestPurgedBytesAreRestoredWhenAskedFor(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(numbered(1), ""))
	b.destroy(1, false)
	writer := b.owner
	writer.Role = auth.Writer
	write := state.Write{Body: []byte(numbered(1)), RestorePurged: true}
	_, err := b.Put(t.Context(), writer, "x", write)
	b.refuses(fault.RightMissing, err)
	for range 2 { // the second is a replay
		v, err := b.Put(t.Context(), b.owner, "x", write)
		if err != nil || v.Number != 2 || v.Purged {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	b.must(b.put(numbered(1), "")) // which is there now
	if on := b.on(audit.StateWrite); on[0].Note != "restore_purged" {
		t.Errorf("on record: %+v", on[0])
	}
	b.must(b.put(numbered(2), ""))
	b.refuses(fault.BytesPurged, b.put(numbered(1), ""))

	b.policy.Guards = state.GuardsHold
	b.over(b.store)
	_, err = b.Put(t.Context(), b.owner, "x", write)
	b.refuses(fault.WriteHeld, err) // its serial goes back
	held, _, err := b.Candidates(t.Context(), b.owner, "x", "", 9)
	b.must(err)
	promote := func(p auth.Principal, restore bool) error {
		_, err := b.Promote(t.Context(), p, "x", held[0].ID, state.Decision{Reason: "meant", RestorePurged: restore})
		return err
	}
	b.refuses(fault.BytesPurged, promote(b.owner, false))
	b.refuses(fault.RightMissing, promote(writer, true))
	b.must(promote(b.owner, true))
}

// corrupt can't read the state's newest version, up to this one. Another write may come just
// before it says so.
type corrupt struct {
	state.Store
	upTo   uint64
	before func()
}

func (s *corrupt) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	got, err := s.Store.Current(ctx, ref)
	if err != nil || got.Number > s.upTo {
		return got, err
	}
	if before := s.before; before != nil {
		s.before = nil
		before()
	}
	return state.Snapshot{}, fault.New(fault.StateCorrupt, "lost")
}

// A replay makes up for bytes that are lost, also for those that were purged once and asked
// for since, and whoever may have held the lock.
func TestReplayRestoresLostBytesUnderAnyPolicy(t *testing.T) {
	b := newBench(t, func(p *state.Policy) { p.Guards, p.RequireLock = state.GuardsHold, true })
	b.must(b.lock("a", "ada"), b.put(numbered(1), "a"))
	b.destroy(1, false)
	_, err := b.Put(t.Context(), b.owner, "x",
		state.Write{Body: []byte(numbered(1)), LockID: "a", RestorePurged: true, Release: true})
	b.must(err)
	b.over(&corrupt{Store: b.store, upTo: 2})
	v, err := b.Put(t.Context(), b.owner, "x", state.Write{Body: []byte(numbered(1)), LockID: "a", Release: true})
	if err != nil || v.Number != 3 {
		t.Errorf("%+v, %v; want version 3", v, err)
	}
	if body, n := b.newest(); body != numbered(1) || n != 3 {
		t.Errorf("version %d, %q", n, body)
	}
}

// While a replay finds out that its bytes are lost, somebody else writes: then it is a write
// like any other, which guards look at and the lock is for.
func TestLostReplayDecidesAnew(t *testing.T) {
	for name, c := range map[string]struct {
		policy func(*state.Policy)
		want   fault.Code
	}{
		"guards hold":  {holding, fault.WriteHeld},
		"require_lock": {func(p *state.Policy) { p.RequireLock = true }, fault.LockRequired},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.policy)
			b.must(b.lock("a", "ada"), b.put(numbered(1), "a"), b.Unlock(t.Context(), b.owner, "x", state.LockInfo{ID: "a"}))
			other := *b
			b.over(&corrupt{Store: b.store, upTo: 1, before: func() {
				other.must(other.lock("b", "bob"), other.put(numbered(2), "b"),
					other.Unlock(t.Context(), b.owner, "x", state.LockInfo{ID: "b"}))
			}})
			b.refuses(c.want, b.put(numbered(1), ""))
			if body, n := b.newest(); body != numbered(2) || n != 2 {
				t.Errorf("version %d, %q; want the other's write", n, body)
			}
		})
	}
}

// A purge says in which other versions the same bytes still are, and destroys them there too
// when it is asked to. To ask again has the same answer.
func TestPurgeNamesCopies(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	for _, serial := range []int{1, 2, 1, 3, 1} {
		b.must(b.put(numbered(serial), ""))
	}
	for range 2 {
		if got := b.destroy(3, false); !slices.Equal(got.Destroyed, []uint64{3}) ||
			!slices.Equal(got.AlsoIn, []uint64{5, 1}) || got.More {
			t.Errorf("%+v; want version 3 destroyed, with copies in 5 and 1", got)
		}
	}
	for range 2 {
		if got := b.destroy(3, true); !slices.Equal(got.Destroyed, []uint64{5, 3, 1}) || len(got.AlsoIn) != 0 || got.More {
			t.Errorf("%+v; want versions 5, 3 and 1 destroyed", got)
		}
	}
	for number, want := range map[uint64]fault.Code{1: fault.VersionPurged, 2: "", 3: fault.VersionPurged, 4: "",
		5: fault.VersionPurged} {
		if _, err := b.Version(t.Context(), b.owner, "x", number); fmt.Sprint(err == nil) != fmt.Sprint(want == "") ||
			want != "" && !fault.Is(err, want) {
			t.Errorf("version %d: %v; want %q", number, err, want)
		}
	}
	var on []uint64
	for _, e := range b.on(audit.VersionPurge) {
		on = append(on, e.Version)
	}
	slices.Sort(on)
	if !slices.Equal(slices.Compact(on), []uint64{1, 3, 5}) {
		t.Errorf("on record: %d; want each version", on)
	}
	_, err := b.Destroy(t.Context(), b.owner, "x", state.Purging{Number: 9, Reason: "no such", Copies: true})
	b.refuses(fault.VersionNotFound, err)
}

// Of two replays that find the bytes lost at once, one makes up for them.
func TestLostBytesAreRestoredOnce(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(numbered(1), ""))
	other := *b
	other.over(&corrupt{Store: b.store, upTo: 1})
	b.over(&corrupt{Store: b.store, upTo: 1, before: func() { other.must(other.put(numbered(1), "")) }})
	v, err := b.Put(t.Context(), b.owner, "x", state.Write{Body: []byte(numbered(1))})
	if err != nil || v.Number != 2 {
		t.Errorf("%+v, %v; want version 2, which the other made", v, err)
	}
	if head, err := b.store.Head(t.Context(), state.Ref{Org: b.owner.Org, Name: "x"}); err != nil ||
		head.Version.Number != 2 {
		t.Errorf("version %d, %v", head.Version.Number, err)
	}
}
