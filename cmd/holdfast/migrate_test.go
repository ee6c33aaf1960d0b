package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage"
)

// TestMigrateToPostgres moves a folder without states into a database of PostgreSQL's, and back into another one.
func TestMigrateToPostgres(t *testing.T) {
	s := newShell(t)
	s.databaseOf(configs.Postgres)
	s.refuse(exitUsage, "--from sqlite --to mysql or postgres", "migrate", "--from", "mysql", "--to", "postgres")
	s.refuse(exitUsage, "--without-uploads", "migrate", "--from", "sqlite", "--to", "postgres")
	s.fails("take it away", "migrate", "--from", "sqlite", "--to", "mysql")
	settings, err := configs.Load(configs.Sources{Environ: []string{"STORAGE_PATH=" + s.data}})
	if err == nil {
		err = os.MkdirAll(s.data, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	runs, err := storage.OpenRuns(t.Context(), settings, slog.New(slog.DiscardHandler))
	if err == nil {
		err = runs.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	out := s.must("migrate", "--from", "sqlite", "--to", "postgres", "--without-uploads", "--json")
	if !strings.Contains(out, `"done": true`) || strings.Contains(out, `"equal": false`) {
		t.Error(out)
	}
	s.data = filepath.Join(t.TempDir(), "back")
	s.must("migrate", "--from", "postgres", "--to", "sqlite", "--without-uploads")
}
