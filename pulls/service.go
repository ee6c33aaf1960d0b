package pulls

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/repos/forge"
)

// Service looks after pull requests, and is the only door to them.
type Service struct{ Deps }

// Deps is what a Service stands on.
type Deps struct {
	Store        Store
	Repositories Repositories
	Layers       Layers
	Runs         Runs
	Gate         *audit.Gate
	Audit        audit.Recorder
	// Link is the page of a run; nil where the server does not know its own address.
	Link func(run string) string
	Now  func() time.Time
	// Token is a text that nobody guesses.
	Token func() string
	Log   *slog.Logger
}

// NewService returns a service on what it stands on.
func NewService(d Deps) *Service { return &Service{d} }

func (s *Service) clock() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// Hint says that something may have happened to a pull request: it is looked at soon. It is for the
// server itself, which has found out that the delivery is its repository's.
func (s *Service) Hint(ctx context.Context, ref Ref) error { return s.Store.Hint(ctx, ref, s.clock()) }

// Pull returns a pull request, whose layers the caller may see; false where there is none.
func (s *Service) Pull(ctx context.Context, p auth.Principal, repository string, number int64) (Pull, bool, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadRun); err != nil {
		return Pull{}, false, err
	}
	found, ok, err := s.Store.Pull(ctx, Ref{p.Org, repository, number})
	return found.shownTo(p), ok, err
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

// as is who makes the runs of a pull request: the server itself, with no more than that takes, on the one
// layer; by says whose word it goes by.
func as(org uuid.UUID, layer string, by forge.User) (auth.Principal, error) {
	only, err := auth.ParsePatterns(layer)
	return auth.Principal{Org: org, KeyID: "pull-requests", KeyName: "pull requests", Subject: by.Login,
		Grant: auth.Grant{Role: auth.Operator, States: only}}, err
}

// The pace of looks.
const (
	lookTime = 10 * time.Minute // for how long a claim counts
	openPace = 3 * time.Second  // while runs go on
	idlePace = 10 * time.Minute // where no webhook tells
	atOnce   = 20
)

// Run looks at pull requests that are due, until the context ends.
func (s *Service) Run(ctx context.Context) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		if err := s.Round(ctx); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "pull requests are not looked at; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// Round looks at each pull request that is due, once.
func (s *Service) Round(ctx context.Context) error {
	due, err := s.Store.Due(ctx, s.clock(), atOnce)
	if err != nil {
		return err
	}
	for _, ref := range due {
		if err := s.look(ctx, ref); err != nil {
			return err
		}
	}
	return nil
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
	case l.pull.Closed:
		return time.Time{}
	case l.pull.Open():
		return now.Add(openPace)
	}
	return now.Add(idlePace)
}
