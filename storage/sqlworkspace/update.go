package sqlworkspace

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/workspace"
)

// Update implements workspace.Store.
func (s *Store) Update(ctx context.Context, ref workspace.Ref,
	decide workspace.Decide) (now workspace.Workspace, err error) {
	err = s.db.Write(ctx, ref.Org, func(tx sqldb.Tx) error {
		now = workspace.Workspace{}
		w, found, err := find(tx, ref)
		if err != nil {
			return err
		}
		own, err := variablesOf(tx, ref)
		if err != nil {
			return err
		}
		var given *workspace.Workspace
		if found {
			copied := w
			given = &copied
		}
		change, err := decide(given, own)
		if err != nil {
			return err
		}
		if err := s.record(tx, ref, found, change); err != nil {
			return err
		}
		now, _, err = find(tx, ref)
		return err
	})
	return now, err
}

// record carries a change out.
func (s *Store) record(tx sqldb.Tx, ref workspace.Ref, found bool, change workspace.Change) error {
	if change.Put != nil {
		if err := put(tx, ref, found, *change.Put); err != nil {
			return err
		}
	}
	if err := setVariables(tx, ref, change); err != nil {
		return err
	}
	if change.Delete {
		if err := remove(tx, ref); err != nil {
			return err
		}
	}
	return AddEvent(tx, change.Event)
}

func put(tx sqldb.Tx, ref workspace.Ref, found bool, w workspace.Workspace) error {
	settings, err := text(w.Settings)
	if err != nil {
		return err
	}
	by, err := text(w.UpdatedBy)
	if err != nil {
		return err
	}
	if !found {
		_, err = tx.Exec(`INSERT INTO workspaces (org, name, settings, revision, snapshot, created_at, updated_at, updated_by)
			VALUES (?, ?, ?, 1, 0, ?, ?, ?)`, ref.Org.String(), string(ref.Name), settings, w.CreatedAt.UnixMicro(),
			w.UpdatedAt.UnixMicro(), by)
		return err
	}
	_, err = tx.Exec("UPDATE workspaces SET settings = ?, revision = revision + 1, updated_at = ?, updated_by = ? WHERE "+
		"org = ? AND name = ?",
		settings, w.UpdatedAt.UnixMicro(), by, ref.Org.String(), string(ref.Name))
	return err
}

// remove takes a workspace away. Its snapshots get a name that no workspace can have, under
// which Sweep finds them.
func remove(tx sqldb.Tx, ref workspace.Ref) error {
	for _, statement := range []string{
		"DELETE FROM variables WHERE org = ? AND workspace = ?",
		"DELETE FROM workspaces WHERE org = ? AND name = ?",
	} {
		if _, err := tx.Exec(statement, ref.Org.String(), string(ref.Name)); err != nil {
			return err
		}
	}
	_, err := tx.Exec("UPDATE workspace_snapshots SET workspace = ? WHERE org = ? AND workspace = ?",
		deletedPrefix+uuid.NewString(), ref.Org.String(), string(ref.Name))
	return err
}

// deletedPrefix begins the name of a workspace that was deleted; behindDeleted comes behind all
// of them, and before the names of workspaces.
const (
	deletedPrefix = "!"
	behindDeleted = "\""
)
