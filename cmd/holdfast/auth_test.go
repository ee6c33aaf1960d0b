package main

import (
	"os"
	"strings"
	"testing"
)

// TestAuthInDatabase brings a file into the database, edits it there with the usual commands, takes
// it out again, and replaces nothing that it was not told to.
func TestAuthInDatabase(t *testing.T) {
	s := newShell(t)
	s.database()
	s.refuse(exitFailed, "no auth.cfg in the database yet", "auth", "pull", "-")
	s.must("init", "--org-name", "Acme")
	s.must("auth", "push", s.file)
	s.must("auth", "push", s.file) // it is there already
	inFile, environ := s.environ, append(s.environ, "HOLDFAST_AUTH_SOURCE=database")
	pulled := func() string { return s.must("auth", "pull", "-") }
	file, err := os.ReadFile(s.file)
	if err != nil || pulled() != string(file) {
		t.Fatalf("the database has\n%s\n%v", pulled(), err)
	}
	s.environ = environ
	org := strings.TrimSpace(s.must("org", "add", "Globex"))
	s.must("key", "add", "Globex", "--name", "ci", "--role", "reader")
	s.must("key", "revoke", "Acme", s.doc().Organizations()[0].Keys[0].ID, "--yes")
	if text := pulled(); !strings.Contains(text, "["+org+".ci]") || strings.Count(text, "apikey") != 1 {
		t.Errorf("the database has\n%s", text)
	}
	if list := s.must("org", "list"); !strings.Contains(list, "Globex") {
		t.Errorf("org list says\n%s", list)
	}
	if list := s.must("key", "list", "Globex"); !strings.Contains(list, "never") {
		t.Errorf("key list says\n%s", list)
	}
	s.environ = inFile
	if strings.Contains(string(file), "Globex") {
		t.Error("the file was edited")
	}
	s.refuse(exitFailed, "revision 4", "auth", "push", s.file)
	s.refuse(exitFailed, "wrong.cfg:1", "auth", "push", "--replace", s.write("wrong.cfg", "nonsense\n"))
	s.must("auth", "push", "--replace", s.file)
	if pulled() != string(file) {
		t.Errorf("the database has\n%s", pulled())
	}
	copied := s.write("copy.cfg", "")
	s.must("auth", "pull", copied)
	if text, err := os.ReadFile(copied); err != nil || string(text) != string(file) {
		t.Errorf("%s, %v", text, err)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
