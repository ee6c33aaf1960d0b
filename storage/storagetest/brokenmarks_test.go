package storagetest_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/storagetest"
)

// marks is a state.Marker above a store, for one goroutine.
type marks struct {
	state.Store
	revision uint64
	states   map[state.Ref]int64
	bend     func(refs []state.Ref, all []state.Mark) []state.Mark // nil leaves them as they are
}

func newMarks(bend func([]state.Ref, []state.Mark) []state.Mark) state.Store {
	return &marks{Store: memory.New(1 << 30), states: map[state.Ref]int64{}, bend: bend}
}

func (s *marks) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	s.revision++
	if s.states[ref] == 0 {
		s.states[ref] = int64(s.revision)
	}
	return s.Store.Update(ctx, ref, body, decide)
}

func (s *marks) Purge(ctx context.Context, ref state.Ref, number uint64, e audit.Event) error {
	s.revision++
	return s.Store.Purge(ctx, ref, number, e)
}

func (s *marks) Expunge(ctx context.Context, ref state.Ref, before time.Time, limit int, e audit.Event) (bool, error) {
	delete(s.states, ref)
	return s.Store.Expunge(ctx, ref, before, limit, e)
}

// Marks implements state.Marker.
func (s *marks) Marks(ctx context.Context, refs []state.Ref) (all []state.Mark, err error) {
	for _, ref := range refs {
		head, err := s.Head(ctx, ref)
		if err != nil {
			return nil, err
		}
		m := state.Mark{}
		if head != (state.Head{}) {
			m = state.Mark{State: s.states[ref], Revision: s.revision, Version: head.Version.Number, Digest: head.Version.Digest, Deleted: head.Deleted, Purged: head.Version.Purged}
		}
		all = append(all, m)
	}
	if s.bend != nil {
		all = s.bend(refs, all)
	}
	return all, nil
}

func markBreakages() map[string]breakage {
	bent := func(bend func(*state.Mark)) func(state.Store) state.Store {
		return func(state.Store) state.Store {
			return newMarks(func(_ []state.Ref, all []state.Mark) []state.Mark {
				for i := range all {
					bend(&all[i])
				}
				return all
			})
		}
	}
	return map[string]breakage{
		"marks versions only": {bent(func(m *state.Mark) { m.Revision = 0 }), []string{"Changes"}},
		"marks by name":       {bent(func(m *state.Mark) { m.State = min(m.State, 1) }), []string{"Changes"}},
		"marks no purges":     {bent(func(m *state.Mark) { m.Purged = false }), []string{"Changes"}},
		"marks in another order": {func(state.Store) state.Store {
			return newMarks(func(_ []state.Ref, all []state.Mark) []state.Mark { slices.Reverse(all); return all })
		}, []string{"Many"}},
		"marks known states only": {func(state.Store) state.Store {
			return newMarks(func(_ []state.Ref, all []state.Mark) []state.Mark {
				if len(all) == 1 {
					return all
				}
				return slices.DeleteFunc(all, func(m state.Mark) bool { return m == state.Mark{} })
			})
		}, []string{"Many"}},
	}
}

func TestMarks(t *testing.T) {
	storagetest.RunMarker(t, func(*testing.T) state.Store { return newMarks(nil) })
}

// TestBrokenMarker is what TestMarkerSuiteNotices runs in a process of its own.
func TestBrokenMarker(t *testing.T) {
	b, ok := markBreakages()[os.Getenv(brokenName)]
	if !ok {
		t.Skip("only TestMarkerSuiteNotices runs this")
	}
	storagetest.RunMarker(t, func(*testing.T) state.Store { return b.wrap(nil) })
}

func TestMarkerSuiteNotices(t *testing.T) {
	for name, b := range markBreakages() {
		for _, check := range b.checks {
			t.Run(name+"/"+check, func(t *testing.T) {
				t.Parallel()
				wantFailure(t, brokenName+"="+name, "TestBrokenMarker/"+check)
			})
		}
	}
}
