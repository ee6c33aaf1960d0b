package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
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

// The mixes that take a server apart.
const (
	Write Mix = "write" // POST without a lock
	// Known and Stranger ask for a path that is nowhere, below /api with credentials and
	// elsewhere without: the difference is what authentication costs.
	Known    Mix = "known"
	Stranger Mix = "stranger"
)

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
	case Known:
		return asks("/api/nowhere"), nil
	case Stranger:
		return asks("/nowhere"), nil
	}
	return nil, fmt.Errorf("there is no mix %q", string(m))
}

// hasStates reports whether the mix works on states.
func (m Mix) hasStates() bool { return m != Upload && m != Known && m != Stranger }

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

// asks gets a path that is nowhere. With a request ID that is always the same, so is the
// answer.
func asks(path string) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error {
		return s.timed(stepGet, func() error {
			return s.conn.do(ctx, request{method: http.MethodGet, path: path, headers: "X-Request-ID: bench\r\n"}, s.asBefore)
		})
	}
}

func (s *session) asBefore(answer *http.Response) error {
	if err := wantStatus(answer, http.StatusBadRequest); err != nil {
		return err
	}
	if s.fixed != nil {
		return compare(answer.Body, s.fixed, s.conn.buffer)
	}
	fixed, err := io.ReadAll(answer.Body)
	if err == nil && len(fixed) == 0 {
		err = differs("the answer is empty")
	}
	s.fixed = fixed
	return err
}
