package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/configs"
)

// TestMigrateToPostgres moves a folder into a database of PostgreSQL's, and back into another one.
func TestMigrateToPostgres(t *testing.T) {
	s := newShell(t)
	s.databaseOf(configs.Postgres)
	s.refuse(exitUsage, "--from sqlite --to mysql or postgres", "migrate", "--from", "mysql", "--to", "postgres")
	s.refuse(exitUsage, "--without-uploads", "migrate", "--from", "sqlite", "--to", "postgres")
	s.must("init", "--org-name", "Acme")
	s.beside()
	s.served(s.environ...)
	s.fails("take it away", "migrate", "--from", "sqlite", "--to", "mysql")
	s.environ = append(s.environ, "HOLDFAST_SEAL_MASTER_KEY_FILE="+filepath.Join(s.data, "master.key"))
	out := s.must("migrate", "--from", "sqlite", "--to", "postgres", "--without-uploads", "--json")
	if !strings.Contains(out, `"done": true`) || strings.Contains(out, `"equal": false`) {
		t.Error(out)
	}
	s.served(append(s.environ, allInDatabase(configs.Postgres)...)...)
	s.data = filepath.Join(t.TempDir(), "back")
	s.must("migrate", "--from", "postgres", "--to", "sqlite", "--without-uploads")
	s.must("doctor")
}
