package repos

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/repos/gitmirror"
)

const (
	// submoduleRounds is how often what was fetched is looked at for submodules within.
	submoduleRounds = 8
	// submodulePause is for how long what failed is not tried again.
	submodulePause = time.Minute
)

// submodules are those of a repository, as far as this process knows them.
type submodules struct {
	turn  chan struct{}   // who fetches them has put something into it
	whole map[string]bool // commits that have all of theirs

	failed string // the commit that lacks one, why, and until when that is believed
	err    error
	until  time.Time
}

// maxWhole is how many commits are remembered.
const maxWhole = 200

// submodulesOf returns what is known of a repository's.
func (s *Service) submodulesOf(id uuid.UUID) *submodules {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.modules[id]
	if known == nil {
		known = &submodules{turn: make(chan struct{}, 1), whole: map[string]bool{}}
		s.modules[id] = known
	}
	return known
}

// inside returns the mirror with the submodules of a commit in it, where the repository wants them: those of a commit
// that is on a branch are fetched, and of others where it is asked for. What a stranger has made of a fork has nothing
// fetched: it would say from where.
func (s *Service) inside(ctx context.Context, r Repository, m *gitmirror.Mirror, commit string,
	trusted bool) (*gitmirror.Mirror, error) {
	if !r.Settings.Submodules {
		return m, nil
	}
	with, known := m.WithSubmodules(), s.submodulesOf(r.ID)
	select {
	case known.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-known.turn }()
	switch {
	case known.whole[commit]:
		return with, nil
	case known.failed == commit && s.clock().Before(known.until):
		return nil, known.err
	}
	if !trusted {
		if on, err := m.OnBranch(ctx, commit); err != nil || !on {
			return with, err
		}
	}
	err := s.fetchSubmodules(ctx, r, m, commit, known)
	if err != nil && ctx.Err() == nil {
		known.failed, known.err, known.until = commit, err, s.clock().Add(submodulePause)
	}
	if err != nil {
		return nil, err
	}
	if len(known.whole) == maxWhole {
		clear(known.whole)
	}
	known.whole[commit] = true
	return with, nil
}

// fetchSubmodules fetches what a commit lacks, and then what that lacks.
func (s *Service) fetchSubmodules(ctx context.Context, r Repository, m *gitmirror.Mirror, commit string,
	known *submodules) error {
	remote, err := gitmirror.ParseURL(r.Settings.URL, s.AllowHTTP)
	if err != nil {
		return err
	}
	for range submoduleRounds {
		lacking, err := m.WithSubmodules().Lacks(ctx, commit, remote)
		if err != nil || len(lacking) == 0 {
			return err
		}
		clear(known.whole) // what makes room may be theirs
		for _, one := range lacking {
			if err := s.fetchSubmodule(ctx, r, m, remote, one); err != nil {
				return err
			}
		}
	}
	return &gitmirror.Error{Kind: gitmirror.TooLarge, Text: "its submodules don't fit into what a mirror may have, or are " +
		"too deep within one another"}
}

// fetchSubmodule takes a worker for the fetch, as any other does. The repository's credentials go to its own server
// alone.
func (s *Service) fetchSubmodule(ctx context.Context, r Repository, m *gitmirror.Mirror, at gitmirror.Remote,
	one gitmirror.Module) error {
	if err := s.checkRoom(ctx, r); err != nil {
		return err
	}
	var credentials gitmirror.Credentials
	if one.Remote.SameServer(at) {
		own, err := s.gitCredentials(ctx, r)
		if err != nil {
			return err
		}
		credentials = own
	}
	release, err := s.workers.Acquire(ctx, r.Org)
	if err != nil {
		return err
	}
	defer release()
	return m.FetchSubmodule(ctx, one, credentials)
}

// Inside returns changed paths of a commit with all that is in those that are submodules, as providers don't tell that.
// It is for the server itself. Faults: those of At.
func (s *Service) Inside(ctx context.Context, org uuid.UUID, name, commit string, paths []string) ([]string, error) {
	r, err := s.find(ctx, org, name)
	if err != nil || !r.Settings.Submodules {
		return paths, err
	}
	m, err := s.At(ctx, org, name, commit)
	if err != nil {
		return nil, err
	}
	tree, err := m.Tree(ctx, commit)
	if err != nil {
		return nil, Explain(name, err)
	}
	defer func() { _ = tree.Close() }()
	return tree.Inside(paths), nil
}
