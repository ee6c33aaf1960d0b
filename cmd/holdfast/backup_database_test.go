package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBackupOfADatabase backs up a server that runs and keeps all in a database, and restores it on another one.
func TestBackupOfADatabase(t *testing.T) {
	s := newShell(t)
	s.database()
	here := s.environ
	settings := []string{"HOLDFAST_STATE_STORAGE=mysql", "HOLDFAST_RUNS_STORAGE=mysql", "STORAGE_TYPE=mysql"}
	s.environ = append(s.environ, settings...)
	s.beside()
	s.must("init", "--org-name", "Acme")
	s.start(s.environ...)
	identity, recipient := s.identity()
	dir := t.TempDir()
	one := filepath.Join(dir, "one.hfb")
	s.must("backup", "-o", one, "--recipient", recipient, "--with-master-key")
	s.must("backup", "-o", filepath.Join(dir, "two.hfb"), "--since", one, "--recipient", recipient)
	s.must("backup", "verify", one, "--identity", identity)

	restored := filepath.Join(dir, "restored")
	s.fails("loaded", "backup", "load", dir)
	s.must("restore", one, filepath.Join(dir, "two.hfb"), "--to", restored, "--identity", identity)
	s.fails("--at is for states that are kept in a folder", "restore", one, "--to", filepath.Join(dir, "at"), "--identity",
		identity, "--at", "2026-11-21T12:00:00Z")
	s.fails("is not empty", "backup", "load", restored) // it is served
	s.environ = nil
	s.database()
	s.environ = append(s.environ, settings...)
	s.must("backup", "load", restored)
	if left, err := filepath.Glob(filepath.Join(restored, "database-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for _, name := range []string{"state.db", "runs.db"} {
		if _, err := os.Stat(filepath.Join(restored, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
	s.data = restored
	if strings.Join(here, " ") == strings.Join(s.environ[:len(here)], " ") {
		t.Fatal("it is the same database")
	}
	s.served(s.environ...)
}
