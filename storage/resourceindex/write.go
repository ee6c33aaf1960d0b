package resourceindex

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// pieceSize is how many resources one transaction takes: a reader waits for no more than that.
const pieceSize = 250

// transact runs a change in a transaction.
func (x *Index) transact(ctx context.Context, change func(*tx) error) error {
	t, err := x.db.Load().BeginTx(ctx, nil)
	if err != nil {
		return x.fault(err)
	}
	if err := change(newTx(ctx, t)); err != nil {
		return x.fault(errors.Join(err, t.Rollback()))
	}
	return x.fault(t.Commit())
}

// Advance implements resources.Index.
func (x *Index) Advance(ctx context.Context, p resources.Position) error {
	return x.transact(ctx, func(t *tx) error {
		return t.exec("UPDATE position SET sequence = ?, event = ?, complete = ?", int64(p.Sequence), p.Event, p.Complete)
	})
}

// Replace implements resources.Index.
func (x *Index) Replace(ctx context.Context, ref state.Ref, h resources.Holding,
	all iter.Seq[resources.Resource]) error {
	var into holding
	err := x.transact(ctx, func(t *tx) (err error) {
		into, err = t.begin(ref, h)
		return err
	})
	if err != nil {
		return err
	}
	if err := x.fill(ctx, into, all); err != nil {
		return err
	}
	err = x.transact(ctx, func(t *tx) error {
		if err := t.retire(into.org, string(ref.Name)); err != nil {
			return err
		}
		return t.exec("UPDATE holdings SET live = 1 WHERE id = ?", into.id)
	})
	return errors.Join(err, x.sweep(ctx))
}

// fill inserts the resources piece by piece.
func (x *Index) fill(ctx context.Context, into holding, all iter.Seq[resources.Resource]) error {
	piece := make([]resources.Resource, 0, pieceSize)
	insert := func() error {
		return x.transact(ctx, func(t *tx) error { return t.insertAll(into, piece) })
	}
	for one := range all {
		piece = append(piece, one)
		if len(piece) < pieceSize {
			continue
		}
		if err := insert(); err != nil {
			return err
		}
		piece = piece[:0]
	}
	if len(piece) == 0 {
		return nil
	}
	return insert()
}

// Remove implements resources.Index.
func (x *Index) Remove(ctx context.Context, ref state.Ref) error {
	err := x.transact(ctx, func(t *tx) error {
		org, err := t.org(ref.Org)
		if err != nil {
			return err
		}
		return t.retire(org, string(ref.Name))
	})
	return errors.Join(err, x.sweep(ctx))
}

// Record implements resources.Index.
func (x *Index) Record(ctx context.Context, org uuid.UUID, all []resources.Resource, cursor string) error {
	return x.transact(ctx, func(t *tx) error {
		into, err := t.uploads(org)
		if err != nil {
			return err
		}
		for _, one := range all {
			if err := t.putUpload(into, one); err != nil {
				return err
			}
		}
		return t.exec("UPDATE orgs SET cursor = ? WHERE id = ?", cursor, into.org)
	})
}

// Forget implements resources.Index.
func (x *Index) Forget(ctx context.Context, org uuid.UUID) error {
	err := x.transact(ctx, func(t *tx) error {
		id, err := t.org(org)
		if err != nil {
			return err
		}
		if err := t.retire(id, ""); err != nil {
			return err
		}
		return t.exec("UPDATE orgs SET cursor = NULL WHERE id = ?", id)
	})
	return errors.Join(err, x.sweep(ctx))
}

// sweep deletes in pieces what is no longer shown, and what never was.
func (x *Index) sweep(ctx context.Context) error {
	for more := true; more; {
		err := x.transact(ctx, func(t *tx) (err error) {
			more, err = t.sweep(pieceSize)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Holding returns what is known of a state.
func (x *Index) Holding(ctx context.Context, ref state.Ref) (resources.Holding, error) {
	h, err := scanHolding(x.db.Load().QueryRowContext(ctx, `SELECT version, digest, at, unread FROM holdings
		JOIN orgs ON orgs.id = holdings.org WHERE orgs.org = ? AND state = ? AND live = 1`, ref.Org.String(),
		string(ref.Name)).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return resources.Holding{}, nil
	}
	return h, x.fault(err)
}
