package sqlite

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/schema"
)

// oldRows are what the first schema had of five states of one organization.
const oldRows = `
INSERT INTO states (id, org, name, newest, deleted_at, released_id) VALUES
	(1, '01000000-0000-0000-0000-000000000000', 'written', 2, NULL, 'last'),
	(2, '01000000-0000-0000-0000-000000000000', 'deleted', 3, 1700000000000001, ''),
	(3, '01000000-0000-0000-0000-000000000000', 'freed', NULL, NULL, 'only');
INSERT INTO states (id, org, name, newest, released_id, lock_id, lock_operation, lock_info, lock_who, lock_version, lock_created, lock_path, lock_raw, lock_since, lock_key) VALUES
	(4, '01000000-0000-0000-0000-000000000000', 'held', 4, 'before', 'now', 'op', 'info', 'ann', '1.9', '2026-03-04T05:06:07Z', 'p', CAST('{"ID":"now"}' AS BLOB), 1700000000000002, 'ci'),
	(5, '01000000-0000-0000-0000-000000000000', 'only/held', NULL, '', 'first', '', '', '', '', '', '', CAST('{}' AS BLOB), 1700000000000003, 'ci');
INSERT INTO versions VALUES (1, 1, 1, -1, 'lineage', '1.9', 0, 2, ?1, 1700000000000004, 'k', 'a', 'r', 'w', 'o'),
	(2, 1, 2, 7, 'lineage', '1.9', 1, 2, ?1, 1700000000000005, 'k', 'a', 'r', 'w', 'o'),
	(3, 2, 1, 7, '', '', 0, 2, ?1, 1700000000000006, '', '', '', '', ''), (4, 4, 1, 7, '', '', 0, 2, ?1, 1700000000000007, '', '', '', '', '');
INSERT INTO bodies VALUES (1, 'raw', CAST('{}' AS BLOB)), (2, 'raw', CAST('{}' AS BLOB)), (3, 'raw', CAST('{}' AS BLOB)), (4, 'raw', CAST('{}' AS BLOB));`

// makeOld makes a database as it was after some of the steps, and changes it.
func makeOld(t *testing.T, dir string, steps []string, change string, args ...any) {
	t.Helper()
	path := filepath.Join(dir, databaseName)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := databaseFile(path).OpenWriter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	old := fstest.MapFS{}
	for _, name := range steps {
		step, err := migrations.ReadFile("migrations/" + name)
		if err != nil {
			t.Fatal(err)
		}
		old["migrations/"+name] = &fstest.MapFile{Data: step}
	}
	if err := (schema.Schema{Steps: old, Dialect: goose.DialectSQLite3}).Migrate(t.Context(), db,
		slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), change, args...); err != nil {
		t.Fatal(err)
	}
}

// TestMigrate opens what the first release left: nothing of it is lost, and what is new
// has the value that stands for not known.
func TestMigrate(t *testing.T) {
	dir := t.TempDir()
	digest := describe([]byte("{}")).Digest
	makeOld(t, dir, []string{"00001_states.sql"}, oldRows, digest[:])
	s := open(t, dir)
	defer s.Close()
	ref := func(name state.Name) state.Ref { return state.Ref{Org: uuid.UUID{1}, Name: name} }
	for _, name := range []state.Name{"written", "held"} {
		wantBody(t, s, ref(name), []byte("{}"))
	}
	old, err := s.Version(t.Context(), ref("written"), 1)
	want := describe([]byte("{}"))
	want.Number, want.Serial, want.Lineage, want.TerraformVersion, want.Resources = 1, 1<<64-1, "lineage", "1.9", -1
	want.CreatedAt = time.UnixMicro(1700000000000004).UTC()
	want.Author = state.Author{KeyID: "k", Address: "a", Request: "r", Who: "w", Operation: "o"}
	if err != nil || old.Version != want || !bytes.Equal(old.Body, []byte("{}")) {
		t.Errorf("version 1: %+v, %v\nwant %+v", old, err, want)
	}
	deleted, err := s.Head(t.Context(), ref("deleted"))
	if err != nil || !deleted.Deleted || deleted.DeletedAt != time.UnixMicro(1700000000000001).UTC() {
		t.Errorf("the deleted state: %+v, %v", deleted, err)
	}
	for name, id := range map[state.Name]string{"held": "now", "only/held": "first"} {
		head, err := s.Head(t.Context(), ref(name))
		if err != nil || head.Lock == nil || head.Lock.Info.ID != id || head.Lock.Seen != head.Lock.Since ||
			head.Lock.Since.IsZero() {
			t.Errorf("%s: %+v, %v", name, head.Lock, err)
		}
	}
	for name, id := range map[state.Name]string{"written": "last", "freed": "only", "held": "before"} {
		_, err := s.Update(t.Context(), ref(name), nil, always(state.Change{Lock: &state.Lock{Info: state.LockInfo{ID: id}}}))
		wantFault(t, err, fault.LockIDUsed)
	}
	listed, err := s.States(t.Context(), uuid.UUID{1}, state.StatesQuery{Limit: 9, Locked: true})
	if err != nil || len(listed.States) != 2 {
		t.Errorf("the held locks: %+v, %v", listed, err)
	}
	if err := s.Purge(t.Context(), ref("written"), 1, audit.Event{Action: audit.VersionPurge}); err != nil {
		t.Error(err)
	}
	mustPut(t, s, ref("deleted"), []byte("{}"))
}

// oldEvents are a thousand events of two organizations, half of them of a state that is
// gone, as they were before there were any that are not listed.
const oldEvents = `
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
INSERT INTO events SELECT i, i, printf('0%d000000-0000-0000-0000-000000000000', 1 + i % 2),
	iif(i % 100 = 0, 'version.purge', 'lock.take'), iif(i % 4 < 2, 'gone', 'here'), 0, '', '', '', '', 'k', '', '', '', '', ''
FROM n`

// TestMigrateEvents finds the events of an older log in each list, and what came since.
func TestMigrateEvents(t *testing.T) {
	dir := t.TempDir()
	makeOld(t, dir, []string{"00001_states.sql", "00002_history.sql", "00003_deltas.sql"}, oldEvents)
	s := open(t, dir)
	defer s.Close()
	var all []audit.Event
	for i := range 1000 + 2*unlisted {
		e := audit.Event{Sequence: uint64(i + 1), At: time.UnixMicro(int64(i + 1)).UTC(), Org: uuid.UUID{byte(1 + (i+1)%2)},
			Action: audit.LockTake, State: "here", Actor: audit.Actor{KeyID: "k"}}
		if (i+1)%100 == 0 {
			e.Action = audit.VersionPurge
		}
		if (i+1)%4 < 2 {
			e.State = "gone"
		}
		if i >= 1000 {
			if err := s.Record(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, e)
	}
	slices.Reverse(all)
	for _, q := range []audit.Query{{}, {State: "gone"}, {State: "here"}, {Action: audit.VersionPurge}} {
		q.Limit = 100
		wantList(t, s, uuid.UUID{1}, q, all)
		wantList(t, s, uuid.UUID{2}, q, all)
	}
}
