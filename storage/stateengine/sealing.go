package stateengine

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
)

// What a store says of itself.
const (
	statusSealing = "sealing"
	statusSealed  = "sealed"
	markOfStatus  = "states are"
)

// SealStatus is what a database says of how far it is sealed.
type SealStatus struct {
	Status string // empty for a database that is not
	Mark   []byte
	Keys   bool // organizations have data keys
}

// Marked returns what a database is to say of a mode.
func Marked(master *seal.Master, mode SealMode) SealStatus {
	status := map[SealMode]string{Sealing: statusSealing, Sealed: statusSealed}[mode]
	return SealStatus{Status: status, Mark: master.Mark(markOfStatus, status)}
}

// Mode returns what it says, if that can be believed. master is nil where there is none.
func (s SealStatus) Mode(master *seal.Master) (SealMode, error) {
	mode, known := map[string]SealMode{"": Unsealed, statusSealing: Sealing, statusSealed: Sealed}[s.Status]
	switch {
	case s.Status == "" && !s.Keys:
		return Unsealed, nil
	case master == nil:
		return 0, fault.New(fault.SealKeyMissing, "the states are sealed, and can't be read without the master key file: "+
			"bring it back, or say in seal.master_key_file where it is")
	case s.Status == "":
		return 0, fault.New(fault.SealCorrupt,
			"organizations have keys for their states, and nothing says that these are sealed: the database was changed")
	case !known, !master.IsMark(s.Mark, markOfStatus, s.Status):
		return 0, fault.New(fault.SealKeyMissing, "what says that the states are %.20s is not of a key of the master key file: "+
			"it is another file, or the database was changed", s.Status)
	}
	return mode, nil
}

// CannotSeal reports whether an error of Mode is of a master key that is not there.
func CannotSeal(err error) bool { return fault.Is(err, fault.SealKeyMissing) }

// SealProgress says how far the sealing of what is there has come.
type SealProgress struct {
	Done, Total int64 // versions and candidates
}

// Sealable is a database of which what is plain is sealed while it is used.
type Sealable interface {
	// SetSealing has the database say it, and the Seals know it, so that nothing plain is written any more.
	SetSealing(ctx context.Context, mode SealMode) error
	// Plain counts what is not sealed.
	Plain(ctx context.Context) (int64, error)
	// StatesAfter returns states of any organization behind one, at most limit, in order.
	StatesAfter(ctx context.Context, after state.Ref, limit int) ([]state.Ref, error)
	// SealSome seals some of what a state has that is plain, and returns how many that were; none when all is sealed.
	SealSome(ctx context.Context, in Envelope) (int, error)
	// Overwrite destroys what the database's files still have of what was replaced.
	Overwrite(ctx context.Context) error
}

const statesAtOnce = 500

// sealRounds bounds how often what is there is gone through: others may have written plain rows meanwhile, who did
// not know yet.
const sealRounds = 100

// SealAll seals what is plain, piece by piece. Whatever ends it, it goes on where it was when it is called again.
func (s *Seals) SealAll(ctx context.Context, in Sealable, tell func(SealProgress)) error {
	if s.sealer == nil {
		return errNoMaster()
	}
	if s.Mode() == Sealed {
		return nil
	}
	if err := in.SetSealing(ctx, Sealing); err != nil {
		return err
	}
	left, err := in.Plain(ctx)
	if err != nil {
		return err
	}
	p := SealProgress{Total: left}
	for range sealRounds {
		tell(p)
		if err := s.sealRound(ctx, in, &p, tell); err != nil {
			return err
		}
		if left, err = in.Plain(ctx); err != nil {
			return err
		}
		if left == 0 {
			break
		}
	}
	if left > 0 {
		return fault.New(fault.StoreUnavailable, "%d rows are not sealed: others write plain ones all the time", left)
	}
	if err := in.Overwrite(ctx); err != nil {
		return err
	}
	return in.SetSealing(ctx, Sealed)
}

func (s *Seals) sealRound(ctx context.Context, in Sealable, p *SealProgress, tell func(SealProgress)) error {
	var after state.Ref
	for {
		refs, err := in.StatesAfter(ctx, after, statesAtOnce)
		if err != nil || len(refs) == 0 {
			return err
		}
		for _, ref := range refs {
			if err := s.sealState(ctx, in, ref, p, tell); err != nil {
				return err
			}
		}
		after = refs[len(refs)-1]
	}
}

func (s *Seals) sealState(ctx context.Context, in Sealable, ref state.Ref, p *SealProgress,
	tell func(SealProgress)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := s.Writing(ctx, ref)
		if err != nil {
			return err
		}
		n, err := in.SealSome(ctx, e)
		if err != nil || n == 0 {
			return err
		}
		p.Done += int64(n)
		p.Total = max(p.Total, p.Done)
		tell(*p)
	}
}

// Rewrap wraps the data keys of organizations with the newest master key, and returns how many it was.
func (s *Seals) Rewrap(ctx context.Context, orgs []uuid.UUID) (changed int, err error) {
	if s.sealer == nil {
		return 0, nil
	}
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
		if s.sealer == nil {
			failed[org] = errNoMaster()
			continue
		}
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
