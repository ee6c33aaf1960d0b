package sqlruns

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// keepTroubles finds anew what trouble a run's workspace is in, where the run has ended, or is not what
// has ended any more. It reads the ends of a few ranges of an index, however many runs there are.
func (t tx) keepTroubles(s step) error {
	if !s.was.Status.Ended() && !s.next.Status.Ended() {
		return nil
	}
	workspace := s.next.Workspace
	if workspace == "" {
		workspace = s.was.Workspace // it is removed
	}
	failed, err := t.newest(workspace, runs.Kinds(), runs.Failed)
	if err != nil {
		return err
	}
	fine, err := t.newest(workspace, runs.Kinds(), runs.Succeeded)
	if err != nil {
		return err
	}
	if err := t.keepTrouble(workspace, runs.TroubleFailed, failed, failed.id > fine.id); err != nil {
		return err
	}
	looked, err := t.newest(workspace, []runs.Kind{runs.Drift}, runs.Succeeded)
	if err != nil {
		return err
	}
	drifted, err := t.hasDrifted(workspace, looked)
	if err != nil {
		return err
	}
	return t.keepTrouble(workspace, runs.TroubleDrift, looked, drifted)
}

// hasDrifted reports whether a workspace's last look for drift has found some that no run has ended since.
func (t tx) hasDrifted(workspace string, looked ending) (bool, error) {
	is := func(id string, holds func(runs.Run) bool) (bool, error) {
		found, err := load(t, runs.Ref{Org: uuid.MustParse(t.org), ID: id})
		return err == nil && holds(found.run), err
	}
	if looked.id == "" {
		return false, nil
	}
	if drifted, err := is(looked.id, runs.Run.Drifted); err != nil || !drifted {
		return false, err
	}
	applied, err := t.newest(workspace, []runs.Kind{runs.Apply, runs.Destroy, runs.Refresh}, runs.Succeeded)
	if err != nil || applied.id < looked.id || applied.at < looked.at {
		return true, err
	}
	ends, err := is(applied.id, runs.Run.EndsDrift)
	return !ends, err
}

// ending is a run that has ended, and when.
type ending struct {
	id string
	at int64
}

// newest returns the newest run of a workspace that is of these kinds, and of a status.
func (t tx) newest(workspace string, kinds []runs.Kind, status runs.Status) (last ending, err error) {
	for _, kind := range kinds {
		var one ending
		_, err := sqldb.One(t, []any{&one.id, &one.at}, "SELECT id, COALESCE(ended, 0) FROM runs WHERE org = ? AND "+
			"workspace = ? AND kind = ? AND status = ? ORDER BY id DESC LIMIT 1", t.org, workspace, string(kind), string(status))
		if err != nil {
			return last, err
		}
		if one.id > last.id {
			last = one
		}
	}
	return last, nil
}

func (t tx) keepTrouble(workspace string, trouble runs.Trouble, by ending, is bool) error {
	if !is {
		return t.exec("DELETE FROM run_troubles WHERE org = ? AND workspace = ? AND trouble = ?", t.org, workspace,
			string(trouble))
	}
	return t.exec(t.Dialect().Upsert("run_troubles", []string{"org", "workspace", "trouble"}, []string{"run", "ended"}),
		t.org, workspace, string(trouble), by.id, by.at)
}

// Troubled implements runs.Changes.
func (s *Store) Troubled(ctx context.Context, org uuid.UUID, trouble runs.Trouble,
	since time.Time) ([]runs.Troubled, error) {
	scan := func(r *sql.Rows) (one runs.Troubled, err error) {
		var at int64
		err = r.Scan(&one.Workspace, &one.Run, &at)
		one.At = time.UnixMicro(at).UTC()
		return one, err
	}
	return ask(ctx, s, org, scan,
		"SELECT t.workspace, t.run, t.ended FROM "+InTrouble(s.db.Dialect())+" AND t.org = ? AND t.ended >= ? ORDER BY t.run DESC",
		string(trouble), org.String(), since.UnixMicro())
}

// InTrouble is the rows of workspaces in a trouble, the argument. A layer's report decides on what its run has found:
// drift that somebody expects, or that its rules ignore, is none.
func InTrouble(d sqldb.Dialect) string {
	return `run_troubles t WHERE t.trouble = ? AND NOT (t.trouble = 'drift' AND EXISTS (SELECT 1 FROM layers l
		WHERE l.org = t.org AND l.name = t.workspace AND COALESCE(` + d.Member("l.document", "Facts.Drift.Count") + `, '0') = '0'
		AND COALESCE(` + d.Member("l.document", "Facts.Drift.Run") + `, '') >= t.run))`
}

// Lines implements runs.Store.
func (s *Store) Lines(ctx context.Context, org uuid.UUID, workspaces []string) (lines map[string]runs.Line, err error) {
	err = s.db.Read(ctx, org, func(db sqldb.Querier) error {
		lines = map[string]runs.Line{}
		for _, workspace := range workspaces {
			var line runs.Line
			if _, err := sqldb.One(db, []any{&line.Holder}, "SELECT holder FROM run_lines WHERE org = ? AND workspace = ?",
				org.String(), workspace); err != nil {
				return err
			}
			if line.Waiting, err = sqldb.All(db, scanText,
				"SELECT id FROM runs WHERE org = ? AND line = ? ORDER BY priority, id", org.String(), workspace); err != nil {
				return err
			}
			if line.Holder != "" || len(line.Waiting) > 0 {
				lines[workspace] = line
			}
		}
		return nil
	})
	return lines, err
}
