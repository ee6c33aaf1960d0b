package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/configs"
)

// TestMigrateToPostgres moves a folder into a database of PostgreSQL's, and back into another one, with uploads.
func TestMigrateToPostgres(t *testing.T) {
	s := newShell(t)
	s.databaseOf(configs.Postgres)
	s.refuse(exitUsage, "--from sqlite --to mysql or postgres", "migrate", "--from", "mysql", "--to", "postgres")
	s.must("init", "--org-name", "Acme")
	s.beside()
	s.served(s.environ...)
	files := s.openCSV(s.data)
	upload(t, files, someReports()...)
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	want := s.extents(s.data)
	s.fails("take it away", "migrate", "--from", "sqlite", "--to", "mysql")
	s.environ = append(s.environ, "HOLDFAST_SEAL_MASTER_KEY_FILE="+filepath.Join(s.data, "master.key"))
	moved := func(from, to string) {
		t.Helper()
		var result struct {
			Done    bool
			Tables  []movedTable
			Uploads []move
		}
		out := s.must("migrate", "--from", from, "--to", to, "--json")
		if err := json.Unmarshal([]byte(out), &result); err != nil || !result.Done || len(result.Uploads) != 2 {
			t.Fatalf("%v: %s", err, out)
		}
		for _, one := range result.Tables {
			if !one.Equal {
				t.Errorf("%s is not equal: %s", one.Table, out)
			}
		}
		for _, one := range result.Uploads {
			if one.Result != moveEqual || one.Added == 0 || one.Source != one.Target || len(one.Target.SHA256) != 64 {
				t.Errorf("the uploads of %s: %+v", one.Org, one)
			}
		}
	}
	moved(configs.SQLite, configs.Postgres)
	if got := extentsOf(t, s.inDatabase()); got != want {
		t.Errorf("the database has uploads\n%swant\n%s", got, want)
	}
	s.served(append(s.environ, allInDatabase(configs.Postgres)...)...)
	s.data = filepath.Join(t.TempDir(), "back")
	moved(configs.Postgres, configs.SQLite)
	if got := s.extents(s.data); got != want {
		t.Errorf("the folder has uploads\n%swant\n%s", got, want)
	}
	s.must("doctor")
}
