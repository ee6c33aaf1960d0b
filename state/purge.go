package state

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Purging says which bytes to destroy, and why.
type Purging struct {
	Number uint64 // of the version that has them
	Reason string
	// Copies destroys them in the state's other versions too.
	Copies bool
}

// Purged says where the bytes of a purged version were, and where they still are.
type Purged struct {
	// Destroyed are the state's versions that had them, AlsoIn those that still have them,
	// both the newest first and at most maxNamed. More says that there are others.
	Destroyed, AlsoIn []uint64
	More              bool
}

// How many versions a Purged names, which are as many as one call destroys, and how many of
// them are purged at once: purges that wait can share what a store has to do for each.
const (
	maxNamed     = 1000
	purgesAtOnce = 16
)

// Purge is Destroy of one version, for who wants to know no more.
func (s *Service) Purge(ctx context.Context, p auth.Principal, name Name, number uint64, reason string) error {
	_, err := s.Destroy(ctx, p, name, Purging{Number: number, Reason: reason})
	return err
}

// Destroy destroys a version's bytes for good, because of a secret in them, say. From then on
// the state does not take the same bytes any more, unless somebody who may purge asks for it,
// so that what it says about other versions stays true. It can be sent again. Faults:
// VersionNotFound. With any other fault, some of what it returns as Destroyed may be.
func (s *Service) Destroy(ctx context.Context, p auth.Principal, name Name, what Purging) (Purged, error) {
	ref, err := s.authorize(ctx, p, auth.PurgeVersions, name)
	if err != nil {
		return Purged{}, err
	}
	found, err := s.store.Versions(ctx, ref, what.Number+1, 1)
	if err != nil {
		return Purged{}, err
	}
	known := len(found) > 0 && found[0].Number == what.Number
	again := known && found[0].Purged
	asked := Purged{Destroyed: []uint64{what.Number}}
	if err := s.purge(ctx, p, ref, what, again); err != nil {
		if fault.Is(err, fault.VersionNotFound) {
			return Purged{}, err
		}
		return asked, err // nobody knows
	}
	if !known { // it was written at this very moment
		return asked, nil
	}
	purged, err := s.copies(ctx, ref, found[0].Digest)
	if err != nil {
		return asked, err
	}
	if !what.Copies || len(purged.AlsoIn) == 0 {
		return purged, nil
	}
	if err := s.purgeAll(ctx, p, ref, purged.AlsoIn, what.Reason); err != nil {
		return Purged{Destroyed: slices.Concat(purged.Destroyed, purged.AlsoIn)}, err
	}
	return s.copies(ctx, ref, found[0].Digest)
}

// purge purges one version. Where that was done before, its event says so.
func (s *Service) purge(ctx context.Context, p auth.Principal, ref Ref, what Purging, again bool) error {
	call := s.call(p, ref)
	event := call.event(audit.VersionPurge)
	event.At, event.Version, event.Reason = call.at, what.Number, what.Reason
	if again {
		event.Note = audit.PurgedBefore
	}
	err := s.store.Purge(ctx, ref, what.Number, event)
	if fault.Is(err, fault.StateNotFound) {
		err = fault.New(fault.VersionNotFound, "the state has no version %d", what.Number)
	}
	return err
}

// purgeAll purges versions that were there a moment ago. One that retention has removed since
// is gone as well.
func (s *Service) purgeAll(ctx context.Context, p auth.Principal, ref Ref, numbers []uint64, reason string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(purgesAtOnce)
	for _, number := range numbers {
		group.Go(func() error {
			err := s.purge(ctx, p, ref, Purging{Number: number, Reason: reason}, false)
			if fault.Is(err, fault.VersionNotFound) {
				err = nil
			}
			return err
		})
	}
	return group.Wait()
}

// copies lists the versions that have these bytes, or had them until they were purged.
func (s *Service) copies(ctx context.Context, ref Ref, digest Digest) (found Purged, err error) {
	err = s.eachVersion(ctx, ref, func(v Version) bool {
		list := &found.AlsoIn
		if v.Purged {
			list = &found.Destroyed
		}
		switch {
		case v.Digest != digest:
		case len(*list) < maxNamed:
			*list = append(*list, v.Number)
		default:
			found.More = true
		}
		return true
	})
	return found, err
}
