package state

import (
	"context"
	"slices"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state/document"
)

// States lists the caller's states: those whose names are within the caller's patterns. A
// page may have fewer than q.Limit states, or none, and still be followed by more. Its Next
// names no state that the caller may not see: it is sealed then. Faults: CursorInvalid for a
// seal that this service has not made.
func (s *Service) States(ctx context.Context, p auth.Principal, q StatesQuery) (page Page, err error) {
	if err := s.gate.Authorize(ctx, p, auth.ReadMetadata); err != nil {
		return Page{}, err
	}
	if q.After, err = s.seals.open(p.Org, q.After); err != nil {
		return Page{}, err
	}
	found, next, err := s.seek(ctx, p, q)
	if err != nil || next == "" {
		return Page{States: found}, err
	}
	switch n := len(found); {
	case p.States.Match(string(next)):
	case n > 0:
		next = found[n-1].Name
	default:
		next = s.seals.seal(p.Org, next)
	}
	return Page{States: found, Next: next}, nil
}

// seekSteps is how many pages of a store one call reads on the way to states that the caller
// may see.
const seekSteps = 4

// seek reads pages until one has something for the caller, or enough of them had nothing.
func (s *Service) seek(ctx context.Context, p auth.Principal, q StatesQuery) (found []Listed, next Name, err error) {
	limit := q.Limit
	for range seekSteps {
		page, err := s.store.States(ctx, p.Org, q)
		if err != nil {
			return nil, "", err
		}
		found, next = s.visible(p, q, page.States), page.Next
		if len(found) > limit {
			return found[:limit], found[limit-1].Name, nil
		}
		if len(found) > 0 || next == "" {
			break
		}
		q.After, q.Limit = next, seekPage
	}
	return found, next, nil
}

// seekPage is how many states of a page are looked at, once one had nothing for the caller.
const seekPage = 1000

// visible returns what the caller may see of a page, without what was expected until before now.
func (s *Service) visible(p auth.Principal, q StatesQuery, listed []Listed) []Listed {
	now := s.clock()
	for i := range listed {
		listed[i].Head.Expected = listed[i].Head.Expected.at(now)
	}
	return slices.DeleteFunc(listed, func(one Listed) bool {
		return !p.States.Match(string(one.Name)) || q.Expected && one.Head.Expected == nil
	})
}

// Versions describes a state's versions, the newest first; before continues below that
// number. StateNotFound when the state was never written.
func (s *Service) Versions(ctx context.Context, p auth.Principal, name Name, before uint64,
	limit int) ([]Version, error) {
	ref, err := s.authorize(ctx, p, auth.ReadMetadata, name)
	if err != nil {
		return nil, err
	}
	versions, err := s.store.Versions(ctx, ref, before, limit)
	if err != nil || len(versions) > 0 || before > 0 {
		return versions, err
	}
	head, err := s.store.Head(ctx, ref)
	if err == nil && head.Version.Number == 0 {
		err = fault.New(fault.StateNotFound, "there is no such state")
	}
	return nil, err
}

// Version returns a version with its exact bytes, also of a deleted state; number 0 is the
// newest of a state that exists, and for a run that plans the one that it is pinned to. The
// caller releases it. Faults: StateNotFound, VersionNotFound, VersionPurged, PinGone,
// Overloaded.
func (s *Service) Version(ctx context.Context, p auth.Principal, name Name, number uint64) (Loaded, error) {
	if p.Pinned() && (number == 0 || number == p.Run.Version) {
		return s.pinned(ctx, p, name)
	}
	ref, err := s.authorize(ctx, p, auth.ReadState, name)
	if err != nil {
		return Loaded{}, err
	}
	return s.given(ctx, p, ref, number)
}

// Parsed reads a version that is as Versions lists it, for what masks its sensitive values. The caller has
// acquired memory for it, gives what the document takes beside that, and lets go of the document before both.
// Faults are those of Version, StateEncrypted, StateUnsupported and memory's.
func (s *Service) Parsed(ctx context.Context, p auth.Principal, name Name, known Version,
	memory document.Memory) (*document.Document, error) {
	ref, err := s.authorizeView(ctx, p, auth.ReadState, name)
	if err != nil {
		return nil, err
	}
	return s.parsed(ctx, ref, known, memory)
}

func (s *Service) parsed(ctx context.Context, ref Ref, known Version,
	memory document.Memory) (*document.Document, error) {
	snapshot, err := s.read(ctx, ref, known)
	if err != nil {
		return nil, err
	}
	return document.ParseWithin(snapshot.Body, memory)
}

func (s *Service) version(ctx context.Context, ref Ref, number uint64) (Snapshot, error) {
	if number == 0 {
		return s.store.Current(ctx, ref)
	}
	if snapshot, ok := s.newest(ctx, ref, number); ok {
		return snapshot, nil
	}
	snapshot, err := s.store.Version(ctx, ref, number)
	if fault.Is(err, fault.StateNotFound) {
		err = errNoVersion(number)
	}
	return snapshot, err
}

func errNoVersion(number uint64) error {
	return fault.New(fault.VersionNotFound, "the state has no version %d", number)
}

// newest returns the version if it is the newest one of a state that exists: stores have
// that at hand, and readers share its bytes.
func (s *Service) newest(ctx context.Context, ref Ref, number uint64) (Snapshot, bool) {
	head, err := s.store.Head(ctx, ref)
	if err != nil || !head.Exists() || head.Version.Number != number {
		return Snapshot{}, false
	}
	snapshot, err := s.store.Current(ctx, ref)
	return snapshot, err == nil && snapshot.Number == number
}

// VerifyChain looks at a part of the chain of the organization's audit events. It tells of sequences and
// hashes alone, so that it is of all events for a caller whose states are limited too.
func (s *Service) VerifyChain(ctx context.Context, p auth.Principal, c audit.Check) (audit.Verdict, error) {
	if err := s.gate.Authorize(ctx, p, auth.ReadAudit); err != nil {
		return audit.Verdict{}, err
	}
	return audit.Verify(ctx, s.store, p.Org, c)
}

// Events lists the organization's audit events, the newest first. A caller whose states
// are limited sees those about states within the limits only.
func (s *Service) Events(ctx context.Context, p auth.Principal, q audit.Query) (audit.Page, error) {
	if err := s.gate.Authorize(ctx, p, auth.ReadAudit); err != nil {
		return audit.Page{}, err
	}
	page, err := s.store.Events(ctx, p.Org, q)
	page.Events = slices.DeleteFunc(page.Events, func(e audit.Event) bool { return !p.States.Match(e.State) })
	return page, err
}
