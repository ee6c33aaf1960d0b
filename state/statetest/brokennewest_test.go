package statetest_test

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast/holdfast/state"
)

func newestBreakages() map[string]breakage {
	return map[string]breakage{
		"tips of deleted states": {bendsTips(func(h state.Head, _ state.Tip) state.Tip { return h.Version.Tip() }),
			[]string{"Newest"}},
		"tips without times": {bendsTips(func(_ state.Head, tip state.Tip) state.Tip {
			tip.CreatedAt = time.Time{}
			return tip
		}), []string{"Newest"}},
		"tips of a while ago": {func(next state.Store) state.Store {
			return &keepsTips{Store: next,
				tips: map[state.Ref]state.Tip{}}
		}, []string{"Newest"}},
	}
}

// tipped bends what a store says of newest versions.
type tipped struct {
	state.Store
	bend func(state.Head, state.Tip) state.Tip
}

func bendsTips(bend func(state.Head, state.Tip) state.Tip) func(state.Store) state.Store {
	return func(next state.Store) state.Store { return tipped{next, bend} }
}

func (s tipped) Newest(ctx context.Context, refs []state.Ref) ([]state.Tip, error) {
	tips, err := s.Store.(state.Newest).Newest(ctx, refs)
	for i := range tips {
		head, _ := s.Store.Head(ctx, refs[i])
		tips[i] = s.bend(head, tips[i])
	}
	return tips, err
}

// keepsTips asks once for each state.
type keepsTips struct {
	state.Store
	mu   sync.Mutex
	tips map[state.Ref]state.Tip
}

func (s *keepsTips) Newest(ctx context.Context, refs []state.Ref) ([]state.Tip, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh, err := s.Store.(state.Newest).Newest(ctx, refs)
	for i, ref := range refs {
		if had, some := s.tips[ref]; some && err == nil {
			fresh[i] = had
		}
		if err == nil {
			s.tips[ref] = fresh[i]
		}
	}
	return fresh, err
}
