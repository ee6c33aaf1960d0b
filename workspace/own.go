package workspace

import (
	"context"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// An organization keeps each content once, whatever workspaces have it. Who may see only some of them must not learn
// from a digest what the others have, nor get it: for such a caller only those contents are there that the newest
// snapshot of the workspace has, and those that were sent for it.

// there returns the sizes of those of the contents that are there for the caller, and the number of the newest
// snapshot; 0 for callers who may see all workspaces.
func (s *Service) there(ctx context.Context, p auth.Principal, ref Ref,
	digests []Digest) (sizes map[Digest]int64, newest int64, err error) {
	if p.States != nil {
		if digests, newest, err = s.own(ctx, ref, digests); err != nil {
			return nil, 0, err
		}
	}
	sizes, err = s.Store.Sizes(ctx, ref.Org, digests)
	return sizes, newest, err
}

// own returns those of the contents that the workspace's newest snapshot has, or that were sent for it, and the number
// of that snapshot.
func (s *Service) own(ctx context.Context, ref Ref, digests []Digest) (own []Digest, newest int64, err error) {
	w, err := s.Store.Workspace(ctx, ref)
	if err != nil {
		return nil, 0, err
	}
	has := map[Digest]bool{}
	if err := s.eachNewest(ctx, w, func(f File) { has[f.Digest] = true }); err != nil {
		return nil, 0, err
	}
	sent, err := s.Store.Sent(ctx, ref, digests)
	for _, d := range digests {
		if has[d] || sent[d] {
			own = append(own, d)
		}
	}
	return own, w.Newest.Number, err
}

// eachNewest calls do with each file of a workspace's newest snapshot.
func (s *Service) eachNewest(ctx context.Context, w Workspace, do func(File)) error {
	if w.Newest.Number == 0 {
		return nil
	}
	hold := s.hold(w.Ref.Org)
	defer hold.Release()
	if err := hold.AcquireNow(bytesToList(w.Newest)); err != nil {
		return err
	}
	newest, err := s.Store.Files(ctx, w.Ref.Org, w.Newest.ID)
	for _, f := range newest.Files {
		do(f)
	}
	return err
}

// noteSent has a content be there for callers who may see only some workspaces, as one that they have the bytes of.
func (s *Service) noteSent(ctx context.Context, p auth.Principal, ref Ref, digest Digest) error {
	if p.States == nil {
		return nil
	}
	return s.Store.NoteSent(ctx, ref, digest)
}

// maxMissing is how many missing files are listed.
const maxMissing = 100

// ErrMissing is the fault of files whose contents are not there. It returns nil where all are.
func ErrMissing(files []File, there func(Digest) bool) error {
	var missing []fault.Detail
	for _, f := range files {
		if !there(f.Digest) && len(missing) < maxMissing {
			missing = append(missing, fault.Detail{Pointer: f.Path, Rule: f.Digest.String()})
		}
	}
	if missing == nil {
		return nil
	}
	f := fault.New(fault.FilesMissing, "the contents of some files are not here: send them first")
	f.Details = missing
	return f
}
