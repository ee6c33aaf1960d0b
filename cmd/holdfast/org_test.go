package main

import (
	"strings"
	"testing"
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
	if out := s.must("org", "list", "--json"); !strings.Contains(out, `"name": "Acme & Sons",`) || strings.Contains(out, "$2a$") {
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
	for _, c := range []string{"init", "org add", "org list", "key add", "key list", "key revoke", "data query", "data tail", "data export", "data import", "data migrate"} {
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
	if code, _, errs := s.run("org", "remove", "Acme Corp"); code != exitFailed || !strings.Contains(errs, "Type Acme Corp: holdfast: nothing was done") {
		t.Errorf("exit %d, %s", code, errs)
	}
	s.stdin = "Acme Corp\n"
	s.must("org", "remove", "Acme Corp")
	if out := s.must("org", "list"); strings.Contains(out, "Acme") {
		t.Errorf("the list is %s", out)
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
