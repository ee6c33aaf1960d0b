package repos

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos/gitmirror"
)

// maxAside is how many heads of pull requests a mirror keeps at once: who needs another one has it fetched again.
const maxAside = 256

// PullHead is where the head of a pull request is.
type PullHead struct {
	Commit string
	// Ref is where the provider has it: in the repository, or in the one at Source, which is at the same server.
	Ref, Source string
	Number      int64 // of the pull request
	// Fork says that strangers have made it: it has no submodules fetched.
	Fork bool
}

// AtPull fetches the head of a pull request, which need be on none of the branches that are fetched. What is known of
// the branches stays as it is. It is for the server itself. Faults: those of At.
func (s *Service) AtPull(ctx context.Context, org uuid.UUID, name string, head PullHead) error {
	if !gitmirror.IsCommit(head.Commit) {
		return fault.New(fault.CommitNotFound, "%.80q is not the whole hash of a commit", head.Commit)
	}
	r, err := s.find(ctx, org, name)
	if err != nil {
		return err
	}
	m, err := s.mirror(r.ID)
	if err != nil {
		return err
	}
	if there, err := m.Has(ctx, head.Commit); err != nil || !there {
		if err := s.fetchPull(ctx, r, m, head); err != nil {
			return Explain(name, err)
		}
		there, err := m.Has(ctx, head.Commit)
		if err == nil && !there {
			err = fault.New(fault.CommitNotFound, "the repository %s has no commit %s where its pull request is", name,
				head.Commit)
		}
		if err != nil {
			return Explain(name, err)
		}
	}
	_, err = s.inside(ctx, r, m, head.Commit, !head.Fork)
	return Explain(name, err)
}

// Merge makes the commit that a merge of the head of a pull request into a commit of its base would be. AtPull has
// fetched the head. A trusted head has the submodules fetched that the merge has. It is for the server itself. Faults:
// those of At.
func (s *Service) Merge(ctx context.Context, org uuid.UUID, name, base, head string, trusted bool) (gitmirror.Merged,
	error) {
	if _, err := s.At(ctx, org, name, base); err != nil {
		return gitmirror.Merged{}, err
	}
	r, err := s.find(ctx, org, name)
	if err != nil {
		return gitmirror.Merged{}, err
	}
	m, err := s.mirror(r.ID)
	if err != nil {
		return gitmirror.Merged{}, err
	}
	merged, err := m.Merge(ctx, base, head)
	if err == nil && merged.Commit != "" {
		_, err = s.inside(ctx, r, m, merged.Commit, trusted)
	}
	return merged, Explain(name, err)
}

// fetchPull takes a worker for the fetch, as any other does.
func (s *Service) fetchPull(ctx context.Context, r Repository, m *gitmirror.Mirror, head PullHead) error {
	remote, err := gitmirror.ParseURL(r.Settings.URL, s.AllowHTTP)
	if err != nil {
		return err
	}
	if head.Source != "" {
		if remote, err = remote.Beside(head.Source); err != nil {
			return err
		}
	}
	credentials, err := s.gitCredentials(ctx, r)
	if err != nil {
		return err
	}
	release, err := s.workers.Acquire(ctx, r.Org)
	if err != nil {
		return err
	}
	defer release()
	_, err = m.Fetch(ctx, gitmirror.Source{Remote: remote, Credentials: credentials,
		Aside: []gitmirror.Aside{{Ref: head.Ref, Number: int(head.Number % maxAside)}}})
	return err
}
