package sqlworkspace

import (
	"context"
	"database/sql"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/workspace"
)

// swept is how many entries of deleted workspaces one round looks at.
const swept = 100

// Sweep implements workspace.Contents.
func (s *Store) Sweep(ctx context.Context) error {
	for {
		found, err := s.deleted(ctx)
		if err != nil {
			return err
		}
		for _, e := range found {
			if err := s.removeEntry(ctx, e.org, e.workspace, e.number, e.id); err != nil {
				return err
			}
		}
		if len(found) < swept {
			break
		}
	}
	_, err := s.blobs.Sweep(ctx)
	return err
}

// deletedEntry is an entry of a workspace that was deleted.
type deletedEntry struct {
	org       uuid.UUID
	workspace string
	number    int64
	id        workspace.Digest
}

func (s *Store) deleted(ctx context.Context) (all []deletedEntry, err error) {
	err = s.db.Read(ctx, uuid.Nil, func(q sqldb.Querier) (err error) {
		all, err = sqldb.All(q, func(rows *sql.Rows) (e deletedEntry, err error) {
			var org string
			var id []byte
			if err = rows.Scan(&org, &e.workspace, &e.number, &id); err == nil {
				copy(e.id[:], id)
				e.org, err = uuid.Parse(org)
			}
			return e, err
		}, "SELECT org, workspace, number, snapshot FROM workspace_snapshots WHERE workspace >= ? AND workspace < ? LIMIT ?",
			deletedPrefix, behindDeleted, swept)
		return err
	})
	return all, err
}

// AddEvent records an event beside what it is about, until it is in the audit log.
func AddEvent(tx sqldb.Tx, event *audit.Event) error {
	if event == nil {
		return nil
	}
	kept, err := text(event)
	if err != nil {
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO audit_outbox (id, org, event) VALUES (?, ?, ?)", id.String(), event.Org.String(), kept)
	return err
}

// Undelivered implements workspace.Store.
func (s *Store) Undelivered(ctx context.Context, org uuid.UUID, limit int) (all []workspace.Undelivered, err error) {
	condition, args := "", []any{limit}
	if org != uuid.Nil {
		condition, args = " WHERE org = ?", []any{org.String(), limit}
	}
	err = s.db.Read(ctx, org, func(q sqldb.Querier) (err error) {
		all, err = sqldb.All(q, func(rows *sql.Rows) (u workspace.Undelivered, err error) {
			var kept string
			if err = rows.Scan(&u.ID, &kept); err == nil {
				err = parse(kept, &u.Event)
			}
			return u, err
		}, "SELECT id, event FROM audit_outbox"+condition+" ORDER BY id LIMIT ?", args...)
		return err
	})
	return all, err
}

// Forget implements workspace.Store.
func (s *Store) Forget(ctx context.Context, u workspace.Undelivered) error {
	return s.db.Write(ctx, u.Event.Org, func(tx sqldb.Tx) error {
		_, err := tx.Exec("DELETE FROM audit_outbox WHERE id = ?", u.ID)
		return err
	})
}
