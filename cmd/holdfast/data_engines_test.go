package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
)

// keeper is an engine that keeps uploads, beside a database of a server.
type keeper struct{ kind, server string }

func keepers() []keeper {
	return []keeper{{configs.CSV, configs.MySQL}, {configs.MySQL, configs.MySQL}, {configs.Dual, configs.MySQL},
		{configs.CSV, configs.Postgres}, {configs.Postgres, configs.Postgres}, {configs.Dual, configs.Postgres}}
}

// engine gives the shell's settings an empty store of an engine, with a folder and a
// database of the test's own.
func (s *shell) engine(kind, server string) {
	s.t.Helper()
	if server == configs.Postgres {
		s.environ = []string{"DATABASE_URL=" + pgtest.New(s.t)}
	} else {
		s.database()
	}
	s.environ = append(s.environ, "STORAGE_TYPE="+kind, "STORAGE_PATH="+filepath.Join(s.t.TempDir(), "data"))
}

// opened opens the store of the shell's settings, as a command that writes does.
func (s *shell) opened() inventory.Store {
	s.t.Helper()
	settings, err := configs.Load(configs.Sources{Environ: s.environ})
	if err != nil {
		s.t.Fatal(err)
	}
	store, err := newApp().openToWrite(s.t.Context(), settings)
	if err != nil {
		s.t.Fatal(err)
	}
	return store
}

// TestDataCommandsOnEveryEngine runs each data command on each engine, one after the other
// on the same store. What a command needs beforehand, another command has made.
func TestDataCommandsOnEveryEngine(t *testing.T) {
	suite.Deep(t)
	for _, k := range keepers() {
		t.Run(k.kind+" "+k.server, func(t *testing.T) {
			s := newShell(t)
			s.folder(append(manyReports(40), someReports()[1:]...)...)
			file := s.write("all.csv", s.must("data", "export", "--all"))
			s.engine(k.kind, k.server)
			s.wantImport(file, "Would import 83 records of 2 organizations; 0 there already.\n", "--dry-run")
			s.wantImport(file, "Imported 83 records of 2 organizations; 0 there already.\n")
			s.wantImport(file, "Imported 0 records of 2 organizations; 83 there already.\n")
			for _, format := range []string{formatCSV, formatNDJSON} {
				again := s.write("again."+format, s.must("data", "export", "--all", "--format", format))
				s.wantImport(again, "Imported 0 records of 2 organizations; 83 there already.\n")
			}
			if out := s.must("data", "export", "--org", globex.String()); strings.Count(out, "\r\n") != 42 {
				t.Errorf("exported\n%s", out)
			}
			s.wantAsked()
			s.wantMigrated(k)
		})
	}
}

func (s *shell) wantImport(file, want string, flags ...string) {
	s.t.Helper()
	if out := s.must(append([]string{"data", "import", file}, flags...)...); out != want {
		s.t.Errorf("printed %q, want %q", out, want)
	}
}

// wantAsked asks a server on the store, by query and by tail.
func (s *shell) wantAsked() {
	s.t.Helper()
	store, environ := s.opened(), s.environ
	server := s.serving(store)
	if out := s.must("data", "query", "--json", "--type", "vm_instance"); strings.Count(out, "\n") != 42 {
		s.t.Errorf("query printed\n%s", out)
	}
	r := s.tail("-n", "1")
	r.await("web-3")
	r.end()
	server.Close()
	if err := store.Close(); err != nil {
		s.t.Error(err)
	}
	s.environ = environ
}

// wantMigrated copies what the store has to the other engine, and back to an empty folder.
func (s *shell) wantMigrated(k keeper) {
	s.t.Helper()
	routes := map[string][]string{
		configs.CSV:  {"--from csv --to SERVER", "--from csv --to dual", "--from SERVER --to csv"},
		k.server:     {"--from SERVER --to csv", "--from csv --to dual"},
		configs.Dual: {"--from csv --to dual", "--from SERVER --to csv", "--from csv --to SERVER"},
	}
	for _, route := range routes[k.kind] {
		route = strings.ReplaceAll(route, "SERVER", k.server)
		if out := s.must(append([]string{"data", "migrate"}, strings.Fields(route)...)...); strings.Count(out,
			"  equal\n") != 2 {
			s.t.Errorf("%s printed\n%s", route, out)
		}
	}
}

// TestDataCommandsWithoutUploads says of each command what is missing where settings keep no
// uploads.
func TestDataCommandsWithoutUploads(t *testing.T) {
	s := newShell(t)
	s.environ = []string{"STORAGE_TYPE=memory"}
	for _, args := range []string{"export --all", "import " + s.write("all.csv", "")} {
		s.refuse(exitFailed, "these settings keep no uploads", append([]string{"data"}, strings.Fields(args)...)...)
	}
	s.serving(inventory.Off{})
	s.refuse(exitFailed, "uploads_off", "data", "query")
	s.refuse(exitFailed, "uploads_off", "data", "tail")
}
