package sqldb

import (
	"context"
	"database/sql"

	"github.com/google/uuid"
)

// sweepBlobs is how many one round looks at, each in a transaction of its own.
const sweepBlobs = 100

// Sweep removes blobs that nothing has needed for BlobGrace, and what is left of those that did
// not arrive. It may run on several nodes at once.
func (b *Blobs) Sweep(ctx context.Context) (removed int, err error) {
	before := b.now().Add(-BlobGrace).UnixMicro()
	for {
		found, err := b.unneeded(ctx, before)
		if err != nil {
			return removed, err
		}
		for _, one := range found {
			if err := b.remove(ctx, one, before); err != nil {
				return removed, err
			}
			removed++
		}
		if len(found) < sweepBlobs {
			return removed, nil
		}
	}
}

// unneededBlob is one that nothing needed when it was looked at.
type unneededBlob struct {
	id  string
	org uuid.UUID
}

func (b *Blobs) unneeded(ctx context.Context, before int64) (found []unneededBlob, err error) {
	err = b.db.Read(ctx, uuid.Nil, func(q Querier) (err error) {
		found, err = All(q, func(rows *sql.Rows) (one unneededBlob, err error) {
			var org string
			if err = rows.Scan(&one.id, &org); err == nil {
				one.org, err = uuid.Parse(org)
			}
			return one, err
		}, "SELECT id, org FROM blobs WHERE refs = 0 AND touched < ? ORDER BY touched LIMIT ?", before, sweepBlobs)
		return err
	})
	return found, err
}

// remove removes the blob, unless somebody needs it by now.
func (b *Blobs) remove(ctx context.Context, one unneededBlob, before int64) error {
	return b.db.Write(ctx, one.org, func(tx Tx) error {
		var size int64
		var digest []byte
		found, err := One(tx, []any{&size, &digest},
			"SELECT size, digest FROM blobs WHERE id = ? AND refs = 0 AND touched < ?", one.id, before)
		if err != nil || !found {
			return err
		}
		if digest != nil {
			if err := account(tx, one.org, -size); err != nil {
				return err
			}
		}
		return dropBlob(tx, one.id)
	})
}
