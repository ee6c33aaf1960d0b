package state

import (
	"context"
	"slices"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Page is a page of states that the caller may see.
type Page struct {
	States []Listed
	// Next continues behind this page; empty when there is nothing more.
	Next Name
}

// States lists the caller's states: those whose names are within the caller's patterns. A
// page may have fewer than q.Limit states, and still be followed by more.
func (s *Service) States(ctx context.Context, p auth.Principal, q StatesQuery) (Page, error) {
	return s.page(ctx, p, q)
}

// seekPage is how many names are looked at in one go on the way to one that the caller may
// see.
const seekPage = 1000

// page seeks on while it has found nothing: Next names a state, which must be one that the
// caller may see.
func (s *Service) page(ctx context.Context, p auth.Principal, q StatesQuery) (Page, error) {
	if err := s.enterOrg(ctx, p, auth.ReadMetadata); err != nil {
		return Page{}, err
	}
	var page Page
	limit, more := q.Limit, true
	for ; more && len(page.States) == 0; q.Limit = seekPage {
		listed, err := s.store.States(ctx, p.Org, q)
		if err != nil {
			return Page{}, err
		}
		if more = len(listed) == q.Limit; more {
			q.After = listed[len(listed)-1].Name
		}
		page.States = visible(p, listed)
	}
	if n := min(len(page.States), limit); n > 0 && (more || n < len(page.States)) {
		page.States, page.Next = page.States[:n], page.States[n-1].Name
	}
	return page, nil
}

func visible(p auth.Principal, listed []Listed) []Listed {
	return slices.DeleteFunc(listed, func(one Listed) bool { return !p.States.Match(string(one.Name)) })
}

// Versions describes a state's versions, the newest first; before continues below that
// number. StateNotFound when the state was never written.
func (s *Service) Versions(ctx context.Context, p auth.Principal, name Name, before uint64, limit int) ([]Version, error) {
	ref, err := s.enter(ctx, p, auth.ReadMetadata, name)
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
// newest of a state that exists. Faults: StateNotFound, VersionNotFound, VersionPurged.
func (s *Service) Version(ctx context.Context, p auth.Principal, name Name, number uint64) (Snapshot, error) {
	ref, err := s.enter(ctx, p, auth.ReadState, name)
	if err != nil {
		return Snapshot{}, err
	}
	return s.version(ctx, ref, number)
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
		err = fault.New(fault.VersionNotFound, "the state has no version %d", number)
	}
	return snapshot, err
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

// Purge destroys a version's bytes for good, because of a secret in them, say. Faults:
// VersionNotFound.
func (s *Service) Purge(ctx context.Context, p auth.Principal, name Name, number uint64, reason string) error {
	ref, err := s.enter(ctx, p, auth.PurgeVersions, name)
	if err != nil {
		return err
	}
	call := s.call(p, ref)
	event := call.event(audit.VersionPurge)
	event.At, event.Version, event.Reason = call.at, number, reason
	err = s.store.Purge(ctx, ref, number, event)
	if fault.Is(err, fault.StateNotFound) {
		err = fault.New(fault.VersionNotFound, "the state has no version %d", number)
	}
	return err
}

// Events lists the organization's audit events, the newest first. A caller whose states
// are limited sees those about states within the limits only; so a page may be shorter
// than q.Limit although more follow below its last Sequence, which next is: 0 at the end.
func (s *Service) Events(ctx context.Context, p auth.Principal, q audit.Query) (events []audit.Event, next uint64, err error) {
	if err := s.enterOrg(ctx, p, auth.ReadAudit); err != nil {
		return nil, 0, err
	}
	all, err := s.store.Events(ctx, p.Org, q)
	if err != nil {
		return nil, 0, err
	}
	if len(all) == q.Limit {
		next = all[len(all)-1].Sequence
	}
	for _, event := range all {
		if p.States.Match(event.State) {
			events = append(events, event)
		}
	}
	return events, next, nil
}
