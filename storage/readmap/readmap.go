// Package readmap serves reads from memory: a map of newest versions, bounded in bytes,
// over the store that has them for good.
//
// It never serves an old version: an entry is served when it is known to be what the store
// below would answer. There is one map, and two ways to know that.
//
// New is for a store of this process alone: every Update of it goes through the map, and
// nothing of an Update happens after it returned. Why an entry is current there: a write that may change a state's
// newest version marks the state when
// its decision is made, which is before its commit can be seen: from then until the write
// has ended, the state has no entry and gets none. An entry comes from a load during
// which no write was marked and none ended, so no commit happened during it; or from the
// write that made the version, when no other write was marked beside it or since, so
// nobody can have made a newer one. Either way the entry is the newest version when it
// is inserted, and the next mark removes it. LOCK, UNLOCK, replays and refused writes
// mark nothing: a plan's GET finds what was there before its LOCK.
//
// NewShared is for a store that other processes write to as well. Of their writes the map
// hears nothing, so an entry there is only what the newest version was some time ago. A read
// that finds one asks the store below for the tip, in a look-up that began after the read
// did, and serves the entry if it is still that very version: then the store would have
// answered the same at the moment of that look-up, which lies within the read. A version
// never changes, so it does not matter how old the entry is, who wrote it, or what became of
// it meanwhile. Reads share look-ups: one that has not begun yet takes in whoever comes.
package readmap

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/vitals"
	"github.com/holdfast/holdfast/state"
)

// Store is a state.Store that serves Current from memory where it can. Of the store below it
// passes on the lists as they are, since they change nothing, but no other method: those of
// state.Changes are here one by one, each with its reason to be marked or not.
type Store struct {
	state.Lists // of the store below
	next        state.Store

	mu      sync.Mutex
	recent  *recent
	flights map[state.Ref]*flight
	tips    confirmer // nil when nobody else writes to the store below

}

// New returns a store that keeps at most maxBytes of newest versions in memory over next.
func New(next state.Store, maxBytes int64) *Store {
	s := &Store{Lists: next, next: next, recent: newRecent(maxBytes), flights: make(map[state.Ref]*flight)}
	if below, ok := next.(Borrower); ok {
		below.Lend(s.Lent)
	}
	return s
}

// Borrower is a store below that compares what is written with the version before, and need not
// read that where it is lent.
type Borrower interface {
	// Lend is told once, before the store is used, how to get a newest version that is in memory.
	Lend(newest func(state.Ref) (state.Snapshot, bool))
}

// Lent implements state.Lender.
func (s *Store) Lent(ref state.Ref) (state.Snapshot, bool) {
	if e, hit := s.find(ref); hit {
		return e.Snapshot, true
	}
	return state.Snapshot{}, false
}

// Shared is a state.Store that other processes write to as well.
type Shared interface {
	state.Store
	state.Newest
}

// NewShared is New over a store that other processes write to as well.
func NewShared(next Shared, maxBytes int64) *Store {
	s := New(next, maxBytes)
	s.tips = newTips(next)
	return s
}

// Current implements state.Store.
func (s *Store) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	if snapshot, hit, err := s.Cached(ctx, ref, 0); hit || err != nil {
		return snapshot, err
	}
	l := s.beginLoad(ref)
	defer l.end()
	snapshot, err := s.next.Current(ctx, ref)
	if err == nil {
		l.keep(snapshot)
	}
	return snapshot, err
}

// Cached implements state.Cache.
func (s *Store) Cached(ctx context.Context, ref state.Ref, number uint64) (state.Snapshot, bool, error) {
	e, hit := s.find(ref)
	if !hit || number != 0 && e.Number != number {
		return state.Snapshot{}, false, nil
	}
	if s.tips != nil {
		tip, err := s.tips.of(ctx, ref)
		if err != nil {
			return state.Snapshot{}, false, err
		}
		if !tip.Is(e.Tip()) {
			s.forget(ref, e)
			return state.Snapshot{}, false, nil
		}
	}
	return e.Snapshot, true, nil
}

// forget removes an entry that was found to be old, if it is still there.
func (s *Store) forget(ref state.Ref, e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, ok := s.recent.get(ref); ok && now == e {
		s.recent.remove(ref)
	}
}

// Head implements state.Store.
func (s *Store) Head(ctx context.Context, ref state.Ref) (state.Head, error) {
	return s.next.Head(ctx, ref)
}

// Version implements state.Store.
func (s *Store) Version(ctx context.Context, ref state.Ref, number uint64) (state.Snapshot, error) {
	return s.next.Version(ctx, ref, number)
}

// Update implements state.Store.
func (s *Store) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	w := &write{store: s, ref: ref}
	defer w.end() // deferred, so that a panic below leaves no mark behind
	head, err := s.next.Update(ctx, ref, body, w.watch(decide))
	if err == nil {
		w.keep(head, body)
	}
	return head, err
}

// Purge implements state.Store. The newest version may be meant, so it counts as a write
// from before it begins.
func (s *Store) Purge(ctx context.Context, ref state.Ref, number uint64, event audit.Event) error {
	w := &write{store: s, ref: ref}
	w.note(state.Change{Delete: true}, nil)
	defer w.end()
	return s.next.Purge(ctx, ref, number, event)
}

// Prune implements state.Store. It never touches a newest version.
func (s *Store) Prune(ctx context.Context, ref state.Ref, p state.Pruning, event audit.Event) (int, error) {
	return s.next.Prune(ctx, ref, p, event)
}

// Expunge implements state.Store. A deleted state has no entry.
func (s *Store) Expunge(ctx context.Context, ref state.Ref, before time.Time, limit int,
	event audit.Event) (bool, error) {
	return s.next.Expunge(ctx, ref, before, limit, event)
}

// Shred implements state.Store. From the first piece to the last the organization has no entries.
func (s *Store) Shred(ctx context.Context, org uuid.UUID, limit int) (int, error) {
	s.bar(org)
	removed, err := s.next.Shred(ctx, org, limit)
	if err == nil && removed == 0 {
		s.unbar(org)
	}
	return removed, err
}

// PruneEvents implements state.Store.
func (s *Store) PruneEvents(ctx context.Context, org uuid.UUID, before time.Time, limit int,
	event audit.Event) (int, error) {
	return s.next.PruneEvents(ctx, org, before, limit, event)
}

// Record implements state.Store. No event changes a state.
func (s *Store) Record(ctx context.Context, event audit.Event) error {
	return s.next.Record(ctx, event)
}

// Usage implements state.Store.
func (s *Store) Usage(ctx context.Context, org uuid.UUID) (int64, error) {
	return s.next.Usage(ctx, org)
}

// Totals implements state.Store.
func (s *Store) Totals(ctx context.Context) (state.Totals, error) { return s.next.Totals(ctx) }

// Below is the store that has the states for good.
func (s *Store) Below() state.Store { return s.next }

// Databases implements vitals.Databases.
func (s *Store) Databases() map[string]vitals.Database {
	if below, ok := s.next.(vitals.Databases); ok {
		return below.Databases()
	}
	return nil
}

// Freezer is a store below whose writes can be made to wait.
type Freezer interface {
	Freeze(ctx context.Context) (thaw func(), err error)
}

// Freeze has writes wait, where the store below can do that.
func (s *Store) Freeze(ctx context.Context) (thaw func(), err error) {
	if below, ok := s.next.(Freezer); ok {
		return below.Freeze(ctx)
	}
	return nil, errors.New("readmap: the writes of the store below can't be made to wait")
}

// Ready implements state.Store.
func (s *Store) Ready(ctx context.Context) error { return s.next.Ready(ctx) }

// Close implements state.Store. It empties the map first, for later calls have to reach
// the closed store.
func (s *Store) Close() error {
	s.mu.Lock()
	s.recent.close()
	s.mu.Unlock()
	err := s.next.Close()
	if s.tips != nil {
		s.tips.wait()
	}
	return err
}

// Time is that of the store below, if that has one for all who write to it; else this machine's.
func (s *Store) Time() time.Time {
	if below, ok := s.next.(interface{ Time() time.Time }); ok {
		return below.Time()
	}
	return time.Now()
}
