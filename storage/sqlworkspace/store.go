// Package sqlworkspace keeps workspaces in a database of package sqldb. It is a
// workspace.Store.
package sqlworkspace

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/workspace"
)

// Store is a workspace.Store. Make it with New.
type Store struct {
	db    *sqldb.DB
	blobs *sqldb.Blobs
	now   func() time.Time
}

var _ workspace.Store = (*Store)(nil)

// New returns the workspaces of a database, whose files are sealed by seal.
func New(db *sqldb.DB, seal sqldb.Sealer, now func() time.Time) *Store {
	return &Store{db, sqldb.NewBlobs(db, seal, now), now}
}

// Ready implements workspace.Store.
func (s *Store) Ready(ctx context.Context) error { return s.db.Ready(ctx) }

// selectWorkspaces has a workspace with its newest snapshot. Its revision counts the changes of
// the organization's variables too.
const selectWorkspaces = `SELECT w.name, w.settings, w.revision + COALESCE(o.revision, 0), w.created_at, w.updated_at, w.updated_by,
	w.snapshot, e.snapshot, e.message, e.created_at, e.created_by, s.files, s.bytes
	FROM workspaces w LEFT JOIN organization_variables o ON o.org = w.org
	LEFT JOIN workspace_snapshots e ON e.org = w.org AND e.workspace = w.name AND e.number = w.snapshot
	LEFT JOIN snapshots s ON s.org = e.org AND s.id = e.snapshot
	WHERE w.org = ? AND `

func scanWorkspace(org uuid.UUID, scan func(...any) error) (w workspace.Workspace, err error) {
	var (
		name, settings, by string
		created, updated   int64
		id                 []byte
		message, entryBy   sql.NullString
		at, files, bytes   sql.NullInt64
	)
	err = scan(&name, &settings, &w.Revision, &created, &updated, &by, &w.Newest.Number, &id, &message, &at, &entryBy,
		&files, &bytes)
	if err != nil {
		return w, err
	}
	w.Ref = workspace.Ref{Org: org, Name: state.Name(name)}
	w.CreatedAt, w.UpdatedAt = timeOf(created), timeOf(updated)
	if err := parse(settings, &w.Settings); err != nil {
		return w, err
	}
	if err := parse(by, &w.UpdatedBy); err != nil || w.Newest.Number == 0 {
		return w, err
	}
	copy(w.Newest.ID[:], id)
	w.Newest.Message, w.Newest.CreatedAt = message.String, timeOf(at.Int64)
	w.Newest.Files, w.Newest.Bytes = int(files.Int64), bytes.Int64
	return w, parse(entryBy.String, &w.Newest.CreatedBy)
}

func find(q sqldb.Querier, ref workspace.Ref) (w workspace.Workspace, found bool, err error) {
	w, err = scanWorkspace(ref.Org, q.QueryRow(selectWorkspaces+"w.name = ?", ref.Org.String(), string(ref.Name)).Scan)
	if err == sql.ErrNoRows {
		return workspace.Workspace{}, false, nil
	}
	return w, err == nil, err
}

func mustFind(q sqldb.Querier, ref workspace.Ref) (workspace.Workspace, error) {
	w, found, err := find(q, ref)
	if err == nil && !found {
		err = fault.New(fault.WorkspaceNotFound, "there is no workspace %q", ref.Name)
	}
	return w, err
}

// Workspace implements workspace.Store.
func (s *Store) Workspace(ctx context.Context, ref workspace.Ref) (w workspace.Workspace, err error) {
	err = s.db.Read(ctx, ref.Org, func(q sqldb.Querier) (err error) {
		w, err = mustFind(q, ref)
		return err
	})
	return w, err
}

// Workspaces implements workspace.Store.
func (s *Store) Workspaces(ctx context.Context, org uuid.UUID, after string,
	limit int) (all []workspace.Workspace, err error) {
	err = s.db.Read(ctx, org, func(q sqldb.Querier) (err error) {
		all, err = sqldb.All(q, func(rows *sql.Rows) (workspace.Workspace, error) { return scanWorkspace(org, rows.Scan) },
			selectWorkspaces+"w.name > ? ORDER BY w.name LIMIT ?", org.String(), after, limit)
		return err
	})
	return all, err
}

// Count implements workspace.Store.
func (s *Store) Count(ctx context.Context, org uuid.UUID) (n int, err error) {
	err = s.db.Read(ctx, org, func(q sqldb.Querier) error {
		_, err := sqldb.One(q, []any{&n}, "SELECT count(*) FROM workspaces WHERE org = ?", org.String())
		return err
	})
	return n, err
}

func timeOf(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

func text(v any) (string, error) {
	raw, err := json.Marshal(v)
	return string(raw), err
}

// parse reads what text wrote.
func parse(text string, into any) error { return json.Unmarshal([]byte(text), into) }
