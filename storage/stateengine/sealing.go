package stateengine

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
)

// markOfStates is what the master keys' mark in a database says.
const markOfStates = "states are sealed"

// Mark is what a database has beside data keys, which tells at once whose master keys have wrapped them.
type Mark struct {
	Mark []byte // nil for none
	Keys bool   // organizations have data keys
}

// MarkOf returns the mark of master keys.
func MarkOf(master *seal.Master) []byte { return master.Mark(markOfStates) }

// Check returns why what a database has can't be opened with these master keys.
func (m Mark) Check(master *seal.Master) error {
	switch {
	case master == nil:
		return fault.New(fault.SealKeyMissing, "states are sealed, and there is no master key")
	case m.Mark == nil && !m.Keys:
		return nil // nothing is sealed yet
	case m.Mark == nil:
		return fault.New(fault.SealCorrupt,
			"organizations have keys for their states, and nothing says whose master keys have wrapped them: the database was "+
				"changed")
	case !master.IsMark(m.Mark, markOfStates):
		return fault.New(fault.SealKeyMissing, "the states are sealed under another key than those of the master key file: "+
			"it is another file, or the database was changed")
	}
	return nil
}

// Rewrap wraps the data keys of organizations with the newest master key, and returns how many it was.
func (s *Seals) Rewrap(ctx context.Context, orgs []uuid.UUID) (changed int, err error) {
	for _, org := range orgs {
		n, one := s.sealer.Rewrap(ctx, org)
		if changed += n; one != nil {
			err = errors.Join(err, fmt.Errorf("organization %v: %w", org, one))
		}
	}
	return changed, err
}

// Check says which organizations' data keys can't be opened.
func (s *Seals) Check(ctx context.Context, orgs []uuid.UUID) (failed map[uuid.UUID]error) {
	failed = map[uuid.UUID]error{}
	for _, org := range orgs {
		keys, err := s.sealer.Known(ctx, org)
		if err == nil {
			err = keys.Check()
		}
		if err != nil {
			failed[org] = err
		}
	}
	return failed
}
