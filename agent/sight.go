package agent

import (
	"sync"

	"github.com/holdfast/holdfast/api"
)

// sight is what is known of the command that goes on: what a lease's renewal tells.
type sight struct {
	mu       sync.Mutex
	phase    string
	evidence Evidence
	sandbox  *api.Sandbox
	inFlight func() []api.InFlight
}

func (s *sight) begin(phase string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase, s.evidence, s.inFlight = phase, Evidence{}, nil
}

func (s *sight) see(e Evidence, sandbox *api.Sandbox) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.evidence, s.sandbox = e, sandbox
}

func (s *sight) watch(inFlight func() []api.InFlight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight = inFlight
}

// renewal is what there is to tell.
func (s *sight) renewal() api.LeaseRenewal {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := api.LeaseRenewal{
		Phase: s.phase, BootID: s.evidence.BootID, PID: s.evidence.PID, StartTime: s.evidence.StartTime, Sandbox: s.sandbox,
	}
	if s.inFlight != nil {
		r.InFlight = s.inFlight()
	}
	return r
}
