package sqluploads

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// transaction records one group.
type transaction struct {
	db     querier
	speaks dialect
	server *server
	org    uuid.UUID
	now    time.Time
	form   form

	newest  time.Time // of the organization's records; zero for none
	used    int64     // by the organization's records, those included that are to be recorded
	batches map[string]filed
}

// filed is a batch that was recorded.
type filed struct {
	digest  [32]byte
	receipt inventory.Receipt
}

type answer struct {
	receipt inventory.Receipt
	err     error
}

// run returns an answer for each entry once they are committed.
func (t *transaction) run(ctx context.Context, group []*entry) ([]answer, error) {
	if _, err := t.db.ExecContext(ctx, "START TRANSACTION"); err != nil {
		return nil, err
	}
	if err := t.lock(ctx); err != nil {
		return nil, err
	}
	if err := t.lookUp(ctx, group); err != nil {
		return nil, err
	}
	answers, fresh := t.decide(group)
	if err := t.write(ctx, fresh); err != nil {
		return nil, err
	}
	// As a statement, because sql.Tx's can't be bounded in time.
	_, err := t.db.ExecContext(ctx, "COMMIT")
	return answers, err
}

// lock keeps other transactions of the organization out, those of other nodes too.
func (t *transaction) lock(ctx context.Context) error {
	var newest sql.NullTime
	var used sql.NullInt64
	err := t.db.QueryRowContext(ctx, t.speaks.lockOrganization(), t.org.String()).Scan(&newest, &used)
	if errors.Is(err, sql.ErrNoRows) {
		return errNoOrganization
	}
	if err == nil && t.speaks.isPostgres() {
		if err = t.db.QueryRowContext(ctx, usedBytes, t.org.String()).Scan(&used); errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
	}
	t.newest, t.used = newest.Time, used.Int64
	return err
}

// lookUp finds which of the batches were recorded before.
func (t *transaction) lookUp(ctx context.Context, group []*entry) (err error) {
	ids := make([]string, len(group))
	for i, e := range group {
		ids[i] = e.batch.ID
	}
	t.batches, err = lookUp(ctx, t.db, t.org, ids...)
	return err
}

// lookUp returns those of an organization's batch IDs that are remembered.
func lookUp(ctx context.Context, db querier, org uuid.UUID, ids ...string) (map[string]filed, error) {
	args := []any{org.String()}
	for _, id := range ids {
		args = append(args, id)
	}
	type row struct {
		id, request string
		digest      []byte
		at          time.Time
		count       int
	}
	rows, err := list(ctx, db, func(r *row) []any { return []any{&r.id, &r.digest, &r.request, &r.at, &r.count} },
		"SELECT id, digest, request, at, records FROM inventory_batches WHERE org = ? AND id IN "+tuple(len(ids)), args...)
	found := make(map[string]filed, len(rows)+len(ids))
	for _, r := range rows {
		f := filed{receipt: inventory.Receipt{Request: r.request, At: r.at, Count: r.count}}
		copy(f.digest[:], r.digest)
		found[r.id] = f
	}
	return found, err
}

// decide answers every entry as if all went well, and returns those that have to be
// recorded, with their timestamps.
func (t *transaction) decide(group []*entry) (answers []answer, fresh []*entry) {
	failed := map[*entry]error{}
	for i, e := range group {
		if i > 0 && answers[i-1].err != nil {
			failed[group[i-1]] = answers[i-1].err
		}
		e.fresh = false
		if err := failed[e.before]; err != nil {
			answers = append(answers, answer{err: err})
			continue
		}
		if f, ok := t.batches[e.batch.ID]; ok {
			answers = append(answers, f.answer(e))
			continue
		}
		at, err := t.stamp(e.batch.At)
		if err != nil {
			answers = append(answers, answer{err: err})
			continue
		}
		size := e.batch.Bytes()
		if err := e.batch.MayAdd(t.used, size); err != nil {
			answers = append(answers, answer{err: err})
			continue
		}
		t.used += size
		f := filed{digest: e.batch.Digest,
			receipt: inventory.Receipt{Request: e.batch.Request, At: at, Count: len(e.batch.Resources)}}
		t.batches[e.batch.ID], t.newest = f, at
		answers = append(answers, answer{receipt: f.receipt})
		e.fresh = true
		fresh = append(fresh, e)
	}
	return answers, fresh
}

func (f filed) answer(e *entry) answer {
	if f.digest != e.batch.Digest {
		return answer{err: fault.New(fault.IdempotencyMismatch, "this key came with another upload before")}
	}
	f.receipt.Replayed = !e.ours
	return answer{receipt: f.receipt}
}

// stamp returns the timestamp of the next batch, which wants to have at unless it is zero.
func (t *transaction) stamp(at time.Time) (time.Time, error) {
	switch {
	case at.IsZero():
		return inventory.Stamp(t.now, t.newest), nil
	case at.Before(t.newest):
		return at, fault.New(fault.ParameterInvalid, "the timestamp %s lies before the organization's newest record, %s",
			at.Format(time.RFC3339Nano), t.newest.Format(time.RFC3339Nano))
	}
	return at, nil
}

// write stores the batches that are new.
func (t *transaction) write(ctx context.Context, fresh []*entry) error {
	if len(fresh) == 0 {
		return nil
	}
	if err := t.insertRows(ctx, fresh); err != nil {
		return err
	}
	if err := t.insertBatches(ctx, fresh); err != nil {
		return err
	}
	if err := t.count(ctx, fresh); err != nil {
		return err
	}
	if err := t.addUsage(ctx, fresh); err != nil {
		return err
	}
	_, err := t.db.ExecContext(ctx, "UPDATE inventory_organizations SET newest = ? WHERE org = ?", t.newest,
		t.org.String())
	return err
}
