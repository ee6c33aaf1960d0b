package state

import (
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/state/document"
)

// Policies says how an organization wants a state kept. *authfile.Watcher is one.
type Policies interface {
	Policy(org uuid.UUID, state string) Policy
}

// Service is the door to states: every operation names its caller, and touches that
// caller's organization only.
type Service struct {
	store    Store
	gate     *audit.Gate
	reads    *audit.Reads // nil for none on record
	policies Policies
	now      func() time.Time
	log      *slog.Logger
	findings findings
	ended    endings
	seals    seals
	tallies  *tallies
	memory   *budget.Budget // nil for no bound
	heard    []func(context.Context, Moved)
}

// DefaultPolicies gives every organization the same policy.
type DefaultPolicies struct{}

// Policy implements Policies.
func (DefaultPolicies) Policy(uuid.UUID, string) Policy { return DefaultPolicy() }

// NewService returns a service on store. now gives the time of versions and locks.
func NewService(store Store, policies Policies, now func() time.Time, log *slog.Logger) *Service {
	return &Service{store: store, gate: audit.NewGate(store, now), policies: policies, now: now, log: log,
		seals: newSeals(), tallies: newTallies()}
}

// Write is one request to store a state.
type Write struct {
	Body []byte // exact bytes; must not change afterwards
	// LockID is the lock that the writer says it holds; empty for an unlocked write.
	LockID string
	// Release also frees that lock, in the same transaction.
	Release bool
	// If is what the state must be before.
	If Condition
	// RestorePurged stores the bytes even if they were purged from the state. Only who may
	// purge may ask for it.
	RestorePurged bool
	// NewSerial keeps a write without a lock back as a candidate, whatever the organization's
	// guards do, that has the newest version's serial and other bytes.
	NewSerial bool
}

// Get returns the newest version with its bytes, to a run that plans the one that it is
// pinned to. The caller releases it. Faults: StateNotFound, PinGone, Overloaded.
func (s *Service) Get(ctx context.Context, p auth.Principal, name Name) (Loaded, error) {
	return s.Version(ctx, p, name, 0)
}

// Put stores a new version and returns it. Sending again what is already the newest
// version is accepted and makes no new one, unless its bytes are lost: then they are stored
// again. Faults: StateInvalid, LockHeld (as *HeldError), LockNotHeld, LockRequired,
// ConditionFailed, BytesPurged; WriteHeld when a guard kept the body back as a candidate,
// RunFenced when the fence did so with a run's.
func (s *Service) Put(ctx context.Context, p auth.Principal, name Name, w Write) (Version, error) {
	ref, err := s.authorize(ctx, p, auth.WriteState, name)
	if err != nil {
		return Version{}, err
	}
	if err := s.mayRestore(ctx, p, name, w.RestorePurged); err != nil {
		return Version{}, err
	}
	next, err := s.describe(p, ref, w.Body)
	if err != nil {
		return Version{}, err
	}
	var out written
	call := s.call(p, ref)
	for {
		head, err := s.write(ctx, ref, w, next, &call, &out)
		switch {
		case err != nil:
			return Version{}, out.errNotKept(err)
		case out.held != nil && out.fenced != nil:
			s.logFenced(ctx, out.held)
			return Version{}, out.errKept()
		case out.held != nil:
			s.logHeld(ctx, name, out.held)
			return Version{}, errHeld(name, out.held)
		case !out.replay:
			s.logWarned(ctx, head.Version)
			s.logExpected(ctx, out.expected)
			return head.Version, nil
		}
		lost, err := s.isLost(ctx, ref, head.Version.Number, w.LockID)
		if err != nil || !lost {
			return head.Version, cmp.Or(err, out.errThere(head.Version))
		}
		call.lost = head.Version.Number // and decide anew: the state may have moved on
	}
}

// mayRestore refuses who wants purged bytes back, and may not purge any.
func (s *Service) mayRestore(ctx context.Context, p auth.Principal, name Name, wanted bool) error {
	if !wanted {
		return nil
	}
	_, err := s.authorize(ctx, p, auth.PurgeVersions, name)
	return err
}

// write decides on a write. When a guard keeps it back and the same bytes were settled as
// a candidate before, whose bytes are gone, they are kept as another one.
func (s *Service) write(ctx context.Context, ref Ref, w Write, next Version, call *call, out *written) (Head, error) {
	for {
		head, err := s.decide(ctx, ref, w.Body, call, func() Decide { return call.decideWrite(next, w, out) })
		if err != nil || out.held == nil {
			return head, err
		}
		kept, err := s.describedCandidate(ctx, ref, out.held.ID)
		if err != nil || kept.Status == Open {
			return head, err
		}
		call.again++
	}
}

// isLost reports whether the newest version, which a replay is about to be told is there,
// can't be read because its bytes are damaged. Its fault is Overloaded, when there is no
// memory to find out.
func (s *Service) isLost(ctx context.Context, ref Ref, number uint64, lockID string) (bool, error) {
	err := s.probe(ctx, ref, lockID)
	if fault.Is(err, fault.Overloaded) {
		return false, err
	}
	if !fault.Is(err, fault.StateCorrupt) {
		return false, nil
	}
	s.log.WarnContext(ctx, "a version's bytes are lost; they are asked for again", "version", number, "error", err)
	return true, nil
}

// probe reads the newest version, to find out whether that can be done.
func (s *Service) probe(ctx context.Context, ref Ref, lockID string) error {
	if _, some, err := s.cached(ctx, ref, 0); some || err != nil {
		return err
	}
	l, err := s.loadWith(ctx, ref, 0, func(size int64) (budget.Hold, error) {
		return s.acquireToWrite(ctx, ref, size, withID(lockID))
	})
	l.Release()
	return err
}

// describe reads what a version of a state records about its body and its writer.
func (s *Service) describe(p auth.Principal, ref Ref, body []byte) (Version, error) {
	digest := sha256.Sum256(body)
	summary, resources, err := s.surveyed(ref, body, digest)
	if err != nil {
		return Version{}, err
	}
	return Version{
		Serial:           summary.Serial,
		Lineage:          summary.Lineage,
		TerraformVersion: summary.TerraformVersion,
		Encrypted:        summary.Encrypted,
		Resources:        resources,
		Size:             int64(len(body)),
		Digest:           digest,
		CreatedAt:        s.clock(),
		Author:           Author{KeyID: p.KeyID, Subject: p.Subject, Address: p.Address, Request: p.Request},
	}, nil
}

// survey is Scan and what Version.Resources says in one pass, as long as the body is a state whose resources
// can be counted; of any other, Scan has to say what it is.
func survey(body []byte) (Summary, int, error) {
	var f fields
	if counts, err := document.CountAlong(body, f.member); err == nil {
		return f.summary, counts.Managed.Instances, nil
	}
	summary, err := Scan(body)
	return summary, -1, err
}

// Delete takes the state away. Its versions stay in the store, for the organization's
// grace period, and Undelete brings it back. Deleting it again is accepted. Faults:
// StateNotFound when it was never written, LockHeld, LockNotHeld, LockRequired.
func (s *Service) Delete(ctx context.Context, p auth.Principal, name Name, lockID string) error {
	return s.DeleteIf(ctx, p, name, lockID, Condition{})
}

// DeleteIf is Delete of a state that is as the condition says; fault.ConditionFailed else.
func (s *Service) DeleteIf(ctx context.Context, p auth.Principal, name Name, lockID string, only Condition) error {
	ref, err := s.authorize(ctx, p, auth.WriteState, name)
	if err != nil {
		return err
	}
	call := s.call(p, ref)
	_, err = s.update(ctx, ref, nil, call.actor, call.decideDelete(lockID, only))
	return err
}

// Undelete brings a deleted state back as it was. To say so again is accepted as long as
// nothing was written since. Faults: StateNotFound when there is nothing to bring back,
// StateExists when it is there, LockHeld.
func (s *Service) Undelete(ctx context.Context, p auth.Principal, name Name) (Version, error) {
	return s.UndeleteHeld(ctx, p, name, "")
}

// UndeleteHeld is Undelete by who holds the lock of this ID, which stays; empty for none.
func (s *Service) UndeleteHeld(ctx context.Context, p auth.Principal, name Name, lockID string) (Version, error) {
	ref, err := s.authorize(ctx, p, auth.WriteState, name)
	if err != nil {
		return Version{}, err
	}
	call := s.call(p, ref)
	head, err := s.update(ctx, ref, nil, call.actor, call.decideUndelete(lockID))
	return head.Version, err
}

// Ready says whether a write would be accepted now. It needs no caller: it tells nothing
// about any organization.
func (s *Service) Ready(ctx context.Context) error { return s.store.Ready(ctx) }

// authorize comes first in every operation on a state.
func (s *Service) authorize(ctx context.Context, p auth.Principal, right auth.Right, name Name) (Ref, error) {
	if _, err := ParseName(string(name)); err != nil {
		return Ref{}, cmp.Or(s.gate.Authorize(ctx, p, right), err)
	}
	return Ref{Org: p.Org, Name: name}, s.gate.AuthorizeOn(ctx, p, right, string(name))
}

// authorizeView is authorize for what is made of a state's bytes with sensitive values masked.
func (s *Service) authorizeView(ctx context.Context, p auth.Principal, right auth.Right, name Name) (Ref, error) {
	if _, err := ParseName(string(name)); err != nil {
		return Ref{}, cmp.Or(s.gate.Authorize(ctx, p, right), err)
	}
	return Ref{Org: p.Org, Name: name}, s.gate.AuthorizeView(ctx, p, right, string(name))
}

// authorizeShown is authorizeView, and authorize where sensitive values are to be shown as they are.
func (s *Service) authorizeShown(ctx context.Context, p auth.Principal, right auth.Right, name Name,
	sensitive bool) (Ref, error) {
	if sensitive {
		return s.authorize(ctx, p, right, name)
	}
	return s.authorizeView(ctx, p, right, name)
}

// Permit returns why the caller may not use a right on the state; nil if they may. Every
// operation finds out by itself: this is for who wants to know before a body is read.
func (s *Service) Permit(ctx context.Context, p auth.Principal, right auth.Right, name Name) error {
	_, err := s.authorize(ctx, p, right, name)
	return err
}

// PermitAll is Permit for what is about no single state.
func (s *Service) PermitAll(ctx context.Context, p auth.Principal, right auth.Right) error {
	return s.gate.Authorize(ctx, p, right)
}

// call is what decisions need to know of this one.
func (s *Service) call(p auth.Principal, ref Ref) call {
	c := s.ownCall(ref)
	c.actor = audit.ActorOf(p)
	if p.Run != nil {
		c.run, c.pinned = &RunRef{ID: p.Run.ID, Epoch: p.Run.Epoch}, p.Run.Version
		c.removes, c.of = p.Run.Removes, p.Run.Resources
	}
	return c
}

func (s *Service) logHeld(ctx context.Context, name Name, c *Candidate) {
	s.findings.count(c.Warnings, true)
	s.log.WarnContext(ctx, "a guard kept a write back", "candidate", c.ID, "findings", c.Warnings.String(),
		"decide", audit.CandidateCommands(string(name), c.ID))
}

func (s *Service) logExpected(ctx context.Context, found Warnings) {
	if found != 0 {
		s.log.InfoContext(ctx, "a write did what was expected", "findings", found.String())
	}
}

func (s *Service) logFenced(ctx context.Context, c *Candidate) {
	s.log.WarnContext(ctx, "a fenced run's write was kept as a candidate", "candidate", c.ID, "why", c.Origin.Reason)
}

func (s *Service) logWarned(ctx context.Context, v Version) {
	if v.Warnings != 0 {
		s.findings.count(v.Warnings, false)
		s.log.WarnContext(ctx, "a write looks wrong", "version", v.Number, "findings", v.Warnings.String())
	}
}

// clock gives times as the store keeps them.
func (s *Service) clock() time.Time { return storedTime(s.now()) }
