package statetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// noise is a body that no engine can make smaller, so that all of them count the same.
func noise(seed uint64, size int) []byte {
	body := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte(binary.LittleEndian.AppendUint64(make([]byte, 24), seed))).Read(body) // never fails
	return body
}

func wantUsage(t rapid.TB, store state.Store, org uuid.UUID, want int64) {
	t.Helper()
	if got, err := store.Usage(context.Background(), org); err != nil || got != want {
		t.Fatalf("Usage: %d, %v; want %d", got, err, want)
	}
}

// holding is what the model knows of a state: sizes, below zero for bodies that are gone.
type holding struct {
	first      uint64 // number of the oldest version
	versions   []int64
	candidates map[string]int64
	lock       int64 // bytes that a held lock counts
	locked     bool
}

// books is the model of what two organizations have on three states each.
type books struct {
	store state.Store
	orgs  [2]uuid.UUID
	held  map[state.Ref]*holding
	seed  uint64
}

// checkUsage makes random calls, and after each compares Usage with the sum of all that is
// kept.
func checkUsage(t *testing.T, store state.Store) {
	rapid.Check(t, func(t *rapid.T) {
		b := &books{store: store, orgs: [2]uuid.UUID{uuid.New(), uuid.New()}, held: map[state.Ref]*holding{}}
		t.Repeat(map[string]func(*rapid.T){
			"":          b.compare,
			"write":     b.write,
			"write 2":   b.write,
			"candidate": b.candidate,
			"settle":    b.settle,
			"lock":      b.lock,
			"release":   b.release,
			"purge":     b.purge,
			"prune":     b.prune,
			"expunge":   b.expunge,
			"refused":   b.refused,
		})
		for ref := range b.held {
			b.remove(t, ref)
		}
		b.compare(t)
		for _, org := range b.orgs {
			wantUsage(t, store, org, 0)
		}
	})
}

func (b *books) compare(t *rapid.T) {
	sums := map[uuid.UUID]int64{}
	for ref, h := range b.held {
		sums[ref.Org] += state.RowBytes + h.lock
		for _, size := range slices.Concat(h.versions, slices.Collect(maps.Values(h.candidates))) {
			sums[ref.Org] += state.RowBytes + max(size, 0)
		}
	}
	for _, org := range b.orgs {
		wantUsage(t, b.store, org, sums[org])
	}
}

func (b *books) draw(t *rapid.T) state.Ref {
	return state.Ref{Org: rapid.SampledFrom(b.orgs[:]).Draw(t, "org"),
		Name: rapid.SampledFrom([]state.Name{"a", "b", "b/c"}).Draw(t, "name")}
}

// known draws a state that has been written or locked.
func (b *books) known(t *rapid.T) (state.Ref, *holding) {
	ref := b.draw(t)
	if b.held[ref] == nil {
		t.Skip("it is not there")
	}
	return ref, b.held[ref]
}

func (b *books) of(ref state.Ref) *holding {
	if b.held[ref] == nil {
		b.held[ref] = &holding{first: 1, candidates: map[string]int64{}}
	}
	return b.held[ref]
}

func (b *books) body(t *rapid.T) []byte {
	b.seed++
	return noise(b.seed, rapid.IntRange(16, 3000).Draw(t, "size"))
}

func (b *books) update(t *rapid.T, ref state.Ref, body []byte, decide state.Decide) {
	if _, err := b.store.Update(context.Background(), ref, body, decide); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func (b *books) write(t *rapid.T) {
	ref, body := b.draw(t), b.body(t)
	b.update(t, ref, body, accept(describe(body)))
	b.of(ref).versions = append(b.of(ref).versions, int64(len(body)))
}

func (b *books) candidate(t *rapid.T) {
	ref, body := b.draw(t), b.body(t)
	id := fmt.Sprint(b.seed)
	for range 2 { // again changes nothing
		b.update(t, ref, body, always(state.Change{Candidate: candidate(id, body)}))
	}
	b.of(ref).candidates[id] = int64(len(body))
}

func (b *books) settle(t *rapid.T) {
	ref, h := b.known(t)
	for _, id := range slices.Sorted(maps.Keys(h.candidates)) {
		if h.candidates[id] >= 0 {
			b.update(t, ref, nil, always(state.Change{Settle: settle(id, state.Discarded)}))
			h.candidates[id] = -1
			return
		}
	}
	t.Skip("no candidate is open")
}

func (b *books) lock(t *rapid.T) {
	ref := b.draw(t)
	b.seed++
	raw := `{"Info":"` + strings.Repeat("x", rapid.IntRange(0, 3000).Draw(t, "info")) + `"}`
	lock := &state.Lock{Info: state.LockInfo{ID: fmt.Sprint(b.seed), Raw: []byte(raw)}, Since: noon(), Seen: noon()}
	b.update(t, ref, nil, always(state.Change{Release: b.held[ref] != nil && b.held[ref].locked, Lock: lock}))
	b.of(ref).lock, b.of(ref).locked = 2*max(int64(len(raw))-state.FreeLockBytes, 0), true
}

func (b *books) release(t *rapid.T) {
	ref, h := b.known(t)
	b.update(t, ref, nil, always(state.Change{Release: true}))
	h.lock, h.locked = 0, false
}

func (b *books) purge(t *rapid.T) {
	ref, h := b.known(t)
	if len(h.versions) == 0 {
		t.Skip("it has no versions")
	}
	i := rapid.IntRange(0, len(h.versions)-1).Draw(t, "version")
	for range 2 { // again is fine
		if err := b.store.Purge(context.Background(), ref, h.first+uint64(i), happened("purge")); err != nil {
			t.Fatalf("Purge: %v", err)
		}
	}
	h.versions[i] = -1
}

func (b *books) prune(t *rapid.T) {
	ref, h := b.known(t)
	if len(h.versions) < 2 {
		t.Skip("its newest version stays")
	}
	n := rapid.IntRange(1, len(h.versions)-1).Draw(t, "versions")
	removed, err := b.store.Prune(context.Background(), ref, state.Pruning{Below: h.first + uint64(n), Limit: 99},
		happened("prune"))
	if err != nil || removed != n {
		t.Fatalf("Prune: %d, %v; want %d", removed, err, n)
	}
	h.versions, h.first = h.versions[n:], h.first+uint64(n)
}

func (b *books) expunge(t *rapid.T) {
	ref, h := b.known(t)
	if len(h.versions) == 0 {
		t.Skip("it was never written")
	}
	b.remove(t, ref)
}

// remove takes a state away for good, in small pieces.
func (b *books) remove(t *rapid.T, ref state.Ref) {
	body := []byte(nil)
	if len(b.held[ref].versions) == 0 {
		b.update(t, ref, body, accept(describe(body)))
	}
	b.update(t, ref, nil, always(state.Change{At: noon(), Release: true, Delete: true}))
	removeAll(t, b.store, ref, 2)
	delete(b.held, ref)
}

// removeAll expunges a state that was deleted at noon, in pieces.
func removeAll(t rapid.TB, store state.Store, ref state.Ref, piece int) {
	t.Helper()
	open, err := store.Candidates(context.Background(), ref, "", 1) // those that keep it from going
	for _, c := range open {
		if c.Status == state.Open && err == nil {
			_, err = store.Update(context.Background(), ref, nil, always(state.Change{Settle: settle(c.ID, state.Discarded)}))
		}
	}
	if err != nil {
		t.Fatalf("discard what is open: %v", err)
	}
	for done := false; !done; {
		var err error
		if done, err = store.Expunge(context.Background(), ref, noon().Add(time.Hour), piece,
			happened("expunge")); err != nil {
			t.Fatalf("Expunge: %v", err)
		}
	}
}

// refused has changes told that there is no room: nothing of them counts.
func (b *books) refused(t *rapid.T) {
	ref, body := b.draw(t), b.body(t)
	b.seed++
	full := errors.New("no room")
	lock := newLockFor(fmt.Sprint(b.seed))
	v := describe(body)
	for _, change := range []state.Change{{Version: &v}, {Candidate: candidate("refused", body)},
		{Lock: lock, Release: true}} {
		_, err := b.store.Update(context.Background(), ref, body, func(h state.Head) (state.Change, error) {
			if change.Version != nil {
				v.Number = h.Version.Number + 1
			}
			change.Allow = func(int64, int64) error { return full }
			return change, nil
		})
		if err != full {
			t.Fatalf("Update without room: %v", err)
		}
	}
}

func newLockFor(id string) *state.Lock {
	return &state.Lock{Info: state.LockInfo{ID: id, Raw: lockRaw(id, "ann")}, Since: noon(), Seen: noon()}
}

// wantNothingCounted removes states for good, and wants nothing to be counted any more:
// neither more nor less than was there.
func wantNothingCounted(t *testing.T, store state.Store, refs []state.Ref) {
	t.Helper()
	for _, ref := range refs {
		if head, err := store.Head(t.Context(), ref); err != nil || head.Version.Number == 0 {
			update(t, store, ref, nil, accept(describe(nil)))
		}
		if used, err := store.Usage(t.Context(), ref.Org); err != nil || used < state.RowBytes {
			t.Errorf("before %v is removed, its organization has %d bytes, %v", ref, used, err)
		}
		update(t, store, ref, nil, always(state.Change{At: noon(), Release: true, Delete: true}))
		removeAll(t, store, ref, 500)
	}
	for _, ref := range refs {
		wantUsage(t, store, ref.Org, 0)
	}
}

// checkAllow holds the store to what it tells a change of the organization: what Usage says
// before and after it. What stores nothing and locks nothing is not
// asked, also not a candidate that is there.
func checkAllow(t *testing.T, store state.Store) {
	ref := newRef("allow")
	usage := func() int64 {
		t.Helper()
		used, err := store.Usage(t.Context(), ref.Org)
		if err != nil {
			t.Fatal(err)
		}
		return used
	}
	large := newLockFor("large")
	large.Info.Raw = []byte(`{"ID":"large","Info":"` + strings.Repeat("x", 5000) + `"}`)
	first, second := noise(1, 2000), stateBody(2, strings.Repeat("easy to compress ", 300))
	for i, one := range []struct {
		body   []byte
		change state.Change
		asked  bool
	}{
		{nil, state.Change{Lock: large}, true},
		{first, state.Change{Version: &state.Version{}}, true},
		{nil, state.Change{Release: true}, false},
		{second, state.Change{Version: &state.Version{}}, true},
		{second, state.Change{Candidate: candidate("one", second)}, true},
		{second, state.Change{Candidate: candidate("one", second)}, false}, // there already
		{second, state.Change{Candidate: candidate("one", second), Seen: true}, false},
		{second, state.Change{Candidate: candidate("one", second), Lock: newLockFor("beside")}, true},
		{nil, state.Change{Release: true}, false},
		{nil, state.Change{Lock: newLockFor("small")}, true},
		{nil, state.Change{Seen: true}, false},
		{nil, state.Change{Settle: settle("one", state.Discarded)}, false},
		{nil, state.Change{Release: true, Delete: true}, false},
	} {
		var told []int64
		before := usage()
		_, err := store.Update(t.Context(), ref, one.body, func(h state.Head) (state.Change, error) {
			change := one.change
			if change.Version != nil {
				v := describe(one.body)
				v.Number = h.Version.Number + 1
				change.Version = &v
			}
			change.Allow = func(used, adds int64) error {
				told = []int64{used, used + adds}
				return nil
			}
			return change, nil
		})
		if err != nil {
			t.Fatalf("change %d: %v", i, err)
		}
		if want := []int64{before, usage()}; one.asked && !slices.Equal(told, want) || !one.asked && told != nil {
			t.Errorf("change %d was told %v, and Usage says %v", i, told, want)
		}
	}
}

// checkFence lets many writers in at once, with room for some of them: the organization
// never has more than it may.
func checkFence(t *testing.T, store state.Store) {
	const most, size, writers = 20_000, 1000, 8
	org := uuid.New()
	full := fault.New(fault.StoreFull, "no room")
	suite.Together(t, writers, func(ctx context.Context, worker int) error {
		ref := state.Ref{Org: org, Name: state.Name(fmt.Sprint("state-", worker))}
		for i := range 10 {
			body := noise(uint64(worker*100+i), size)
			_, err := store.Update(ctx, ref, body, func(h state.Head) (state.Change, error) {
				v := describe(body)
				v.Number = h.Version.Number + 1
				return state.Change{Version: &v, Allow: func(used, adds int64) error {
					if used+adds > most {
						return full
					}
					return nil
				}}, nil
			})
			if err != nil && !errors.Is(err, full) {
				return err
			}
		}
		return nil
	})
	used, err := store.Usage(t.Context(), org)
	if err != nil || used > most || used < most-size-2*state.RowBytes {
		t.Errorf("Usage: %d, %v; at most %d were allowed, and there was room for one more", used, err, most)
	}
}
