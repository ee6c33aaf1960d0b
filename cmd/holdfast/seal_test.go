package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/seal"
)

// plantedSecret is what no file may have.
const plantedSecret = "c0rrect-horse"

// TestSealCommands renews the key of a store, while it is served and without a server.
func TestSealCommands(t *testing.T) {
	s := newTenant(t)
	s.beside()
	r := s.start()
	s.reaching(r)
	// So short that it is not compressed.
	body := `{"version":4,"serial":5,"lineage":"l","outputs":{"p":{"value":"` + plantedSecret + `"}},"resources":[]}`
	s.stdin = body
	s.must("state", "push", "prod/app", "-")
	if out := s.must("seal", "rotate"); !strings.Contains(out, "data keys are wrapped") {
		t.Errorf("rotate says %q", out)
	}
	if out := s.must("state", "pull", "prod/app"); out != body {
		t.Errorf("the state is %s", out)
	}
	if in := s.filesWith(plantedSecret); len(in) > 0 {
		t.Errorf("the secret is in %v", in)
	}
	if _, err := os.Stat(filepath.Join(s.data, "resources.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the index is on the disk: %v", err)
	}
	r.stop()
	r.wait()
	if out := s.must("seal", "rotate", "--rewrap"); !strings.HasPrefix(out, "0 data keys") {
		t.Errorf("rewrap says %q", out)
	}
	s.must("doctor")
	text, err := os.ReadFile(filepath.Join(s.data, "master.key"))
	if err != nil || strings.Count(string(text), "\n") != 5 {
		t.Errorf("the master key file is %d lines, %v", strings.Count(string(text), "\n"), err)
	}
	if err := os.Rename(filepath.Join(s.data, "master.key"), filepath.Join(s.data, "lost")); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := s.run("doctor"); code != exitFailed {
		t.Errorf("doctor without a key: exit %d, %s", code, errs)
	}
	s.refuse(exitFailed, "master.key", "seal", "rotate")
}

// TestServeWithoutMasterKey: where states are kept and the key is not, nothing is served, and it is said what to do.
func TestServeWithoutMasterKey(t *testing.T) {
	s := newTenant(t)
	r := s.start("HOLDFAST_RUNS_STORAGE=off")
	s.reaching(r)
	s.push("app", network(1, "eu", "small"))
	r.stop()
	r.wait()
	file := filepath.Join(s.file+".data", "master.key")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for runs, want := range map[string]string{"off": "`holdfast init`", "sqlite": "bring back " + file} {
		s.environ = []string{"HOLDFAST_AUTH_FILE=" + s.file, "STORAGE_PATH=" + s.file + ".data", "HOST=127.0.0.1", "PORT=0",
			"HOLDFAST_RUNS_STORAGE=" + runs}
		code, _, errs := s.run("serve")
		if code != exitFailed || !strings.Contains(errs, " is missing") || !strings.Contains(errs, want) {
			t.Errorf("runs %s: exit %d, it does not say %q: %s", runs, code, want, errs)
		}
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("runs %s: there is another key: %v", runs, err)
		}
	}
}

// TestSealWithAnotherFile puts the master key file of another server in the place of the right one while states are
// served: it wraps nothing, gets no new key, and with the right one all goes on.
func TestSealWithAnotherFile(t *testing.T) {
	s := newTenant(t)
	s.beside()
	r := s.start()
	s.reaching(r)
	s.push("app", network(1, "eu", "small"))
	path := filepath.Join(s.data, "master.key")
	right, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := (seal.Source{Path: path}).Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	another, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s.refuse(exitFailed, "it is another file", "seal", "rotate")
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, another) {
		t.Errorf("the other file was changed, %v", err)
	}
	s.push("new", network(1, "eu", "small"))
	if err := os.WriteFile(path, right, 0o600); err != nil {
		t.Fatal(err)
	}
	s.must("seal", "rotate")
	r.stop()
	r.wait()
	s.must("doctor")
}
