package state_test

import (
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

func numbered(serial int) string {
	return fmt.Sprintf("{\"version\":4, \"serial\": %d,\"lineage\":\"L\",\"resources\":[]}\n", serial)
}

func (b *bench) rollback(number uint64, lockID string) (state.Version, error) {
	return b.Rollback(b.t.Context(), b.owner, "x", number, "it broke", lockID)
}

// newest returns the bytes and the number of the newest version.
func (b *bench) newest() (string, uint64) {
	b.t.Helper()
	snapshot, err := b.Get(b.t.Context(), b.owner, "x")
	if err != nil {
		b.t.Fatal(err)
	}
	return string(snapshot.Body), snapshot.Number
}

func TestRollback(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(numbered(3), ""), b.put(numbered(7), ""))
	for range 2 { // the second is a replay
		v, err := b.rollback(1, "")
		if err != nil || v.Number != 3 || v.Serial != 8 || v.Origin.Version != 1 || v.Origin.Reason != "it broke" {
			t.Fatalf("%+v, %v; want version 3 with serial 8", v, err)
		}
	}
	if body, _ := b.newest(); body != numbered(8) {
		t.Errorf("%q; want the old bytes with a higher serial", body)
	}
	if done := b.on(audit.StateRollback); len(done) != 1 || done[0].Reason != "it broke" || done[0].Version != 3 {
		t.Errorf("on record: %+v", done)
	}
	_, unknown := b.rollback(9, "")
	b.refuses(fault.VersionNotFound, unknown)

	b.must(b.lock("a", "ada"))
	replay, err := b.rollback(1, "") // still content: it was done
	if err != nil || replay.Number != 3 {
		t.Errorf("%+v, %v", replay, err)
	}
	_, without := b.rollback(2, "")
	_, other := b.rollback(2, "z")
	b.refuses(fault.LockHeld, without, other)
	v, err := b.rollback(2, "a")
	if err != nil || v.Number != 4 || v.Serial != 9 || v.Author.Who != "ada" {
		t.Errorf("%+v, %v; want version 4 under ada's lock", v, err)
	}
	b.must(b.Unlock(t.Context(), b.owner, "x", state.LockInfo{ID: "a", Who: "ada"}))
	_, late := b.rollback(1, "a")
	b.refuses(fault.LockNotHeld, late)
}

func TestRollbackOfWhatCannotBeRead(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(numbered(1), ""), b.put(numbered(2), ""), b.put(numbered(3), ""))
	b.must(b.Purge(t.Context(), b.owner, "x", 2, "a leak"), b.Purge(t.Context(), b.owner, "x", 2, "a leak"))
	_, gone := b.rollback(2, "")
	_, read := b.Version(t.Context(), b.owner, "x", 2)
	b.refuses(fault.VersionPurged, gone, read)
	b.refuses(fault.VersionNotFound, b.Purge(t.Context(), b.owner, "x", 9, "no such"))
	if body, n := b.newest(); body != numbered(3) || n != 3 {
		t.Errorf("version %d, %q; want all else as it was", n, body)
	}
	versions, err := b.Versions(t.Context(), b.owner, "x", 0, 10)
	if err != nil || len(versions) != 3 || !versions[1].Purged || versions[1].Serial != 2 {
		t.Errorf("%+v, %v; want what describes it still there", versions, err)
	}
	if done := b.on(audit.VersionPurge); len(done) == 0 || done[0].Reason != "a leak" || done[0].Version != 2 {
		t.Errorf("on record: %+v", done)
	}
}

// What the client encrypted comes back as it was: nobody but the client could write another serial
// into it. Clients go on from there.
func TestRollbackOfCiphertext(t *testing.T) {
	b := newBench(t, func(p *state.Policy) { p.Guards = state.GuardsHold })
	encrypted := func(serial int) string {
		return fmt.Sprintf(`{"serial":%d,"lineage":"L","encrypted_data":"A%d"}`, serial, serial)
	}
	b.must(b.put(encrypted(1), ""), b.put(encrypted(2), ""), b.put(encrypted(3), ""))
	v, err := b.rollback(1, "")
	if err != nil || v.Number != 4 || v.Serial != 1 || !v.Encrypted || v.Origin.Version != 1 {
		t.Errorf("%+v, %v; want version 4 of version 1", v, err)
	}
	if again, err := b.rollback(1, ""); err != nil || again.Number != 4 {
		t.Errorf("%+v, %v; want the same version for who asks again", again, err)
	}
	if body, _ := b.newest(); body != encrypted(1) {
		t.Errorf("the newest is %s", body)
	}
	b.must(b.put(encrypted(2), ""))
}

// Some client may have seen the highest serial, wherever in the history it is; one of
// another lineage says nothing.
func TestRollbackIsAboveAllSerials(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(numbered(1), ""), b.put(numbered(100), ""))
	b.must(b.put(`{"serial":1000,"lineage":"M"}`, ""))
	for n := range 2100 { // more than are listed at once
		b.must(b.put(numbered(2+n%2), ""))
	}
	v, err := b.rollback(1, "")
	if err != nil || v.Serial != 101 {
		t.Errorf("%+v, %v; want serial 101", v, err)
	}
	if v, err = b.rollback(3, ""); err != nil || v.Serial != 1001 {
		t.Errorf("%+v, %v; want serial 1001 in the other lineage", v, err)
	}
}

// Above the greatest serial there is none, and nobody has counted up to it: it is in nobody's
// way, wherever it stands in the history.
func TestRollbackBehindTheGreatestSerial(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(numbered(1), ""), b.put(numbered(4), ""), b.put(`{"serial":18446744073709551615,"lineage":"L"}`, ""))
	if v, err := b.rollback(1, ""); err != nil || v.Serial != 5 {
		t.Errorf("%+v, %v; want serial 5", v, err)
	}
	b.must(b.put(numbered(6), "")) // a client goes on from there
	if v, err := b.rollback(2, ""); err != nil || v.Serial != 7 {
		t.Errorf("%+v, %v; want serial 7", v, err)
	}
	if v, err := b.rollback(3, ""); err != nil || v.Serial != 8 {
		t.Errorf("%+v, %v; want the content of that very version with serial 8", v, err)
	}
}

// Whoever may see some states only is not told the names of others, not even by where a
// page ends.
func TestPagesEndAtVisibleNames(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	for _, name := range []state.Name{"a", "mine/1", "n", "mine/2", "o", "z"} {
		_, err := b.Put(t.Context(), b.owner, name, state.Write{Body: []byte(numbered(1))})
		b.must(err)
	}
	patterns, err := auth.ParsePatterns("mine/*")
	b.must(err)
	limited := b.owner
	limited.States = patterns
	for limit := 1; limit <= 7; limit++ {
		var seen []state.Name
		q := state.StatesQuery{Limit: limit}
		for more := true; more; more = q.After != "" {
			page, err := b.States(t.Context(), limited, q)
			b.must(err)
			if len(page.States) > limit || page.Next != "" && !patterns.Match(string(page.Next)) {
				t.Fatalf("limit %d: %d states, then %q", limit, len(page.States), page.Next)
			}
			for _, one := range page.States {
				seen = append(seen, one.Name)
			}
			q.After = page.Next
		}
		if want := []state.Name{"mine/1", "mine/2"}; !slices.Equal(seen, want) {
			t.Errorf("limit %d: %q; want %q", limit, seen, want)
		}
	}
}

// A rollback or a promotion whose bytes were destroyed since was not done: a yes would leave
// the caller with a state that nobody can read.
func TestRepeatOfWhatWasPurged(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(numbered(1), ""), b.put(numbered(2), ""))
	purge := func(number uint64) { b.must(b.Purge(t.Context(), b.owner, "x", number, "a leak")) }
	if _, err := b.rollback(1, ""); err != nil {
		t.Fatal(err)
	}
	purge(3)
	v, err := b.rollback(1, "")
	if err != nil || v.Number != 4 || v.Serial != 4 || v.Purged {
		t.Fatalf("%+v, %v; want another version, 4, with serial 4", v, err)
	}
	if body, _ := b.newest(); body != numbered(4) {
		t.Errorf("%q; want the old bytes with a higher serial", body)
	}

	made, err := b.AddCandidate(t.Context(), b.owner, "x", []byte(numbered(9)), "")
	b.must(err)
	promote := func() error {
		_, err := b.Promote(t.Context(), b.owner, "x", made.ID, state.Decision{Reason: "meant"})
		return err
	}
	b.must(promote())
	purge(5)
	b.refuses(fault.CandidateSettled, promote())
}

// A deleted state comes back with all of its versions.
func TestUndelete(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	undelete := func() error { _, err := b.Undelete(t.Context(), b.owner, "x"); return err }
	b.refuses(fault.StateNotFound, undelete())
	b.must(b.put(numbered(1), ""), b.put(numbered(2), ""), b.Delete(t.Context(), b.owner, "x", ""))
	if _, err := b.Version(t.Context(), b.owner, "x", 1); err != nil {
		t.Errorf("an old version of a deleted state: %v", err)
	}
	b.must(b.lock("a", "ada"))
	b.refuses(fault.LockHeld, undelete())
	b.must(b.Unlock(t.Context(), b.owner, "x", state.LockInfo{ID: "a", Who: "ada"}), undelete(), undelete())
	if body, n := b.newest(); body != numbered(2) || n != 2 {
		t.Errorf("version %d, %q", n, body)
	}
	if back := b.on(audit.StateUndelete); len(back) != 1 {
		t.Errorf("on record: %+v", back)
	}
	b.now = b.now.Add(time.Minute)
	b.must(b.put(numbered(3), ""))
	b.refuses(fault.StateExists, undelete())
}

// What is there and was never away is not said to be brought back; nor is another state of
// the name of one that was.
func TestUndeleteOfWhatIsThere(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	undelete := func() error { _, err := b.Undelete(t.Context(), b.owner, "x"); return err }
	remove := func() error { return b.Delete(t.Context(), b.owner, "x", "") }
	b.must(b.put(numbered(1), ""))
	b.refuses(fault.StateExists, undelete())
	b.must(remove(), undelete(), undelete(), remove())
	b.now = b.now.AddDate(1, 0, 0)
	b.must(b.Sweep(t.Context()))
	b.refuses(fault.StateNotFound, undelete())
	b.must(b.put(numbered(1), ""))
	b.refuses(fault.StateExists, undelete())
}

func TestSweep(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		policy  func(*state.Policy)
		deleted bool
		after   time.Duration
		left    string // numbers of the versions; empty when the state is gone
	}{
		"nothing by default":          {func(*state.Policy) {}, false, 10_000 * day, "5 4 3 2 1"},
		"the newest two":              {func(p *state.Policy) { p.KeepVersions = 2 }, false, 0, "5 4"},
		"three days":                  {func(p *state.Policy) { p.KeepFor = 3 * day }, false, 0, "5 4 3"},
		"the newest is kept for ever": {func(p *state.Policy) { p.KeepFor = day }, false, 1000 * day, "5"},
		"both": {func(p *state.Policy) { p.KeepVersions, p.KeepFor = 4, 3*day }, false, 0,
			"5 4 3"},
		"deleted, within the grace":         {func(*state.Policy) {}, true, 30*day - 1, "5 4 3 2 1"},
		"deleted, after the grace":          {func(*state.Policy) {}, true, 30 * day, ""},
		"deleted, and never removed":        {func(p *state.Policy) { p.Grace = 0 }, true, 10_000 * day, "5 4 3 2 1"},
		"deleted, versions go all the same": {func(p *state.Policy) { p.KeepVersions = 1 }, true, day, "5"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.policy)
			for serial := range 5 {
				b.must(b.put(numbered(serial+1), ""))
				if serial < 4 {
					b.now = b.now.Add(day)
				}
			}
			if c.deleted {
				b.must(b.Delete(t.Context(), b.owner, "x", ""))
			}
			b.now = b.now.Add(c.after)
			if name == "three days" || name == "both" {
				b.now = b.now.Add(day - time.Second)
			}
			b.must(b.Sweep(t.Context()), b.Sweep(t.Context()))
			if left := b.left(); left != c.left {
				t.Errorf("versions %q are left; want %q", left, c.left)
			}
			if expired := len(b.on(audit.StateExpire)); (expired > 0) != (c.left == "") {
				t.Errorf("%d expiries are on record", expired)
			}
		})
	}
}

func (b *bench) left() string {
	b.t.Helper()
	versions, err := b.Versions(b.t.Context(), b.owner, "x", 0, 10)
	if fault.Is(err, fault.StateNotFound) {
		return ""
	}
	var numbers []string
	for _, v := range versions {
		numbers = append(numbers, fmt.Sprint(v.Number))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(numbers, " ")
}

// Who rolls back over a version that they have not seen is told so.
func TestRollbackOverWhatWasSeen(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(numbered(1), ""), b.put(numbered(2), ""))
	seen, err := b.Get(t.Context(), b.owner, "x")
	if err != nil {
		t.Fatal(err)
	}
	b.must(b.put(numbered(3), ""))
	only := state.Condition{Is: &state.Contents{Digests: []state.Digest{seen.Digest}}}
	if _, err := b.RollbackIf(t.Context(), b.owner, "x", 1, "why", "", only); !fault.Is(err, fault.ConditionFailed) {
		t.Errorf("over a version that came since: %v", err)
	}
	if body, _ := b.newest(); body != numbered(3) {
		t.Errorf("the newest is %q", body)
	}
	now, err := b.Get(t.Context(), b.owner, "x")
	if err != nil {
		t.Fatal(err)
	}
	only.Is.Digests = append(only.Is.Digests, now.Digest)
	for range 2 { // the second is a replay: its answer was lost, and the newest version is its own
		if v, err := b.RollbackIf(t.Context(), b.owner, "x", 1, "why", "", only); err != nil || v.Number != 4 {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

// Who asks for a rollback again, whose version can't be read any more, gets another one: to say that it is there would
// leave them with a state that nobody can read.
func TestRollbackAgainOverLostBytes(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(numbered(1), ""), b.put(numbered(2), ""))
	back := func(want uint64) {
		t.Helper()
		if v, err := b.Rollback(t.Context(), b.owner, "x", 1, "why", ""); err != nil || v.Number != want {
			t.Errorf("version %d, %v; want %d", v.Number, err, want)
		}
	}
	back(3)
	back(3)
	b.over(&corrupt{Store: b.store, upTo: 3})
	back(4)
	back(4)
	if body, n := b.newest(); n != 4 || body != numbered(4) {
		t.Errorf("version %d, %q", n, body)
	}
}
