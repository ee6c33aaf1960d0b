package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

func openMove(t *testing.T, s configs.Settings, from, to string) *storage.Move {
	t.Helper()
	m, err := storage.OpenMove(t.Context(), s, from, to, false, quiet())
	must(t, err)
	return m
}

// carry moves everything, and proves it.
func carry(t *testing.T, s configs.Settings, from, to string) {
	t.Helper()
	m := openMove(t, s, from, to)
	_, err := m.Begin(t.Context())
	must(t, err)
	must(t, m.Copy(t.Context(), false, func(string, int, int) {}))
	verify(t, m)
	must(t, m.Finish(t.Context()))
	must(t, m.Close())
}

func verify(t *testing.T, m *storage.Move) {
	t.Helper()
	all, err := m.Verify(t.Context(), true, func(string, int, int) {})
	must(t, err)
	for _, c := range all {
		if !c.Equal() {
			t.Errorf("%s: %d records with %s at the source, %d with %s at the target", c.Table, c.Source.Records,
				c.Source.SHA256, c.Target.Records, c.Target.SHA256)
		}
		if c.Source.Records == 0 {
			t.Errorf("the test has nothing in %s", c.Table)
		}
	}
}

// TestMoveThereAndBack: what a store says of all that there is, it says after a move into a database
// and after one back too, and goes on from there.
func TestMoveThereAndBack(t *testing.T) {
	t.Parallel()
	for engine, s := range eachEnds(t) {
		w := newWorld(t, s)
		want, measures := listen(t, s, w), measured(t, s)
		carry(t, s, configs.SQLite, engine)
		wantSame(t, want, listen(t, inDatabase(s), w))
		must(t, storage.AwaitMove(t.Context(), inDatabase(s), quiet()))
		if err := storage.AwaitMove(t.Context(), s, quiet()); err == nil || !strings.Contains(err.Error(), "was moved to") {
			t.Errorf("the folder is served still: %v", err)
		}
		back := s
		back.Storage.Path = filepath.Join(t.TempDir(), "back")
		carry(t, back, engine, configs.SQLite)
		wantSame(t, want, listen(t, back, w))
		if got := measured(t, back); !slices.Equal(measures, got) {
			t.Errorf("%s: there was\n%v, and back is\n%v", engine, measures, got)
		}
		goOn(t, back, w)
		must(t, storage.AbandonMove(t.Context(), s, engine, false, quiet()))
		goOn(t, inDatabase(s), w)
	}
}

// goOn makes sure that what was moved is written as if it never had been.
func goOn(t *testing.T, s configs.Settings, w world) {
	t.Helper()
	store := openStates(t, s)
	defer store.Close()
	last, err := store.Feed(t.Context(), 0, 10_000)
	must(t, err)
	f := &filler{T: t, store: store, at: last[len(last)-1].At}
	ref := refOf(w, "prod/deltas")
	f.put(ref, []byte("after"))
	head, err := store.Head(t.Context(), ref)
	must(t, err)
	if head.Version.Number != 71 {
		t.Errorf("the version after the move has number %d", head.Version.Number)
	}
	next, err := store.Feed(t.Context(), last[len(last)-1].Sequence, 10)
	must(t, err)
	if len(next) != 1 || next[0].Sequence != last[len(last)-1].Sequence+1 {
		t.Errorf("the events after the move are %v", next)
	}
}

// TestMoveBrokenOff breaks a move off after every so many records, and goes on.
func TestMoveBrokenOff(t *testing.T) {
	t.Parallel()
	s := ends(t)
	w := newWorld(t, s)
	want := listen(t, s, w)
	broken := errors.New("broken off")
	for steps := 1; ; steps *= 2 {
		m := openMove(t, s, configs.SQLite, configs.MySQL)
		again, err := m.Begin(t.Context())
		must(t, err)
		if again != (steps > 1) {
			t.Fatalf("goes on: %v", again)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		told := 0
		err = m.Copy(ctx, false, func(string, int, int) {
			if told++; told == steps {
				stop(broken)
			}
		})
		stop(nil)
		if err == nil {
			verify(t, m)
			must(t, m.Finish(t.Context()))
			must(t, m.Close())
			break
		}
		must(t, m.Close())
	}
	wantSame(t, want, listen(t, inDatabase(s), w))
}

// TestMoveGoesOnAfterChanges: what was written to the source after a move was broken off comes along,
// and what was removed goes.
func TestMoveGoesOnAfterChanges(t *testing.T) {
	t.Parallel()
	for _, way := range [][2]string{{configs.SQLite, configs.MySQL}, {configs.MySQL, configs.SQLite},
		{configs.SQLite, configs.Postgres}, {configs.Postgres, configs.SQLite}} {
		engine := way[0]
		if engine == configs.SQLite {
			engine = way[1]
		}
		s := endsOn(t, engine)
		w := newWorld(t, s)
		from, to := s, inDatabase(s)
		if way[0] == engine {
			carry(t, s, configs.SQLite, engine)
			s.Storage.Path = filepath.Join(t.TempDir(), "back")
			from, to = inDatabase(s), s
		}
		m := openMove(t, s, way[0], way[1])
		_, err := m.Begin(t.Context())
		must(t, err)
		must(t, m.Copy(t.Context(), false, func(string, int, int) {}))
		must(t, m.Close())

		store := openStates(t, from)
		f := &filler{T: t, store: store}
		last, err := store.Feed(t.Context(), 0, 10_000)
		must(t, err)
		f.at = last[len(last)-1].At
		for number := uint64(1); number < 40; number += 5 {
			must(t, store.Purge(t.Context(), refOf(w, "prod/deltas"), number, last[0]))
		}
		f.put(refOf(w, "large"), []byte("changed"))
		f.put(refOf(w, "new"), []byte("new"))
		for {
			removed, err := store.Shred(t.Context(), w.orgs[1], 100)
			must(t, err)
			if removed == 0 {
				break
			}
		}
		_, err = store.PruneEvents(t.Context(), w.orgs[0], time.Now(), 3, audit.Event{At: time.Now()})
		must(t, err)
		must(t, store.Close())
		want := listen(t, from, w)

		m = openMove(t, s, way[0], way[1])
		again, err := m.Begin(t.Context())
		must(t, err)
		if !again {
			t.Error("the move does not go on")
		}
		must(t, m.Copy(t.Context(), false, func(string, int, int) {}))
		verify(t, m)
		must(t, m.Finish(t.Context()))
		must(t, m.Close())
		wantSame(t, want, listen(t, to, w))
	}
}

// TestMoveFromTheSameFolderElsewhere: a container has another host name each time, and may mount a folder elsewhere.
func TestMoveFromTheSameFolderElsewhere(t *testing.T) {
	t.Parallel()
	s := ends(t)
	w := newWorld(t, s)
	want := listen(t, s, w)
	m := openMove(t, s, configs.SQLite, configs.MySQL)
	_, err := m.Begin(t.Context())
	must(t, err)
	must(t, m.Close())
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	must(t, os.Rename(s.Storage.Path, elsewhere))
	s.Storage.Path = elsewhere
	m = openMove(t, s, configs.SQLite, configs.MySQL)
	again, err := m.Begin(t.Context())
	must(t, err)
	if !again {
		t.Error("the move does not go on")
	}
	must(t, m.Copy(t.Context(), false, func(string, int, int) {}))
	verify(t, m)
	must(t, m.Finish(t.Context()))
	must(t, m.Close())
	wantSame(t, want, listen(t, inDatabase(s), w))

	// The database is away for good: the folder is served again nevertheless.
	s.Database.Host, s.Database.Port = "127.0.0.1", 1
	must(t, storage.AbandonMove(t.Context(), s, configs.SQLite, false, quiet()))
	must(t, storage.AwaitMove(t.Context(), s, quiet()))
}

// TestMoveRefused: nothing is moved onto something, from what is served, or from where it has gone.
func TestMoveRefused(t *testing.T) {
	t.Parallel()
	s := ends(t)
	w := newWorld(t, s)

	served := openStates(t, s)
	m, err := storage.OpenMove(t.Context(), s, configs.SQLite, configs.MySQL, false, quiet())
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a folder that is served is moved: %v, %v", m, err)
	}
	must(t, served.Close())

	node := openStates(t, inDatabase(s))
	(&filler{T: t, store: node}).put(refOf(w, "mine"), []byte("{}"))
	must(t, node.Close())
	before := listen(t, inDatabase(s), w)
	m = openMove(t, s, configs.SQLite, configs.MySQL)
	if _, err := m.Begin(t.Context()); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a database that has something is moved to: %v", err)
	}
	must(t, m.Close())
	wantSame(t, before, listen(t, inDatabase(s), w))
	must(t, storage.AwaitMove(t.Context(), inDatabase(s), quiet())) // no mark is left
	must(t, storage.AwaitMove(t.Context(), s, quiet()))

	other := ends(t)
	carry(t, with(other, s.Storage.Path), configs.SQLite, configs.MySQL)
	if err := storage.AwaitMove(t.Context(), s, quiet()); err == nil || !strings.Contains(err.Error(), "was moved") {
		t.Errorf("a folder that was moved away is served: %v", err)
	}
	m = openMove(t, with(ends(t), s.Storage.Path), configs.SQLite, configs.MySQL)
	if _, err := m.Begin(t.Context()); err == nil || !strings.Contains(err.Error(), "was moved") {
		t.Errorf("a folder that was moved away is moved again: %v", err)
	}
	must(t, m.Abandon(t.Context()))
	must(t, m.Close())
	must(t, storage.AwaitMove(t.Context(), s, quiet()))
	if _, err := os.Stat(filepath.Join(s.Storage.Path, storage.MovesName)); !os.IsNotExist(err) {
		t.Errorf("a mark is left: %v", err)
	}
}

// TestMoveKilledBeforeItLooked: the mark of a move that ended before it had seen that its target is empty gives
// the next one no right to what is there.
func TestMoveKilledBeforeItLooked(t *testing.T) {
	t.Parallel()
	s := ends(t)
	w := newWorld(t, s)
	node := openStates(t, inDatabase(s))
	(&filler{T: t, store: node}).put(refOf(w, "other"), []byte("{}"))
	must(t, node.Close())
	before := listen(t, s, w)
	m := openMove(t, s, configs.SQLite, configs.MySQL)
	mark, err := json.Marshal([]storage.Mark{{Role: "target", Other: m.Target(), At: time.Now()}})
	must(t, err)
	must(t, m.Close())
	must(t, os.WriteFile(filepath.Join(s.Storage.Path, storage.MovesName), mark, 0o600))

	m = openMove(t, s, configs.MySQL, configs.SQLite)
	if again, err := m.Begin(t.Context()); again || err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder that has something is moved to: %v, %v", again, err)
	}
	must(t, m.Close())
	wantSame(t, before, listen(t, s, w))
	must(t, storage.AwaitMove(t.Context(), s, quiet())) // no mark is left
	must(t, storage.AwaitMove(t.Context(), inDatabase(s), quiet()))
}

// with has the folder elsewhere.
func with(s configs.Settings, path string) configs.Settings {
	s.Storage.Path = path
	return s
}

func refOf(w world, name state.Name) state.Ref { return state.Ref{Org: w.orgs[0], Name: name} }

// TestMoveNoticesDamage: one byte that is another one at the target, a record that is missing and one too
// many are noticed, and mended by comparing all bytes.
func TestMoveNoticesDamage(t *testing.T) {
	t.Parallel()
	s := ends(t)
	newWorld(t, s)
	m := openMove(t, s, configs.SQLite, configs.MySQL)
	defer m.Close()
	_, err := m.Begin(t.Context())
	must(t, err)
	must(t, m.Copy(t.Context(), false, func(string, int, int) {}))
	d := mysqltest.Database{Address: mysqltest.FromEnvironment(), Name: s.Database.Name}
	for table, statement := range map[string]string{
		"versions": "UPDATE state_bodies SET bytes = CONCAT(SUBSTR(bytes, 1, LENGTH(bytes) - 1), CHAR(ORD(SUBSTR(bytes, LENGTH(bytes))) ^ 1 " +
			"USING BINARY)) WHERE number = 1 AND piece = 2",
		"released locks": "DELETE FROM state_lock_ids LIMIT 1",
		"purged digests": "INSERT INTO state_purged (state, digest) VALUES (999, REPEAT('x', 32))",
		"audit events":   "UPDATE state_events SET note = CONCAT(note, ' ') WHERE sequence = 3",
		"blob_pieces":    "UPDATE blob_pieces SET body = CONCAT(SUBSTR(body, 1, 31), 'x') LIMIT 1",
		"usage":          "UPDATE state_usage SET bytes = bytes + 1 LIMIT 1",
	} {
		d.Exec(t, statement)
		all, err := m.Verify(t.Context(), true, func(string, int, int) {})
		must(t, err)
		for _, c := range all {
			if c.Equal() == (c.Table == table) {
				t.Errorf("after damage to %s, %s is equal: %v", table, c.Table, c.Equal())
			}
		}
		must(t, m.Copy(t.Context(), true, func(string, int, int) {}))
		verify(t, m)
	}
}
