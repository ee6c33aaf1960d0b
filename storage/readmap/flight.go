package readmap

import (
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// flight is what goes on at one state. It exists while a load or a marked write of the
// state is under way, so their number bounds the number of flights. Store.mu guards it.
type flight struct {
	calls  int    // loads and marked writes under way
	writes int    // marked writes under way
	epoch  uint64 // grows with each mark and each end of a marked write
}

// enter and leave bracket a call's use of a flight. Store.mu must be held.
func (s *Store) enter(ref state.Ref) *flight {
	f := s.flights[ref]
	if f == nil {
		f = &flight{}
		s.flights[ref] = f
	}
	f.calls++
	return f
}

func (s *Store) leave(ref state.Ref, f *flight) {
	f.calls--
	if f.calls == 0 {
		delete(s.flights, ref)
	}
}

// load is one read of the store below.
type load struct {
	store  *Store
	ref    state.Ref
	flight *flight
	epoch  uint64 // when it began
}

func (s *Store) beginLoad(ref state.Ref) load {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.enter(ref)
	return load{store: s, ref: ref, flight: f, epoch: f.epoch}
}

// keep inserts what was loaded, unless a write may have made it old.
func (l load) keep(snapshot state.Snapshot) {
	s := l.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.flight.writes == 0 && l.flight.epoch == l.epoch {
		s.recent.put(l.ref, snapshot)
	}
}

func (l load) end() {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.store.leave(l.ref, l.flight)
}

// write is one Update. It is marked once its decision may change the newest version.
// Store.mu guards it: the store below may decide on another goroutine.
type write struct {
	store  *Store
	ref    state.Ref
	flight *flight // nil until it is marked
	epoch  uint64  // of its newest mark
	number uint64  // of the version that its newest decision accepts; 0 for none
}

// watch returns decide with an eye on what it decides.
func (w *write) watch(decide state.Decide) state.Decide {
	return func(h state.Head) (state.Change, error) {
		change, err := decide(h)
		w.note(change, err)
		return change, err
	}
}

// note takes in the newest decision: only the last one counts, and each may be it.
func (w *write) note(change state.Change, err error) {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	w.number = 0
	if err != nil || change.Version == nil && !change.Delete && !change.Undelete {
		return
	}
	if change.Version != nil && !change.Delete {
		w.number = change.Version.Number
	}
	if w.flight == nil {
		w.flight = s.enter(w.ref)
		w.flight.writes++
	}
	w.flight.epoch++
	w.epoch = w.flight.epoch
	s.recent.remove(w.ref)
}

// keep inserts the version that was written, unless there may be a newer one: another
// write is marked, or was since.
func (w *write) keep(head state.Head, body []byte) {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.number == 0 || head.Version.Number != w.number {
		return
	}
	if w.flight.writes == 1 && w.flight.epoch == w.epoch {
		s.recent.put(w.ref, state.Snapshot{Version: head.Version, Body: body})
	}
}

// end takes the mark away. The epoch grows, so that loads which began under the mark keep
// nothing.
func (w *write) end() {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.flight == nil {
		return
	}
	w.flight.writes--
	w.flight.epoch++
	s.leave(w.ref, w.flight)
	w.flight = nil
}

// bar has an organization have no entries from now on.
func (s *Store) bar(org uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.bar(org)
}

// unbar takes that back. Loads that are under way keep nothing: what they have read may be gone.
func (s *Store) unbar(org uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.recent.barred, org)
	for ref, f := range s.flights {
		if ref.Org == org {
			f.epoch++
		}
	}
}
