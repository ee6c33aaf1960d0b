package pulls

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/repos/forge"
)

// Service looks after pull requests, and is the only door to them.
type Service struct {
	Deps
	mu    sync.Mutex
	looks map[uuid.UUID]int // that go on, of each organization
}

// Deps is what a Service stands on.
type Deps struct {
	Store        Store
	Repositories Repositories
	Layers       Layers
	Runs         Runs
	Gate         *audit.Gate
	Audit        audit.Recorder
	// Link is the page of a run; it returns nothing where the server does not know its own address.
	Link func(run string) string
	Now  func() time.Time
	// Token is a text that nobody guesses.
	Token func() string
	// Resting is how many pull requests that are over are known of a repository; 0 for the default.
	Resting int
	Log     *slog.Logger
}

// NewService returns a service on what it stands on.
func NewService(d Deps) *Service { return &Service{Deps: d, looks: map[uuid.UUID]int{}} }

func (s *Service) clock() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// Hint says that something may have happened to a pull request: it is looked at soon. It is for the
// server itself, which has found out that the delivery is its repository's.
func (s *Service) Hint(ctx context.Context, ref Ref) error { return s.Store.Hint(ctx, ref, s.clock()) }

// Pull returns a pull request, with the layers that the caller may see. Fault: PullNotFound.
func (s *Service) Pull(ctx context.Context, p auth.Principal, ref Ref) (Pull, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadRun); err != nil {
		return Pull{}, err
	}
	ref.Org = p.Org
	found, there, err := s.Store.Pull(ctx, ref)
	if err == nil && !there {
		err = notFound(ref)
	}
	return found.shownTo(p), err
}

// Look has a pull request looked at now, as a webhook would have it. Fault: PullsOff.
func (s *Service) Look(ctx context.Context, p auth.Principal, ref Ref) error {
	if err := s.Gate.Authorize(ctx, p, auth.PlanRun); err != nil {
		return err
	}
	set, err := s.Store.Settings(ctx, p.Org, ref.Repository)
	if err != nil {
		return err
	}
	if set.Off() {
		return off(ref.Repository)
	}
	ref.Org = p.Org
	return s.Hint(ctx, ref)
}

// Told is Hint for what a repository's server tells: nothing is kept where nobody wants pull requests planned.
func (s *Service) Told(ctx context.Context, ref Ref) error {
	set, err := s.Store.Settings(ctx, ref.Org, ref.Repository)
	if err != nil || set.Off() {
		return err
	}
	return s.Hint(ctx, ref)
}

// Pulls returns those of a repository, or of all of the organization.
func (s *Service) Pulls(ctx context.Context, p auth.Principal, repository string, limit int) ([]Pull, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadRun); err != nil {
		return nil, err
	}
	all, err := s.Store.Pulls(ctx, p.Org, repository, limit)
	for i := range all {
		all[i] = all[i].shownTo(p)
	}
	return all, err
}

// shownTo is the pull request with the layers that somebody may see.
func (p Pull) shownTo(who auth.Principal) Pull {
	var seen []Plan
	for _, plan := range p.Plans {
		if who.MayOn(auth.ReadRun, plan.Layer) == nil {
			seen = append(seen, plan)
		}
	}
	p.Plans = seen
	return p
}

// KeyID is what stands for who commands by a comment, in runs and in the audit log.
const KeyID = "pull-requests"

// as is who makes the runs of a pull request: the server itself, with no more than that takes, on the one
// layer; by says whose word it goes by.
func as(org uuid.UUID, layer string, by forge.User) (auth.Principal, error) {
	only, err := auth.ParsePatterns(layer)
	return auth.Principal{Org: org, KeyID: KeyID, KeyName: "pull requests", Subject: by.Login,
		Grant: auth.Grant{Role: auth.Operator, States: only}}, err
}

// The pace of looks.
const (
	lookTime = 10 * time.Minute // for how long a claim counts
	openPace = 3 * time.Second  // while runs go on
	idlePace = 10 * time.Minute // where no webhook tells
	// atOnce is how many looks go on in this process, of which an organization has ownLooks at most: a forge that
	// answers slowly is in nobody else's way.
	atOnce   = 16
	ownLooks = 4
	maxDue   = 500
)

// Run looks at pull requests that are due, until the context ends.
func (s *Service) Run(ctx context.Context) {
	var going sync.WaitGroup
	defer going.Wait()
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		if err := s.begin(ctx, &going); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "pull requests are not looked at; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// Round looks at pull requests that are due, once, as many as may be looked at together.
func (s *Service) Round(ctx context.Context) error {
	var going sync.WaitGroup
	defer going.Wait()
	return s.begin(ctx, &going)
}

// begin begins to look at pull requests that are due, as far as there is room.
func (s *Service) begin(ctx context.Context, going *sync.WaitGroup) error {
	due, err := s.Store.Due(ctx, s.clock(), maxDue)
	if err != nil {
		return err
	}
	for _, ref := range due {
		if !s.room(ref.Org) {
			continue
		}
		going.Go(func() {
			defer s.leave(ref.Org)
			if err := s.look(ctx, ref); err != nil && ctx.Err() == nil {
				s.Log.WarnContext(ctx, "a pull request is not looked at; it is tried again", "org", ref.Org, "repository",
					ref.Repository, "number", ref.Number, "error", err)
			}
		})
	}
	return nil
}

// room takes the place of a look of an organization, if there is one.
func (s *Service) room(org uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := 0
	for _, n := range s.looks {
		all += n
	}
	if all >= atOnce || s.looks[org] >= ownLooks {
		return false
	}
	s.looks[org]++
	return true
}

func (s *Service) leave(org uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looks[org]--; s.looks[org] == 0 {
		delete(s.looks, org)
	}
}

// look claims a pull request, does what there is to be done about it, and says when to look again.
func (s *Service) look(ctx context.Context, ref Ref) error {
	now, token := s.clock(), s.Token()
	p, hints, ok, err := s.Store.Claim(ctx, ref, token, now, now.Add(lookTime))
	if err != nil || !ok {
		return err
	}
	l := &look{Service: s, pull: p, token: token}
	trouble := l.all(ctx)
	if ctx.Err() != nil || l.lost {
		return ctx.Err() // somebody else goes on, at once or when the claim is over
	}
	next := l.next(trouble)
	return s.Store.Finish(ctx, ref, token, hints, s.clock(), next)
}

// next is when to look again.
func (l *look) next(trouble error) time.Time {
	now := l.clock()
	if trouble != nil {
		if e, ok := asForge(trouble); ok && e.Until.After(now) {
			return e.Until
		}
		return now.Add(min(10*time.Second<<min(l.pull.Failures, 6), idlePace))
	}
	switch {
	case l.pull.Open():
		return now.Add(openPace)
	case l.pull.Closed || l.settings.Off():
		return time.Time{}
	}
	return now.Add(idlePace)
}
