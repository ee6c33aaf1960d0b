package repos

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/holdfast/holdfast/repos/gitmirror"
)

// Status is what is known of a repository. Its JSON is how stores keep it.
type Status struct {
	Fetched  time.Time      `json:"fetched,omitzero"` // when it was last fetched well
	Tried    time.Time      `json:"tried,omitzero"`   // when that was last tried
	Failures int            `json:"failures,omitempty"`
	Kind     gitmirror.Kind `json:"kind,omitempty"`    // why the last one failed
	Problem  string         `json:"problem,omitempty"` // the same in words, without secrets
	Bytes    int64          `json:"bytes,omitempty"`   // of the mirror that was fetched into
	// Heads are the newest commits of branches, as they were found at Fetched, up to MaxHeads of them.
	Heads map[string]string `json:"heads,omitempty"`
}

// MaxHeads is how many branches a Status has.
const MaxHeads = 1000

const (
	backoffBase = 15 * time.Second
	backoffCap  = 10 * time.Minute
	// spacing is the least time between two fetches of a repository that nobody but webhooks asks for: it makes a
	// handful of fetches out of a burst of deliveries.
	spacing = 5 * time.Second
)

// fetched is the status after a fetch that went well. Where there are too many branches, it has those that are named
// and the first ones by name: the same each time.
func (s Status) fetched(at time.Time, bytes int64, heads map[string]string, named []string) Status {
	kept := map[string]string{}
	for _, branch := range slices.Concat(named, slices.Sorted(maps.Keys(heads))) {
		if commit, there := heads[branch]; there && len(kept) < MaxHeads {
			kept[branch] = commit
		}
	}
	return Status{Fetched: at, Tried: at, Bytes: bytes, Heads: kept}
}

// failed is the status after one that did not. A branch that the remote has no more has no newest commit.
func (s Status) failed(at time.Time, err error) Status {
	s.Tried, s.Failures, s.Kind, s.Problem = at, s.Failures+1, gitmirror.KindOf(err), err.Error()
	if s.Kind == "" {
		s.Kind, s.Problem = gitmirror.Failed, "the server could not fetch it; its log says why"
	}
	if why, ok := errors.AsType[*gitmirror.Error](err); ok && s.Heads[why.Missing] != "" {
		s.Heads = maps.Clone(s.Heads)
		delete(s.Heads, why.Missing)
	}
	return s
}

// next is when the repository is fetched again without a reason. random is in [0, 1): a tenth of jitter keeps
// repositories that were registered together from being fetched together, and half of it those that failed together.
func (s Status) next(poll time.Duration, random float64) time.Time {
	if s.Failures == 0 {
		return s.Tried.Add(time.Duration(float64(poll) * (0.95 + 0.1*random)))
	}
	wait := backoffCap
	if s.Failures < 7 {
		wait = min(backoffCap, backoffBase<<(s.Failures-1))
	}
	return s.Tried.Add(max(time.Duration(float64(wait)*(0.5+random)), 0))
}

// soonest is when a hint may have it fetched. One that fails again and again is not fetched more often for all the
// deliveries that come.
func (s Status) soonest(now time.Time) time.Time {
	wait := spacing
	if s.Failures > 2 {
		wait = min(backoffCap, backoffBase<<min(s.Failures-1, 6))
	}
	if at := s.Tried.Add(wait); at.After(now) {
		return at
	}
	return now
}
