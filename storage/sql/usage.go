package sqluploads

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"
)

// Usage implements inventory.Store.
func (s *Store) Usage(ctx context.Context, org uuid.UUID) (int64, error) {
	if _, err := s.begin(); err != nil {
		return 0, err
	}
	defer s.end()
	return readInTurn(ctx, s, org, func(ctx context.Context) (int64, error) {
		var used int64
		err := s.db.QueryRowContext(ctx, usedBytes, org.String()).Scan(&used)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return used, err
	})
}

// addUsage counts what the batches add.
func (t *transaction) addUsage(ctx context.Context, fresh []*entry) error {
	var added int64
	for _, e := range fresh {
		added += e.batch.Bytes()
	}
	_, err := t.db.ExecContext(ctx, "INSERT INTO inventory_usage (org, bytes) VALUES (?, ?)"+
		t.speaks.adding("inventory_usage", "org", "bytes"), t.org.String(), added)
	return err
}
