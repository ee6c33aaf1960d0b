package states

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/holdfast/holdfast/state"
)

// nextStep is what a next version may do while this one runs: it adds, and takes nothing away. Its first
// statement shows how often it was run.
func nextStep(on kind) string {
	if on == onPostgres {
		return `-- +goose Up
CREATE TABLE next_runs (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
INSERT INTO next_runs DEFAULT VALUES;
ALTER TABLE state_heads ADD COLUMN next_note BYTEA NULL;
ALTER TABLE state_versions ADD COLUMN next_kind SMALLINT NOT NULL DEFAULT 0;
`
	}
	return `-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE next_runs (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY);
INSERT INTO next_runs () VALUES ();
ALTER TABLE state_heads ADD COLUMN next_note VARBINARY(64) NULL;
ALTER TABLE state_versions ADD COLUMN next_kind TINYINT NOT NULL DEFAULT 0;
`
}

// next returns options of a program whose schema is one step ahead.
func next(t *testing.T, on kind, o Options) Options {
	t.Helper()
	steps := fstest.MapFS{}
	names, err := fs.Glob(migrations, "migrations/*/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		steps[name] = &fstest.MapFile{Data: text}
	}
	steps["migrations/"+string(on)+"/09999_next.sql"] = &fstest.MapFile{Data: []byte(nextStep(on))}
	o.steps = steps
	return o
}

// TestRollingUpgrade has nodes of the next version start, all at once, while those of this one write the
// same states: one of them migrates, none of the others' writes fails or is lost, old and new nodes go on
// side by side, and no old one starts any more.
func TestRollingUpgrade(t *testing.T) { onEach(t, testRollingUpgrade) }

func testRollingUpgrade(t *testing.T, on kind) {
	o := on.new(t).options()
	olds := []*Store{open(t, o), open(t, o)}
	ref, done := newRef("shared"), make(chan struct{})
	var mu sync.Mutex
	bodies := map[uint64][]byte{}
	writes := func(s *Store, node string, until <-chan struct{}, least int) {
		for n := 0; ; n++ {
			select {
			case <-until:
				if n >= least {
					return
				}
			default:
			}
			body := fmt.Appendf(nil, "%s %d", node, n)
			head, err := s.Update(context.Background(), ref, body, write(body))
			if err != nil {
				t.Errorf("%s: %v", node, err)
				return
			}
			mu.Lock()
			bodies[head.Version.Number] = body
			mu.Unlock()
		}
	}
	var writing, starting sync.WaitGroup
	for i, s := range olds {
		writing.Go(func() { writes(s, fmt.Sprint("old ", i), done, 5) })
	}
	news := make([]*Store, 3)
	for i := range news {
		starting.Go(func() {
			s, err := Open(context.Background(), next(t, on, o))
			if err != nil {
				t.Error(err)
				return
			}
			news[i] = s
		})
	}
	starting.Wait()
	if t.Failed() {
		close(done)
		t.FailNow()
	}
	for i, s := range news {
		t.Cleanup(func() { _ = s.Close() })
		writing.Go(func() { writes(s, fmt.Sprint("new ", i), done, 5) })
	}
	var runs int
	if err := olds[0].readers.QueryRow("SELECT COUNT(*) FROM next_runs").Scan(&runs); err != nil || runs != 1 {
		t.Errorf("the step was run %d times, %v", runs, err)
	}
	close(done)
	writing.Wait()
	all := make([][]byte, len(bodies))
	for number, body := range bodies {
		all[number-1] = body
	}
	for _, s := range append(olds, news...) {
		wantVersions(t, s, ref, all...)
	}
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("a program that does not know the schema was started: %v", err)
	}
	put(t, olds[0], state.Ref{Org: ref.Org, Name: "later"}, []byte("{}")) // one that runs goes on
}
