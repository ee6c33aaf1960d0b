package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
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

// allows asks the change whether the organization may have that much. err is the store's own.
func (u *update) allows(t *session, row headRow, change state.Change) (refusal, err error) {
	if change.Allow == nil {
		return nil, nil
	}
	body, err := u.stores(t, row.id, change)
	if err != nil || !change.Grows(body) {
		return nil, err
	}
	used, err := usageOf(t.usage, u.ref.Org)
	if err != nil {
		return nil, err
	}
	return change.Allow(used, change.Adds(row.id == 0, row.head.Lock, body)), nil
}

// stores is how many bytes of the body the change stores; below zero for none: a candidate
// may be there already.
func (u *update) stores(t *session, id int64, change state.Change) (int64, error) {
	switch {
	case change.Version != nil:
	case change.Candidate == nil:
		return -1, nil
	default:
		if status, err := t.statusOf(id, change.Candidate.ID); status != "" || err != nil {
			return -1, err
		}
	}
	return int64(len(u.body.bytes)), nil
}
