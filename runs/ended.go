package runs

import (
	"maps"
	"sync"
)

// ended counts runs by how they ended.
type ended struct {
	mu sync.Mutex
	by map[string]uint64
}

func newEnded() *ended {
	e := &ended{by: map[string]uint64{}}
	for _, status := range Statuses() {
		if status.Ended() {
			e.by[string(status)] = 0
		}
	}
	return e
}

func (e *ended) note(was, is Status) {
	if !was.Ended() && is.Ended() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.by[string(is)]++
	}
}

// Ended is how many runs have ended through this Service, by their status.
func (s *Service) Ended() map[string]uint64 {
	s.ended.mu.Lock()
	defer s.ended.mu.Unlock()
	return maps.Clone(s.ended.by)
}
