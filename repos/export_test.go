package repos

import (
	"context"
	"time"
)

// AppToken is what git fetches with as a GitHub App.
func (s *Service) AppToken(ctx context.Context, r Repository, secrets Secrets) (string, error) {
	return s.appToken(ctx, r, secrets)
}

// HeadsKept are those of heads that a status has.
func HeadsKept(heads map[string]string, named ...string) map[string]string {
	return Status{}.fetched(time.Time{}, 0, heads, named).Heads
}

// Flying is how many repositories are being fetched.
func (s *Service) Flying() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.flights)
}

// Waiting is how many fetches wait behind those that go on.
func (s *Service) Waiting() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.flights {
		if f.next != nil {
			n++
		}
	}
	return n
}
