package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/shred"
)

const someOrg = "11111111-2222-3333-4444-555555555555"

func TestOrgAddAndList(t *testing.T) {
	s := newShell(t)
	s.must("init")
	if out := s.must("org", "add", "Acme & Sons", "--id", strings.ToUpper(someOrg)); out != someOrg+"\n" {
		t.Errorf("printed %q", out)
	}
	random := strings.TrimSpace(s.must("org", "add", "Other"))
	first := s.doc().Organizations()[0].ID.String()
	want := "ID                                    KEYS  NAME\n" +
		first + "  1     default\n" + someOrg + "  0     Acme & Sons\n" + random + "  0     Other\n"
	if out := s.must("org", "list"); out != want {
		t.Errorf("printed\n%s\nwant\n%s", out, want)
	}
	if out := s.must("org", "list", "--json"); !strings.Contains(out, `"name": "Acme & Sons",`) ||
		strings.Contains(out, "$2a$") {
		t.Errorf("printed %s", out)
	}
}

func TestOrgRefuses(t *testing.T) {
	s := newShell(t)
	s.refuse(exitFailed, "`holdfast init` makes one", "org", "add", "Acme")
	s.refuse(exitFailed, "no such file", "org", "list")
	s.must("init", "--org-name", "Acme")
	s.refuse(exitFailed, "already has an organization", "org", "add", "Acme")
	s.refuse(exitFailed, "printable", "org", "add", "a\nb")
	s.refuse(exitUsage, "--id: invalid UUID", "org", "add", "New", "--id", "x")
	s.refuse(exitUsage, "it is `holdfast org add", "org", "add")
	s.refuse(exitUsage, "a command is missing", "org")
	s.refuse(exitUsage, "unknown command", "org", "destroy")
	s.refuse(exitUsage, "unknown command", "nonsense")
}

func TestEveryCommandHasHelp(t *testing.T) {
	s := newShell(t)
	for _, c := range []string{"init", "org add", "org list", "key add", "key list", "key revoke", "data query",
		"data tail", "data export", "data import", "data migrate"} {
		out := s.must(append(strings.Fields(c), "--help")...)
		if !strings.Contains(out, "Examples:\n  holdfast "+c) {
			t.Errorf("no example in the help of %s:\n%s", c, out)
		}
	}
}

func TestOrgRenameAndRemove(t *testing.T) {
	s := newShell(t)
	s.must("init", "--org-name", "Acme")
	s.must("org", "rename", "Acme", "Acme Corp")
	if out := s.must("org", "list"); !strings.Contains(out, "Acme Corp") {
		t.Errorf("the list is %s", out)
	}
	s.refuse(exitFailed, "no organization", "org", "rename", "Globex", "Initech")
	s.refuse(exitUsage, "--yes", "org", "remove", "Acme Corp")
	s.interactive, s.stdin = true, "Acme\n"
	if code, _, errs := s.run("org", "remove", "Acme Corp"); code != exitFailed ||
		!strings.Contains(errs, "Type Acme Corp: holdfast: nothing was done") {
		t.Errorf("exit %d, %s", code, errs)
	}
	s.stdin = "Acme Corp\n"
	s.must("org", "remove", "Acme Corp")
	if out := s.must("org", "list"); strings.Contains(out, "Acme") {
		t.Errorf("the list is %s", out)
	}
}

// The data of a removed organization is destroyed by a server: until it has written down that it did,
// nothing else has the ID.
func TestOrgRemoveWithItsData(t *testing.T) {
	s := newShell(t)
	s.must("init", "--org-name", "Acme")
	org := s.doc().Organizations()[0].ID
	s.refuse(exitUsage, "confirm with --yes", "org", "remove", "Acme", "--shred")
	s.refuse(exitUsage, `--yes --name "Acme"`, "org", "remove", "Acme", "--shred", "--yes")
	s.refuse(exitFailed, "nothing was done", "org", "remove", "Acme", "--shred", "--yes", "--name", "acme")
	s.refuse(exitUsage, "--name goes with --shred", "org", "remove", "Acme", "--yes", "--name", "Acme")
	s.interactive, s.stdin = true, "yes\n"
	if code, _, errs := s.run("org", "remove", "Acme", "--shred"); code != exitFailed ||
		!strings.Contains(errs, "and have its uploads. Type Acme: holdfast: nothing was done") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if len(s.doc().Organizations()) != 1 {
		t.Fatal("it is removed")
	}
	s.stdin = "Acme\n"
	s.must("org", "remove", "Acme", "--shred")
	s.interactive = false
	gone := s.doc().Shreddings()
	if len(s.doc().Organizations()) != 0 || len(gone) != 1 || gone[0].ID != org || gone[0].Name != "Acme" {
		t.Fatalf("the file says %+v", gone)
	}
	if out := s.must("org", "list"); !strings.Contains(out, org.String()+"  -     Acme (being shredded)\n") {
		t.Errorf("printed %s", out)
	}
	s.refuse(exitFailed, "is being destroyed", "org", "add", "Acme", "--id", org.String())
	s.refuse(exitFailed, "is being destroyed", "org", "remove", "Acme")

	receipts := shred.Folder(filepath.Join(s.data, shred.FolderName))
	order := shred.Order{Org: org, At: gone[0].At.Add(-time.Second)}
	for _, said := range []string{"being shredded", "shredded"} { // an earlier order's receipt is none
		if err := receipts.Write(order, time.Now()); err != nil {
			t.Fatal(err)
		}
		if out := s.must("org", "list", "--json"); !strings.Contains(out, `"shredded": "`+said+`"`) {
			t.Errorf("printed %s", out)
		}
		order.At = gone[0].At
	}
	s.must("org", "add", "Acme", "--id", org.String())
	if len(s.doc().Shreddings()) != 0 || len(s.doc().Organizations()) != 1 {
		t.Error("the file still says that it is shredded")
	}
	s.must("org", "remove", "Acme", "--shred", "--yes", "--name", "Acme")
	if err := receipts.Write(shred.Order{Org: org, At: s.doc().Shreddings()[0].At}, time.Now()); err != nil {
		t.Fatal(err)
	}
	s.must("org", "remove", org.String())
	if len(s.doc().Shreddings()) != 0 {
		t.Error("the section is there")
	}
}

func TestOrgAlias(t *testing.T) {
	s := newShell(t)
	s.must("init", "--org-name", "Acme")
	s.must("org", "add", "Globex")
	s.must("org", "alias", "Acme", "42", "group/project:live")
	s.refuse(exitFailed, "the same alias as in line", "org", "alias", "Globex", "GROUP/project")
	s.refuse(exitUsage, "not an alias such as", "org", "alias", "Globex", "../x")
	s.refuse(exitUsage, "--remove needs aliases", "org", "alias", "Acme", "--remove")
	s.refuse(exitFailed, "no organization", "org", "alias", "Initech", "1")
	if out := s.must("org", "alias", "Acme"); out != "42\ngroup/project:live\n" {
		t.Errorf("printed %q", out)
	}
	s.must("org", "alias", "Acme", "--remove", "42")
	if out := s.must("org", "alias", "Acme"); out != "group/project:live\n" {
		t.Errorf("printed %q", out)
	}
}
