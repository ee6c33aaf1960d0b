package seal

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// Turn has it use other master keys from now on: those of the file after AddMaster. What is remembered stays.
func (s *Sealer) Turn(master *Master) {
	s.rings.mu.Lock()
	defer s.rings.mu.Unlock()
	s.rings.newest = master
}

// Rotate makes a new data key for an organization, which seals from now on. What was sealed
// before stays as it is, and opens. Other processes seal with the new key within minutes. Of
// several calls at once some may share one new key.
func (s *Sealer) Rotate(ctx context.Context, org uuid.UUID) error {
	return s.rings.exclusively(ctx, org, func() error {
		wrapped, err := s.rings.keys.DataKeys(ctx, org)
		if err != nil {
			return fmt.Errorf("get the organization's data keys: %w", err)
		}
		next := uint32(1)
		if len(wrapped) > 0 {
			next = wrapped[len(wrapped)-1].Number + 1
		}
		key, err := s.rings.master().newDataKey(org, next)
		if err != nil {
			return err
		}
		if _, err := s.rings.keys.AddDataKey(ctx, org, key); err != nil {
			return fmt.Errorf("add a data key: %w", err)
		}
		return nil
	})
}

// Rewrap wraps those data keys of an organization with the newest master key that are wrapped
// with an older one, and returns how many these were. When it returned 0 for every
// organization, the older master keys may be taken out of the file.
func (s *Sealer) Rewrap(ctx context.Context, org uuid.UUID) (changed int, err error) {
	err = s.rings.exclusively(ctx, org, func() error {
		wrapped, err := s.rings.keys.DataKeys(ctx, org)
		if err != nil {
			return fmt.Errorf("get the organization's data keys: %w", err)
		}
		for _, was := range wrapped {
			if s.rings.master().wrapsNow(org, was) {
				continue
			}
			if _, err := s.rings.rewrap(ctx, org, was); err != nil {
				return err
			}
			changed++
		}
		return nil
	})
	return changed, err
}

// rewrap wraps a data key with the newest master key, and returns what is kept of it then.
func (r *rings) rewrap(ctx context.Context, org uuid.UUID, was WrappedKey) (kept WrappedKey, err error) {
	key, err := r.master().unwrap(org, was)
	if err != nil {
		return kept, err
	}
	is, err := r.master().wrap(org, key.number, key.id, key.key)
	if err != nil {
		return kept, err
	}
	if kept, err = r.keys.ReplaceDataKey(ctx, org, was, is); err != nil {
		return kept, fmt.Errorf("rewrap data key %d: %w", was.Number, err)
	}
	// Somebody else may have been first, and has the same key wrapped the same way then.
	if !bytes.Equal(kept.Wrapped, is.Wrapped) && !r.master().wrapsNow(org, kept) {
		return kept, fault.New(fault.StoreUnavailable,
			"the organization's data key %d was changed meanwhile by a process with another master file", was.Number)
	}
	return kept, nil
}

// exclusively has change alter an organization's keys while no other caller of this process
// loads them, and forgets what is known of them.
func (r *rings) exclusively(ctx context.Context, org uuid.UUID, change func() error) error {
	if err := (place{org: org, kind: "key"}).check(); err != nil {
		return err
	}
	release, err := r.acquire(ctx, org)
	if err != nil {
		return err
	}
	defer release()
	defer r.remember(org, nil)
	return change()
}

// newDataKey makes a data key, and wraps it.
func (m *Master) newDataKey(org uuid.UUID, number uint32) (WrappedKey, error) {
	var id keyID
	_, _ = rand.Read(id[:]) // never fails
	return m.wrap(org, number, id, newKey())
}
