package dual

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// Recorded implements inventory.Store: what is owed to a side is as good as recorded.
func (s *Store) Recorded(ctx context.Context, org uuid.UUID, id string) (inventory.Remembered, bool, error) {
	if err := s.enter(); err != nil {
		return inventory.Remembered{}, false, err
	}
	defer s.leave()
	r, found, err := s.outbox.find(ctx, org, id)
	if err != nil {
		return inventory.Remembered{}, false, err
	}
	if found && !r.undecided() {
		return r.remembered(), true, nil
	}
	remembered, ok, causes := s.rememberedBySides(ctx, org, id)
	if !ok && len(causes) == len(s.sides) {
		return inventory.Remembered{}, false, errBothDown(errors.Join(causes...))
	}
	return remembered, ok, nil
}

// again answers a retry that a side remembers. Neither side is sent the batch then: one
// may have forgotten it, because its index was lost or the records came from another
// engine, and would record it anew.
//
// A side that can't be asked is passed over. If it alone remembers, the other records the
// batch once more; conclude says so in the log when both have answered.
func (s *Store) again(ctx context.Context, batch inventory.Batch) (inventory.Receipt, bool, error) {
	// One that is to be asked whether there is room must not be asked for what is there.
	if !batch.Keyed() && (batch.New || batch.Allow == nil) {
		return inventory.Receipt{}, false, nil
	}
	receipt, known, err := s.askWhoRemembers(ctx, batch)
	if !known && err == nil {
		err = ctx.Err()
	}
	return receipt, known, err
}

// askWhoRemembers answers a batch that a side remembers. A side that has it goes before one
// that knows its ID for another batch, which is a refusal only if both sides were asked.
func (s *Store) askWhoRemembers(ctx context.Context, batch inventory.Batch) (inventory.Receipt, bool, error) {
	var mismatch, away error
	for _, d := range s.sides {
		found, ok, err := s.rememberedAs(ctx, d, batch)
		if err != nil {
			away = errors.Join(away, err)
		}
		if err != nil || !ok {
			continue
		}
		receipt, err := found.Again(batch)
		if err == nil {
			return receipt, true, nil
		}
		mismatch = err
	}
	if mismatch != nil && away != nil {
		return inventory.Receipt{}, false, errDoubt(errors.Join(mismatch, away))
	}
	return inventory.Receipt{}, mismatch != nil, mismatch
}

// rememberedAs asks a side for a batch by its ID, and by the other one that it goes by where the
// side knows that ID for another batch.
func (s *Store) rememberedAs(ctx context.Context, d *side, batch inventory.Batch) (inventory.Remembered, bool, error) {
	first, ok, err := s.rememberedBy(ctx, d, batch.Org, batch.ID)
	if err != nil || !ok || first.Digest == batch.Digest {
		return first, ok, err
	}
	found, ok, err := s.rememberedBy(ctx, d, batch.Org, substitute(batch))
	if err != nil || ok {
		return found, ok, err
	}
	return first, true, nil
}

// rememberedBySides asks the sides in turn, CSV first; causes are why those who could not
// be asked could not.
func (s *Store) rememberedBySides(ctx context.Context, org uuid.UUID,
	id string) (found inventory.Remembered, ok bool, causes []error) {
	for _, d := range s.sides {
		found, ok, err := s.rememberedBy(ctx, d, org, id)
		if err != nil {
			causes = append(causes, err)
		}
		if err == nil && ok {
			return found, true, causes
		}
	}
	return inventory.Remembered{}, false, causes
}

// rememberedBy asks a side, unless it is slow to fail.
func (s *Store) rememberedBy(ctx context.Context, d *side, org uuid.UUID,
	id string) (inventory.Remembered, bool, error) {
	if d.isSlow() {
		return inventory.Remembered{}, false, fault.New(fault.StoreUnavailable, "%v does not answer", d.name)
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.SideTimeout)
	defer cancel()
	return d.store.Recorded(ctx, org, id)
}

func (r row) remembered() inventory.Remembered {
	return inventory.Remembered{
		Receipt: inventory.Receipt{Request: r.request, At: r.at, Count: r.count, Replayed: true},
		Digest:  r.digest,
	}
}
