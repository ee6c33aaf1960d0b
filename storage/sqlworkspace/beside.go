package sqlworkspace

import (
	"context"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/workspace"
)

// AddBeside implements workspace.Snapshots. Numbers go down from -1, below all that are there.
func (s *Store) AddBeside(ctx context.Context, ref workspace.Ref, snapshot workspace.Snapshot, about workspace.Entry,
	event *audit.Event) (added workspace.Entry, err error) {
	if _, err := s.blobs.PutBytes(ctx, ref.Org, listKind, snapshot.List()); err != nil {
		return workspace.Entry{}, err
	}
	err = s.db.Write(ctx, ref.Org, func(tx sqldb.Tx) error {
		if _, err := mustFind(tx, ref); err != nil {
			return err
		}
		there, err := sqldb.All(tx, scanEntry, selectEntries+"e.number < 0 AND e.snapshot = ? LIMIT 1", ref.Org.String(),
			string(ref.Name), snapshot.ID[:])
		if err != nil {
			return err
		}
		if len(there) > 0 {
			added = there[0]
			return nil
		}
		if err := s.keep(tx, ref.Org, snapshot); err != nil {
			return err
		}
		lowest := int64(0)
		if _, err := sqldb.One(tx, []any{&lowest}, "SELECT number FROM workspace_snapshots WHERE org = ? AND workspace = ? "+
			"AND number < 0 ORDER BY number LIMIT 1", ref.Org.String(), string(ref.Name)); err != nil {
			return err
		}
		added = about
		added.Number, added.ID, added.Files, added.Bytes = lowest-1, snapshot.ID, len(snapshot.Files), snapshot.Bytes()
		if err := addRow(tx, ref, added); err != nil {
			return err
		}
		return AddEvent(tx, event)
	})
	if err != nil {
		return workspace.Entry{}, err
	}
	return added, nil
}

// Beside implements workspace.Snapshots.
func (s *Store) Beside(ctx context.Context, ref workspace.Ref, limit int) (all []workspace.Entry, err error) {
	err = s.db.Read(ctx, ref.Org, func(q sqldb.Querier) error {
		if _, err := mustFind(q, ref); err != nil {
			return err
		}
		all, err = sqldb.All(q, scanEntry, selectEntries+"e.number < 0 ORDER BY e.number LIMIT ?", ref.Org.String(),
			string(ref.Name), limit)
		return err
	})
	return all, err
}
