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
	found, ok, _ := s.rememberedBySides(ctx, batch.Org, batch.ID)
	if !ok {
		return inventory.Receipt{}, false, ctx.Err()
	}
	receipt, err := found.Again(batch)
	return receipt, true, err
}

// rememberedBySides asks the sides in turn, CSV first; causes are why those who could not
// be asked could not.
func (s *Store) rememberedBySides(ctx context.Context, org uuid.UUID, id string) (found inventory.Remembered, ok bool, causes []error) {
	for _, d := range s.sides {
		if d.isSlow() {
			causes = append(causes, fault.New(fault.StoreUnavailable, "%v does not answer", d.name))
			continue
		}
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

func (s *Store) rememberedBy(ctx context.Context, d *side, org uuid.UUID, id string) (inventory.Remembered, bool, error) {
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
