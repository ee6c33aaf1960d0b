package storage_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
)

// onPostgres are the settings of a folder, and of a database of PostgreSQL's.
func onPostgres(t *testing.T) configs.Settings {
	t.Helper()
	suite.Deep(t)
	return inFolder(t, "DATABASE_URL="+pgtest.New(t))
}

// statesToo reports whether states can be kept in a database, too.
func statesToo(t *testing.T, s configs.Settings) bool {
	t.Helper()
	store, err := storage.OpenStates(t.Context(), inDatabase(s), quiet())
	if err == nil {
		must(t, store.Close())
	}
	return err == nil
}

// measured is all that workspaces and runs have.
func measured(t *testing.T, s configs.Settings) []moving.Extent {
	t.Helper()
	db, err := storage.OpenRuns(t.Context(), s, quiet())
	must(t, err)
	shapes, err := db.Shapes(t.Context())
	must(t, err)
	all, err := moving.Measure(t.Context(), moving.Side{Database: db, Shapes: shapes}, true, func(string, int, int) {})
	must(t, err)
	must(t, db.Close())
	return all
}

// TestMoveToPostgresAndBack moves all that there is into a database of PostgreSQL's and back.
func TestMoveToPostgresAndBack(t *testing.T) {
	t.Parallel()
	s := onPostgres(t)
	states := statesToo(t, onPostgres(t))
	var w world
	said := ""
	if states {
		w = newWorld(t, s)
		said = listen(t, s, w)
	} else {
		w.orgs = [2]uuid.UUID{uuid.New(), uuid.New()}
		must(t, os.Mkdir(s.Storage.Path, 0o700))
		fillRuns(t, s, w)
		fillFolder(t, s, w)
	}
	want := measured(t, s)
	carry(t, s, configs.SQLite, configs.Postgres)
	node := s
	node.Runs.Storage = configs.Postgres
	if got := measured(t, node); !slices.Equal(want, got) {
		t.Errorf("there was\n%v, and in the database is\n%v", want, got)
	}
	must(t, storage.AwaitMove(t.Context(), inDatabase(s), quiet()))
	if err := storage.AwaitMove(t.Context(), s, quiet()); err == nil || !strings.Contains(err.Error(), "was moved to") {
		t.Errorf("the folder is served still: %v", err)
	}
	back := s
	back.Storage.Path = filepath.Join(t.TempDir(), "back")
	carry(t, back, configs.Postgres, configs.SQLite)
	if got := measured(t, back); !slices.Equal(want, got) {
		t.Errorf("there was\n%v, and back is\n%v", want, got)
	}
	if states {
		wantSame(t, said, listen(t, inDatabase(s), w))
		wantSame(t, said, listen(t, back, w))
	}
}

// TestMoveToTheOtherServer: a move goes to the server that the settings name, and takes nothing that has no place
// there.
func TestMoveToTheOtherServer(t *testing.T) {
	t.Parallel()
	s := onPostgres(t)
	for want, with := range map[string]struct {
		settings configs.Settings
		to       string
	}{
		"take it away":              {s, configs.MySQL},
		"no database of PostgreSQL": {inFolder(t), configs.Postgres},
		"there is no move":          {s, configs.SQLite},
	} {
		m, err := storage.OpenMove(t.Context(), with.settings, configs.SQLite, with.to, false, quiet())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v does not say %s", m, err, want)
		}
	}
	if statesToo(t, onPostgres(t)) {
		return // they move
	}
	store := openStates(t, s)
	must(t, store.Close())
	m, err := storage.OpenMove(t.Context(), s, configs.SQLite, configs.Postgres, false, quiet())
	if err == nil || !strings.Contains(err.Error(), "has states, which can't be kept in") {
		t.Errorf("%v, %v", m, err)
	}
}

// TestBackupOfPostgres backs a database up, and loads it into another one.
func TestBackupOfPostgres(t *testing.T) {
	t.Parallel()
	from, to := onPostgres(t), onPostgres(t)
	from.Runs.Storage, to.Runs.Storage = configs.Postgres, configs.Postgres
	fillRuns(t, from, world{[2]uuid.UUID{uuid.New(), uuid.New()}})
	moment, err := storage.OpenDump(t.Context(), from, quiet())
	must(t, err)
	must(t, storage.CheckSchemas(t.Context(), moment, false, true))
	var text bytes.Buffer
	must(t, errors.Join(moment.Write(t.Context(), &text), moment.Close()))
	want := measured(t, from)
	if !statesToo(t, onPostgres(t)) {
		_, err := storage.LoadDumpAt(t.Context(), to, bytes.NewReader(text.Bytes()), time.Now(), quiet())
		if err == nil || !strings.Contains(err.Error(), "there were no states in the database") {
			t.Errorf("states that are not there go back: %v", err)
		}
	}
	mysql := ends(t)
	err = storage.LoadDump(t.Context(), mysql, bytes.NewReader(text.Bytes()), quiet())
	if err == nil || !strings.Contains(err.Error(), "holdfast migrate --from postgres --to sqlite") {
		t.Errorf("it is loaded into MySQL: %v", err)
	}
	must(t, storage.LoadDump(t.Context(), to, bytes.NewReader(text.Bytes()), quiet())) // nothing was left
	if got := measured(t, to); !slices.Equal(want, got) {
		t.Errorf("there was\n%v, and now is\n%v", want, got)
	}
}
