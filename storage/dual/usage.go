package dual

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// Usage implements inventory.Store: what CSV has, which is on the same disk as states, and
// what is still owed to it. What the database has is the same once more, on other disks.
func (s *Store) Usage(ctx context.Context, org uuid.UUID) (int64, error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	return s.usage(ctx, s.lane(org))
}

func (s *Store) usage(ctx context.Context, l *lane) (int64, error) {
	used, err := s.sides[csv].store.Usage(ctx, l.org)
	return used + l.owedBytes(csv), err
}

// allow asks whether the batch may be recorded, also while CSV fails: MySQL takes it then,
// and what CSV is owed counts. The sides are not to ask once more: one
// would refuse what the other has.
func (s *Store) allow(l *lane, batch inventory.Batch) (inventory.Batch, error) {
	if batch.Allow == nil {
		return batch, nil
	}
	used, err := s.usage(context.Background(), l)
	if err != nil {
		s.o.Log.Debug("what an organization has in CSV is not known", "org", l.org, "error", err)
	}
	err = batch.MayAdd(used, batch.Bytes())
	batch.Allow = nil
	return batch, err
}
