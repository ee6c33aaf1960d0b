package runs

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// errRows says that an organization has as many runs on record as it may have.
var errRows = errors.New("runs: there are as many runs on record as there may be")

// leaving is how many runs make room for a new one at most: of an organization whose limit was
// lowered, more go than come.
const leaving = 10

// withRoom makes a run, unless its organization has as much of something as it may have. Runs on
// record are no reason: the oldest that ended go. Its fault: RunsFull.
func (s *Service) withRoom(ctx context.Context, org uuid.UUID,
	create func(room func(Tally) error) (Run, error)) (Run, error) {
	over := 0
	made, err := create(func(has Tally) error {
		over = has.Stored + 1 - s.Limits.Stored
		if err := s.room(has); err != nil || over <= 0 {
			return err
		}
		return errRows
	})
	if !errors.Is(err, errRows) {
		return made, err
	}
	if err := s.forget(ctx, org, min(over, leaving)); err != nil {
		return Run{}, err
	}
	return create(s.room)
}

// Holds returns what an organization has of runs, and what it may have. It is for showing.
func (s *Service) Holds(ctx context.Context, org uuid.UUID) (Tally, Limits, error) {
	has, err := s.Store.Tally(ctx, org)
	return has, s.Limits, err
}

// room refuses an organization that has as much of what goes on as it may have.
func (s *Service) room(has Tally) error {
	switch l := s.Limits; {
	case s.Scarce != nil && s.Scarce():
		return fault.New(fault.StoreFull,
			"the disk has little more than its reserve left, which is for what goes on already; no run begins, an operator "+
				"must make room")
	case has.Bytes >= l.StoredBytes:
		return fault.New(fault.RunsFull,
			"the logs and files of the organization's runs take %d bytes, and may take %d: wait until older ones are removed",
			has.Bytes, l.StoredBytes)
	case has.Waiting >= l.Waiting:
		return fault.New(fault.RunsFull, "%d runs are waiting, and an organization may have %d: wait, or cancel some",
			has.Waiting, l.Waiting)
	}
	return nil
}

// forget removes the runs of an organization that are missed the least.
func (s *Service) forget(ctx context.Context, org uuid.UUID, n int) error {
	refs, err := s.Store.Oldest(ctx, org, n)
	if err != nil {
		return err
	}
	if len(refs) == 0 {
		return fault.New(fault.RunsFull, "the organization has %d runs, and none of them has ended: wait, or cancel some",
			s.Limits.Stored)
	}
	for _, ref := range refs {
		if err := s.remove(ctx, ref); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a run that has ended, once what is to follow it is made.
func (s *Service) remove(ctx context.Context, ref Ref) error {
	run, err := s.Store.Run(ctx, ref)
	if err == nil && run.Follow.waits() {
		err = s.follow(ctx, run)
	}
	if err != nil {
		return ignore(err, fault.RunNotFound)
	}
	return s.Store.Remove(ctx, ref)
}
