package state

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Service is the door to states: every operation names its caller, and touches that
// caller's organization only.
type Service struct {
	store Store
	now   func() time.Time
	log   *slog.Logger
}

// NewService returns a service on store. now gives the time of versions and locks.
func NewService(store Store, now func() time.Time, log *slog.Logger) *Service {
	return &Service{store: store, now: now, log: log}
}

// Write is one request to store a state.
type Write struct {
	Body []byte // exact bytes; must not change afterwards
	// LockID is the lock that the writer says it holds; empty for an unlocked write.
	LockID string
	// Release also frees that lock, in the same transaction.
	Release bool
}

// Get returns the newest version with its bytes, or fault.StateNotFound.
func (s *Service) Get(ctx context.Context, p auth.Principal, name Name) (Snapshot, error) {
	ref, err := s.enter(p, auth.ReadState, name)
	if err != nil {
		return Snapshot{}, err
	}
	return s.store.Current(ctx, ref)
}

// Size returns how many bytes Get would return now, 0 where it has none: so there can be
// room for a large state before it is read.
func (s *Service) Size(ctx context.Context, p auth.Principal, name Name) (int64, error) {
	ref, err := s.enter(p, auth.ReadState, name)
	if err != nil {
		return 0, err
	}
	head, err := s.store.Head(ctx, ref)
	if err != nil || !head.Exists() {
		return 0, err
	}
	return head.Version.Size, nil
}

// Put stores a new version and returns it. Sending again what is already the newest
// version is accepted and makes no new one. Faults: StateInvalid, LockHeld (as
// *HeldError), LockNotHeld.
func (s *Service) Put(ctx context.Context, p auth.Principal, name Name, w Write) (Version, error) {
	ref, err := s.enter(p, auth.WriteState, name)
	if err != nil {
		return Version{}, err
	}
	next, err := s.describe(p, w.Body)
	if err != nil {
		return Version{}, err
	}
	var replay bool
	head, err := s.store.Update(ctx, ref, w.Body, decideWrite(next, w.LockID, w.Release, &replay))
	if err == nil && replay {
		head, err = s.confirm(ctx, ref, head, w, next)
	}
	return head.Version, err
}

// confirm makes sure that what a replay was told is there can be read, and writes it again
// when its bytes are lost.
func (s *Service) confirm(ctx context.Context, ref Ref, head Head, w Write, next Version) (Head, error) {
	_, err := s.store.Current(ctx, ref)
	if !fault.Is(err, fault.StateCorrupt) {
		return head, nil
	}
	s.log.WarnContext(ctx, "a version's bytes are lost; the client sent them again", "version", head.Version.Number, "error", err)
	if w.Release && head.Lock == nil {
		w.LockID = "" // released by the first try
	}
	return s.store.Update(ctx, ref, w.Body, decideRewrite(next, w.LockID, w.Release))
}

// describe reads what a version records about its body and its writer.
func (s *Service) describe(p auth.Principal, body []byte) (Version, error) {
	summary, err := Scan(body)
	if err != nil {
		return Version{}, err
	}
	return Version{
		Serial:           summary.Serial,
		Lineage:          summary.Lineage,
		TerraformVersion: summary.TerraformVersion,
		Encrypted:        summary.Encrypted,
		Size:             int64(len(body)),
		Digest:           sha256.Sum256(body),
		CreatedAt:        s.clock(),
		Author:           Author{KeyID: p.KeyID, Address: p.Address, Request: p.Request},
	}, nil
}

// Delete takes the state away; its versions stay in the store. Deleting it again is
// accepted. Faults: StateNotFound when it was never written, LockHeld, LockNotHeld.
func (s *Service) Delete(ctx context.Context, p auth.Principal, name Name, lockID string) error {
	ref, err := s.enter(p, auth.WriteState, name)
	if err != nil {
		return err
	}
	_, err = s.store.Update(ctx, ref, nil, decideDelete(lockID))
	return err
}

// Lock takes the lock, also on a state that has no data yet. Faults: LockHeld, as
// *HeldError.
func (s *Service) Lock(ctx context.Context, p auth.Principal, name Name, info LockInfo) (Head, error) {
	ref, err := s.enter(p, auth.LockState, name)
	if err != nil {
		return Head{}, err
	}
	return s.store.Update(ctx, ref, nil, decideLock(info, p.KeyID, s.clock()))
}

// Unlock frees the lock with this info's ID. Faults: LockMismatch, as *HeldError when
// somebody else holds it.
func (s *Service) Unlock(ctx context.Context, p auth.Principal, name Name, info LockInfo) error {
	var released *Lock
	right := auth.LockState
	if info.Forced() {
		right = auth.ForceUnlock
	}
	ref, err := s.enter(p, right, name)
	if err != nil {
		return err
	}
	if _, err := s.store.Update(ctx, ref, nil, decideUnlock(info.ID, &released)); err != nil {
		return err
	}
	if released != nil && info.Forced() {
		s.logForced(ctx, p, released)
	}
	return nil
}

// ForceUnlock frees whatever is held, and is content when nothing is: Terraform's
// force-unlock names no lock.
func (s *Service) ForceUnlock(ctx context.Context, p auth.Principal, name Name) error {
	var released *Lock
	ref, err := s.enter(p, auth.ForceUnlock, name)
	if err != nil {
		return err
	}
	if _, err := s.store.Update(ctx, ref, nil, decideForceUnlock(&released)); err != nil {
		return err
	}
	if released != nil {
		s.logForced(ctx, p, released)
	}
	return nil
}

func (s *Service) logForced(ctx context.Context, p auth.Principal, lock *Lock) {
	s.log.WarnContext(ctx, "lock forced open",
		"lock_id", lock.Info.ID, "holder", lock.Info.Who, "operation", lock.Info.Operation,
		"held_since", lock.Since, "key", p.KeyID)
}

// Holder returns the held lock, nil when nobody holds it.
func (s *Service) Holder(ctx context.Context, p auth.Principal, name Name) (*Lock, error) {
	ref, err := s.enter(p, auth.ReadMetadata, name)
	if err != nil {
		return nil, err
	}
	head, err := s.store.Head(ctx, ref)
	return head.Lock, err
}

// Holds reports whether lockID is the lock that is held now. Who sends it is spared limits
// that others meet, so a wrong ID, and a caller who may not lock, is told no more than that.
func (s *Service) Holds(ctx context.Context, p auth.Principal, name Name, lockID string) bool {
	ref, err := s.enter(p, auth.LockState, name)
	if err != nil || lockID == "" {
		return false
	}
	head, err := s.store.Head(ctx, ref)
	return err == nil && head.Lock != nil && head.Lock.Info.ID == lockID
}

// Ready says whether a write would be accepted now. It needs no caller: it tells nothing
// about any organization.
func (s *Service) Ready(ctx context.Context) error { return s.store.Ready(ctx) }

// enter is the one gate of every operation: who is calling, and whether they may.
func (s *Service) enter(p auth.Principal, right auth.Right, name Name) (Ref, error) {
	if err := p.May(right); err != nil {
		return Ref{}, err
	}
	if _, err := ParseName(string(name)); err != nil {
		return Ref{}, err
	}
	if err := p.MayOn(right, string(name)); err != nil {
		return Ref{}, err
	}
	return Ref{Org: p.Org, Name: name}, nil
}

// Permit returns why the caller may not use a right on the state; nil if they may. Every
// operation finds out by itself: this is for who wants to know before a body is read.
func (s *Service) Permit(p auth.Principal, right auth.Right, name Name) error {
	_, err := s.enter(p, right, name)
	return err
}

// clock gives times as the store keeps them.
func (s *Service) clock() time.Time { return storedTime(s.now()) }
