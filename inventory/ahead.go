package inventory

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
)

// aheadFrom is how far timestamps have to be ahead of the clock to be remarkable: servers
// that share a store may differ by seconds.
const aheadFrom = time.Minute

// ahead knows the organizations whose records were given timestamps of the future: since
// the clock of this or of another server was ahead, or an import brought them.
type ahead struct {
	now func() time.Time
	log *slog.Logger

	mu     sync.Mutex
	newest map[uuid.UUID]time.Time
}

// learn takes down what an upload got for a timestamp, and logs the first one of an
// organization that is ahead.
func (a *ahead) learn(ctx context.Context, org uuid.UUID, r Receipt) {
	if r.Replayed || r.Count == 0 {
		return
	}
	now := a.now()
	lead := r.At.Sub(now)
	a.mu.Lock()
	_, known := a.newest[org]
	if lead >= aheadFrom {
		a.newest[org] = r.At
	} else {
		delete(a.newest, org)
	}
	a.mu.Unlock()
	switch {
	case lead >= aheadFrom && !known:
		a.log.ErrorContext(ctx, "an organization's newest record lies in the future, by this server's clock; until then "+
			"its uploads get timestamps a microsecond apart",
			"org", org, "newest", r.At, "ahead", lead.Round(time.Second).String())
	case lead < aheadFrom && known:
		a.log.InfoContext(ctx, "an organization's timestamps follow the clock again", "org", org)
	}
}

// most returns how far the organization with the largest lead is ahead, 0 when none is.
func (a *ahead) most() (most time.Duration) {
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, newest := range a.newest {
		most = max(most, newest.Sub(now))
	}
	return most
}

// WithClock has the service compare timestamps with this clock and log what is wrong with
// them. It is called before anything else.
func (s *Service) WithClock(now func() time.Time, log *slog.Logger) *Service {
	s.ahead = newAhead(now, log)
	return s
}

// Ahead returns by how much the newest timestamps that uploads got lie ahead of the clock:
// those of the organization that is ahead most, 0 when none is.
func (s *Service) Ahead() time.Duration { return s.ahead.most() }

func newAhead(now func() time.Time, log *slog.Logger) *ahead {
	return &ahead{now: now, log: log, newest: map[uuid.UUID]time.Time{}}
}
