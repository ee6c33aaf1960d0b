package repos

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos/gitmirror"
)

// flights are the fetch of a repository that goes on, and the one that comes behind it.
type flights struct {
	org       uuid.UUID
	now, next *flight
}

// flight is a fetch, which everybody waits for who asked before it began.
type flight struct {
	done   chan struct{}
	claim  *claim
	result Repository // as it is known then
	err    error
}

// claim is that of the store.
type claim struct {
	token string
	hints int64
}

// Fetch fetches a repository now, for somebody who waits, and returns what is known of it then. Faults:
// RepositoryNotFound, RepositoryFailed.
func (s *Service) Fetch(ctx context.Context, p auth.Principal, name string) (Repository, error) {
	if err := s.Gate.Authorize(ctx, p, auth.WriteRepository); err != nil {
		return Repository{}, err
	}
	r, err := s.find(ctx, p.Org, name)
	if err != nil {
		return Repository{}, err
	}
	return s.fetch(ctx, r, nil)
}

// fetch has a repository fetched, beginning after now, and waits for it. What it asks for is shared with all others who
// ask. The fetch goes on if the caller leaves.
func (s *Service) fetch(ctx context.Context, r Repository, c *claim) (Repository, error) {
	f := s.board(r.Org, r.ID, c)
	select {
	case <-f.done:
		return f.result, f.err
	case <-ctx.Done():
		return Repository{}, ctx.Err()
	}
}

// board returns the next fetch of a repository that begins, and has it begin if none goes on.
func (s *Service) board(org, id uuid.UUID, c *claim) *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	both := s.flights[id]
	if both == nil {
		both = &flights{org: org, now: &flight{done: make(chan struct{}), claim: c}}
		s.flights[id] = both
		s.fetching.Go(func() { s.fly(org, id, both.now) })
		return both.now
	}
	if both.next == nil {
		both.next = &flight{done: make(chan struct{})}
	}
	if c != nil {
		both.next.claim = c
	}
	return both.next
}

// fly carries a fetch out, and those behind it.
func (s *Service) fly(org, id uuid.UUID, f *flight) {
	for f != nil {
		f.result, f.err = s.fetchOnce(s.life, org, id, f.claim)
		close(f.done)
		s.mu.Lock()
		both := s.flights[id]
		if both.now, both.next = both.next, nil; both.now == nil {
			delete(s.flights, id)
		}
		f = both.now
		s.mu.Unlock()
	}
}

// fetchOnce fetches a repository as it is now, and records how that went.
func (s *Service) fetchOnce(ctx context.Context, org, id uuid.UUID, c *claim) (Repository, error) {
	defer s.keepClaim(ctx, org, id, c)()
	r, err := s.Store.ByID(ctx, id)
	if err != nil {
		return Repository{}, err
	}
	release, err := s.workers.Acquire(ctx, org)
	if err != nil {
		return r, errors.Join(err, s.unclaim(ctx, r, c))
	}
	defer release()
	began, was := s.clock(), r.Status.Kind
	got, heads, err := s.fetchFrom(ctx, r)
	if ctx.Err() != nil { // the process ends: that is no failure of the repository's
		return r, errors.Join(ctx.Err(), s.unclaim(ctx, r, c))
	}
	if err != nil {
		s.Log.InfoContext(ctx, "a repository was not fetched", "organization", org, "repository", r.Name, "error", err)
		r.Status = r.Status.failed(began, err)
		err = told(r, err)
	} else {
		r.Status = r.Status.fetched(began, got.Bytes, heads, r.Settings.Branches)
	}
	next := r.Status.next(r.Settings.Poll, s.Random())
	if failed := s.finish(ctx, r, c, began, next); failed != nil {
		return r, errors.Join(err, failed)
	}
	if r.Status.Kind != was || len(got.Moved) > 0 {
		s.tellMoved(ctx, r, got.Moved)
	}
	return r, err
}

func (s *Service) finish(ctx context.Context, r Repository, c *claim, began, next time.Time) error {
	f := Finished{Org: r.Org, ID: r.ID, Began: began, Status: r.Status, Next: next, Soon: s.clock().Add(spacing)}
	if c != nil {
		f.Token, f.Hints = c.token, c.hints
	}
	return s.Store.Finish(ctx, f)
}

// unclaim leaves a repository as it was, to whoever comes next.
func (s *Service) unclaim(ctx context.Context, r Repository, c *claim) error {
	if c == nil {
		return nil
	}
	return s.finish(context.WithoutCancel(ctx), r, c, r.Status.Tried, s.clock().Add(spacing))
}

// keepClaim extends a claim for as long as the fetch goes on.
func (s *Service) keepClaim(ctx context.Context, org, id uuid.UUID, c *claim) (end func()) {
	if c == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	s.fetching.Go(func() {
		ticks := time.NewTicker(claimTime / 4)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
				err := s.Store.Extend(ctx, org, id, c.token, s.clock().Add(claimTime))
				if err != nil && ctx.Err() == nil {
					s.Log.WarnContext(ctx, "a claim of a repository could not be extended", "error", err)
				}
			}
		}
	})
	return cancel
}

// told is why a fetch failed, for who asked for it.
func told(r Repository, err error) error {
	if _, ours := errors.AsType[*fault.Error](err); ours {
		return err
	}
	return fault.Wrap(err, fault.RepositoryFailed, "the repository %s was not fetched (%s): %s", r.Name, r.Status.Kind,
		r.Status.Problem)
}

func (s *Service) fetchFrom(ctx context.Context, r Repository) (gitmirror.Fetched, map[string]string, error) {
	remote, err := gitmirror.ParseURL(r.Settings.URL, s.AllowHTTP)
	if err != nil {
		return gitmirror.Fetched{}, nil, err
	}
	credentials, err := s.gitCredentials(ctx, r)
	if err != nil {
		return gitmirror.Fetched{}, nil, err
	}
	if err := s.checkRoom(ctx, r); err != nil {
		return gitmirror.Fetched{}, nil, err
	}
	m, err := s.mirror(r.ID)
	if err != nil {
		return gitmirror.Fetched{}, nil, err
	}
	got, err := m.Fetch(ctx, gitmirror.Source{Remote: remote, Credentials: credentials, Branches: r.Settings.Branches})
	if err != nil {
		return gitmirror.Fetched{}, nil, err
	}
	modules, err := m.ModuleBytes()
	if err != nil {
		return gitmirror.Fetched{}, nil, err
	}
	large, err := bytesIn(s.largeFolder(r.ID))
	if err != nil {
		return gitmirror.Fetched{}, nil, err
	}
	got.Bytes += modules + large
	heads, err := m.Branches(ctx)
	return got, heads, err
}

// mirror returns the mirror of a repository in this process.
func (s *Service) mirror(id uuid.UUID) (*gitmirror.Mirror, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.mirrors[id]; m != nil {
		return m, nil
	}
	m, err := gitmirror.Open(filepath.Join(s.Folder, id.String()), gitmirror.Options{Allowed: s.Allowed,
		AllowHTTP: s.AllowHTTP, CAFile: s.CAFile, Limits: s.Limits.Git})
	if err == nil {
		s.mirrors[id] = m
	}
	return m, err
}

// Run has repositories fetched whose time has come, until the context ends; then it stops the fetches that go on.
func (s *Service) Run(ctx context.Context) {
	defer s.Close()
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for {
		for s.Poll(ctx) > 0 {
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		case <-s.wake:
		}
	}
}

// Close stops all fetches, and waits until they have.
func (s *Service) Close() {
	s.end()
	s.fetching.Wait()
}

const (
	// tick is how often the store is asked what is due.
	tick = 2 * time.Second
	// claimTime is for how long a claim counts that is not extended: one whose process was killed is another's then.
	claimTime = 2 * time.Minute
)

// Poll claims repositories whose time has come, as many as there are workers free, and has them fetched. It waits for
// no
// fetch, and returns how many begin. An organization never has more than its part of the workers, so that
// repositories that are slow are in nobody else's way.
func (s *Service) Poll(ctx context.Context) (begun int) {
	all, own := s.claimed()
	if all >= s.Limits.Workers || ctx.Err() != nil {
		return 0
	}
	now := s.clock()
	due, err := s.Store.Due(ctx, now, maxDue)
	if err != nil {
		s.Log.WarnContext(ctx, "which repositories are to be fetched can't be found out; it is tried again", "error", err)
		return 0
	}
	for _, r := range due {
		if all+begun < s.Limits.Workers && own[r.Org] < s.ownWorkers() && s.claim(ctx, r, now) {
			begun++
		}
	}
	return begun
}

// maxDue is how many organizations' repositories are looked at in one go.
const maxDue = 100

// ownWorkers is how many of the workers an organization may have.
func (s *Service) ownWorkers() int { return max(s.Limits.Workers/2, 1) }

// claimed counts the fetches whose time had come, all of them and those of each organization. What somebody has asked
// for is not among them: it waits for a worker with its organization's others, and keeps nobody's from being claimed.
func (s *Service) claimed() (all int, own map[uuid.UUID]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own = map[uuid.UUID]int{}
	for _, f := range s.flights {
		if f.now.claim != nil || f.next != nil && f.next.claim != nil {
			own[f.org]++
			all++
		}
	}
	return all, own
}

// claim has a repository fetched, if nobody else does.
func (s *Service) claim(ctx context.Context, r Repository, now time.Time) bool {
	token := uuid.NewString()
	hints, ok, err := s.Store.Claim(ctx, r.Org, r.ID, token, now, now.Add(claimTime))
	if err != nil {
		s.Log.WarnContext(ctx, "a repository was not claimed; it is tried again", "repository", r.Name, "error", err)
	}
	if !ok || err != nil {
		return false
	}
	s.board(r.Org, r.ID, &claim{token, hints})
	return true
}

// rouse has Run look now.
func (s *Service) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Sweep removes what nothing needs: deliveries that are too old, and mirrors of repositories that are gone.
func (s *Service) Sweep(ctx context.Context) error {
	for {
		n, err := s.Store.ForgetDeliveries(ctx, s.clock().Add(-deliveryMemory), sweptAtOnce)
		if err != nil {
			return err
		}
		if n < sweptAtOnce {
			break
		}
	}
	return s.sweepMirrors(ctx)
}

const sweptAtOnce = 500
