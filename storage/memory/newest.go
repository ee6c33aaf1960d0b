package memory

import (
	"context"

	"github.com/holdfast/holdfast/state"
)

// Newest implements state.Newest.
func (s *Store) Newest(_ context.Context, refs []state.Ref) ([]state.Tip, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, errClosed()
	}
	tips := make([]state.Tip, len(refs))
	for i, ref := range refs {
		if e := s.states[ref]; e != nil && e.head.Exists() {
			if newest := e.versions[len(e.versions)-1]; !newest.Purged {
				tips[i] = newest.Tip()
			}
		}
	}
	return tips, nil
}
