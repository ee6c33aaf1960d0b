package sqlworkspace

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/workspace"
)

// maxList is how long the list of a snapshot may be.
const maxList = 64 << 20

// AddSnapshot implements workspace.Snapshots.
func (s *Store) AddSnapshot(ctx context.Context, ref workspace.Ref, snapshot workspace.Snapshot, about workspace.Entry,
	parent *int64, event *audit.Event) (added workspace.Entry, err error) {
	if _, err := s.blobs.PutBytes(ctx, ref.Org, listKind, snapshot.List()); err != nil {
		return workspace.Entry{}, err
	}
	err = s.db.Write(ctx, ref.Org, func(tx sqldb.Tx) error {
		w, err := mustFind(tx, ref)
		if err != nil {
			return err
		}
		if n := w.Newest; n.Number > 0 && n.ID == snapshot.ID && (about.Draft() || !n.Draft()) {
			added = w.Newest
			return nil
		}
		if parent != nil && *parent != w.Newest.Number {
			return workspace.ErrMoved(w.Newest.Number)
		}
		if err := s.keep(tx, ref.Org, snapshot); err != nil {
			return err
		}
		added = about
		added.Number, added.ID, added.Files, added.Bytes = w.Newest.Number+1, snapshot.ID, len(snapshot.Files),
			snapshot.Bytes()
		if err := addEntry(tx, ref, added); err != nil {
			return err
		}
		return AddEvent(tx, event)
	})
	if err != nil {
		return workspace.Entry{}, err
	}
	return added, nil
}

// keep counts that a snapshot is needed once more, and makes its row at first: then it needs the
// contents of its files.
func (s *Store) keep(tx sqldb.Tx, org uuid.UUID, snapshot workspace.Snapshot) error {
	there, err := sqldb.Change(tx, "UPDATE snapshots SET refs = refs + 1 WHERE org = ? AND id = ?", org.String(),
		snapshot.ID[:])
	if err != nil || there {
		return err
	}
	if _, err := tx.Exec("INSERT INTO snapshots (org, id, files, bytes, refs) VALUES (?, ?, ?, ?, 1)",
		org.String(), snapshot.ID[:], len(snapshot.Files), snapshot.Bytes()); err != nil {
		return err
	}
	contents := blobDigests(snapshot.Contents())
	all, err := s.blobs.Retain(tx, org, fileKind, contents...)
	if err == nil && all {
		all, err = s.blobs.Retain(tx, org, listKind, sqldb.Digest(snapshot.ID))
	}
	if err == nil && !all {
		return s.errMissing(tx, org, snapshot, contents)
	}
	return err
}

func (s *Store) errMissing(tx sqldb.Tx, org uuid.UUID, snapshot workspace.Snapshot, contents []sqldb.Digest) error {
	there, err := s.blobs.Sizes(tx, org, fileKind, contents)
	if err != nil {
		return err
	}
	return workspace.ErrMissing(snapshot.Files, func(d workspace.Digest) bool {
		_, ok := there[sqldb.Digest(d)]
		return ok
	})
}

func addRow(tx sqldb.Tx, ref workspace.Ref, e workspace.Entry) error {
	by, err := text(e.CreatedBy)
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO workspace_snapshots (org, workspace, number, snapshot, message, created_at, "+
		"created_by) VALUES (?, ?, ?, ?, ?, ?, ?)",
		ref.Org.String(), string(ref.Name), e.Number, e.ID[:], e.Message, e.CreatedAt.UnixMicro(), by)
	return err
}

func addEntry(tx sqldb.Tx, ref workspace.Ref, e workspace.Entry) error {
	if err := addRow(tx, ref, e); err != nil {
		return err
	}
	_, err := tx.Exec("UPDATE workspaces SET snapshot = ? WHERE org = ? AND name = ?", e.Number, ref.Org.String(),
		string(ref.Name))
	return err
}

const selectEntries = `SELECT e.number, e.snapshot, e.message, e.created_at, e.created_by, s.files, s.bytes
	FROM workspace_snapshots e JOIN snapshots s ON s.org = e.org AND s.id = e.snapshot WHERE e.org = ? AND e.workspace = ? AND `

func scanEntry(rows *sql.Rows) (e workspace.Entry, err error) {
	var id []byte
	var at int64
	var by string
	if err := rows.Scan(&e.Number, &id, &e.Message, &at, &by, &e.Files, &e.Bytes); err != nil {
		return e, err
	}
	copy(e.ID[:], id)
	e.CreatedAt = timeOf(at)
	return e, parse(by, &e.CreatedBy)
}

// Entries implements workspace.Snapshots.
func (s *Store) Entries(ctx context.Context, ref workspace.Ref, before int64,
	limit int) (all []workspace.Entry, err error) {
	err = s.db.Read(ctx, ref.Org, func(q sqldb.Querier) error {
		w, err := mustFind(q, ref)
		if err != nil {
			return err
		}
		if before == 0 {
			before = w.Newest.Number + 1
		}
		all, err = sqldb.All(q, scanEntry, selectEntries+"e.number < ? AND e.number > 0 ORDER BY e.number DESC LIMIT ?",
			ref.Org.String(), string(ref.Name), before, limit)
		return err
	})
	return all, err
}

// Entry implements workspace.Snapshots.
func (s *Store) Entry(ctx context.Context, ref workspace.Ref, number int64,
	id workspace.Digest) (e workspace.Entry, err error) {
	condition, key := "e.number = ?", any(number)
	if number == 0 {
		condition, key = "e.snapshot = ? AND e.number > 0 ORDER BY e.number DESC LIMIT 1", id[:]
	}
	err = s.db.Read(ctx, ref.Org, func(q sqldb.Querier) error {
		found, err := sqldb.All(q, scanEntry, selectEntries+condition, ref.Org.String(), string(ref.Name), key)
		if err == nil && len(found) == 0 {
			err = errNoSnapshot()
		}
		if err == nil {
			e = found[0]
		}
		return err
	})
	return e, err
}

func errNoSnapshot() error {
	return fault.New(fault.SnapshotNotFound, "the workspace has no such snapshot, or not any more")
}

// Files implements workspace.Snapshots.
func (s *Store) Files(ctx context.Context, org uuid.UUID, id workspace.Digest) (workspace.Snapshot, error) {
	list, err := s.blobs.Load(ctx, org, listKind, sqldb.Digest(id), maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return workspace.Snapshot{}, errNoSnapshot()
	}
	if err != nil {
		return workspace.Snapshot{}, err
	}
	return workspace.ParseList(id, list)
}

// RemoveEntry implements workspace.Snapshots.
func (s *Store) RemoveEntry(ctx context.Context, ref workspace.Ref, number int64) error {
	e, err := s.Entry(ctx, ref, number, workspace.Digest{})
	if fault.Is(err, fault.SnapshotNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.removeEntry(ctx, ref.Org, string(ref.Name), number, e.ID)
}

// removeEntry removes an entry of a workspace that may be a deleted one.
func (s *Store) removeEntry(ctx context.Context, org uuid.UUID, name string, number int64, id workspace.Digest) error {
	snapshot, err := s.Files(ctx, org, id) // it needs the same contents for as long as it is there
	if err != nil {
		return err
	}
	return s.db.Write(ctx, org, func(tx sqldb.Tx) error {
		newest := int64(0)
		if _, err := sqldb.One(tx, []any{&newest}, "SELECT snapshot FROM workspaces WHERE org = ? AND name = ?", org.String(),
			name); err != nil || newest == number {
			return err
		}
		removed, err := sqldb.Change(tx, "DELETE FROM workspace_snapshots WHERE org = ? AND workspace = ? AND number = ?",
			org.String(), name, number)
		if err != nil || !removed {
			return err
		}
		if _, err := tx.Exec("UPDATE snapshots SET refs = refs - 1 WHERE org = ? AND id = ?", org.String(),
			id[:]); err != nil {
			return err
		}
		last, err := sqldb.Change(tx, "DELETE FROM snapshots WHERE org = ? AND id = ? AND refs = 0", org.String(), id[:])
		if err != nil || !last {
			return err
		}
		contents := slices.Clone(snapshot.Contents())
		if err := s.blobs.Release(tx, org, fileKind, blobDigests(contents)...); err != nil {
			return err
		}
		return s.blobs.Release(tx, org, listKind, sqldb.Digest(id))
	})
}
