package bench

import (
	"context"
	"fmt"
)

// Mix is what a connection does over and over.
type Mix string

// The mixes that users know.
const (
	Cycle  Mix = "cycle"  // LOCK, GET, POST with the lock's ID, UNLOCK: what one apply does
	Plan   Mix = "plan"   // LOCK, GET, UNLOCK
	Read   Mix = "read"   // GET
	Upload Mix = "upload" // an upload of 100 instances
)

// Write is POST without a lock: a mix that takes a server apart.
const Write Mix = "write"

// Mixes returns those that users know.
func Mixes() []Mix { return []Mix{Cycle, Plan, Read, Upload} }

func (m Mix) run() (func(*session, context.Context) error, error) {
	switch m {
	case Cycle:
		return inTurn((*session).lock, (*session).get, (*session).post, (*session).unlock), nil
	case Plan:
		return inTurn((*session).lock, (*session).get, (*session).unlock), nil
	case Read:
		return (*session).get, nil
	case Write:
		return (*session).post, nil
	case Upload:
		return (*session).upload, nil
	}
	return nil, fmt.Errorf("there is no mix %q", string(m))
}

// hasStates reports whether the mix works on states.
func (m Mix) hasStates() bool { return m != Upload }

func inTurn(all ...func(*session, context.Context) error) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error {
		for _, step := range all {
			if err := step(s, ctx); err != nil {
				return err
			}
		}
		return nil
	}
}
