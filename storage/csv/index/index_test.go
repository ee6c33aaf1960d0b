package index

import (
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

func open(t *testing.T, path string) *Index {
	t.Helper()
	x, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func TestReopen(t *testing.T) {
	path, org := filepath.Join(t.TempDir(), "uploads.db"), uuid.New()
	x := open(t, path)
	id, err := x.Begin(org)
	if err != nil {
		t.Fatal(err)
	}
	want := Head{ID: id, Length: 300, Newest: 7, Records: 3, Line: 5, Seal: Seal{Inode: 1, Changed: 2}}
	segment := Segment{Start: 75, Length: 225, Records: 3, Line: 2, First: 6, Last: 7, CRC: 1 << 31}
	batch := Batch{ID: "a", Digest: [32]byte{1}, Request: "r", At: 7, Count: 3, Created: 8, Start: 75, Length: 225,
		Line: 2, CRC: 9}
	change := Change{Org: org, Head: want, Segments: []Segment{segment}, Batches: []Batch{batch},
		Groups: map[Group]Tally{{"p", "c", "t"}: {3, 6, 7}}}
	if _, err := x.Commit(change); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Begin(org); err == nil {
		t.Error("an organization began twice")
	}
	key := x.Key()
	_ = x.Close()
	x = open(t, path)
	got, err := x.Head(t.Context(), org)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	last, err := x.Last(t.Context(), id, 300)
	if err != nil || last != segment {
		t.Errorf("%+v %v", last, err)
	}
	found, err := x.Find(t.Context(), id, []string{"b", "a", `"`})
	if diff := cmp.Diff(map[string]Batch{"a": batch}, found); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if length, err := x.Settle(org, id); err != nil || length != 300 {
		t.Errorf("%d %v", length, err)
	}
	if diff := cmp.Diff(key, x.Key()); diff != "" || len(key) != 32 {
		t.Errorf("another key: %s", diff)
	}
}

// TestJobsStandForThemselves has one of many jobs fail.
func TestJobsStandForThemselves(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "uploads.db"))
	wrong := errors.New("wrong")
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			org := uuid.New()
			err := x.do(uuid.Nil, func(tx tx) error {
				if _, err := tx.insert(Change{Org: org}); err != nil {
					return err
				}
				if i%10 == 0 {
					return wrong
				}
				return nil
			})
			head, headErr := x.Head(t.Context(), org)
			if errors.Is(err, wrong) != (i%10 == 0) || headErr != nil || (head.ID == 0) != (i%10 == 0) {
				t.Errorf("job %d: %v, %+v, %v", i, err, head, headErr)
			}
		})
	}
	wg.Wait()
}

func TestClosed(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "uploads.db"))
	_ = x.Close()
	if err := x.Probe(); !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("error %v", err)
	}
}

func TestForeignDatabases(t *testing.T) {
	foreign := func(statements string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err == nil {
				_, err = db.Exec(statements)
			}
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	newer := func(t *testing.T, path string) {
		_ = open(t, path).Close()
		foreign("INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)")(t, path)
	}
	text := func(t *testing.T, path string) {
		if err := os.WriteFile(path, []byte(strings.Repeat("not a database\n", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, make := range map[string]func(*testing.T, string){
		"tables": foreign("CREATE TABLE t (a)"), "id": foreign("PRAGMA application_id = 7; CREATE TABLE t (a)"),
		"newer holdfast": newer, "not a database": text,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "uploads.db")
			make(t, path)
			if x, err := Open(t.Context(), path, slog.New(slog.DiscardHandler)); err == nil {
				_ = x.Close()
				t.Error("it was opened")
			} else {
				t.Log(err)
			}
		})
	}
}
