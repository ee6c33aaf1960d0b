package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"
)

const sqlUsage = `SELECT bytes FROM usage WHERE org = ?`

// Usage implements state.Store. Triggers keep the sum (see the migrations).
func (s *Store) Usage(ctx context.Context, org uuid.UUID) (used int64, err error) {
	err = s.read(ctx, func(r *reader) error {
		used, err = usageOf(r.usage, org)
		return err
	})
	return used, err
}

// usageOf is zero for an organization that never had anything.
func usageOf(query *sql.Stmt, org uuid.UUID) (used int64, err error) {
	err = query.QueryRowContext(context.Background(), org.String()).Scan(&used)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return used, err
}
