package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/state"
)

// completed is what a shell is offered for the last word of a line.
func (s *shell) completed(line ...string) string {
	s.t.Helper()
	code, out, errs := s.run(append([]string{"__complete"}, line...)...)
	if code != exitOK {
		s.t.Fatalf("%q: exit %d, %s", line, code, errs)
	}
	return out
}

func TestNamesAreCompleted(t *testing.T) {
	s := newShell(t)
	s.keeping(state.Policy{})
	for _, name := range []string{"prod/network", "prod/data", "dev/network"} {
		if code, _, errs := s.run("state", "push", name,
			s.write("one.tfstate", `{"version":4,"serial":1,"lineage":"5ad8"}`)); code != exitOK {
			t.Fatal(errs)
		}
	}
	const files, noFiles = ":0\n", ":4\n"
	for line, want := range map[string]string{
		"state show ":          "dev/network\nprod/data\nprod/network\n" + noFiles,
		"state diff prod/":     "prod/data\nprod/network\n" + noFiles,
		"lock release de":      "dev/network\n" + noFiles,
		"state push prod/n":    "prod/network\n" + noFiles,
		"state push prod/a x":  files,
		"candidate list none":  noFiles,
		"state show --addr x ": noFiles, // a server that can't be asked
	} {
		if got := s.completed(strings.Split(line, " ")...); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestOrganizationsAreCompleted(t *testing.T) {
	s := newShell(t)
	for _, name := range []string{"Acme", "Acorn", "Beta"} {
		s.run("init", "--if-missing", "--org-name", "first")
		if code, _, errs := s.run("org", "add", name); code != exitOK {
			t.Fatal(errs)
		}
	}
	if got := s.completed("key", "add", "Ac"); got != "Acme\nAcorn\n:4\n" {
		t.Errorf("got %q", got)
	}
	s.must("org", "shred", "Acorn", "--yes", "--name", "Acorn")
	gone := s.doc().Shreddings()[0].ID.String()
	if got := s.completed("seal", "forget", gone[:3]); got != gone+"\n:4\n" {
		t.Errorf("got %q", got)
	}
	if got := s.completed("org", "remove", "Ac", "--auth-file", "none", ""); strings.Contains(got, "Acme") {
		t.Errorf("got %q", got)
	}
}

// Each command that wants a state, a workspace, a run or an organization has it completed.
func TestEveryNameIsCompleted(t *testing.T) {
	root := newRootCommand(newShell(t).app(nil, nil))
	checked := 0
	for _, cmd := range commandsUnder(root) {
		words := strings.Fields(cmd.Use)
		if len(words) < 2 || strings.Contains("TOOL PROJECT BUCKET ORGANIZATION FOLDER FILE... FILE ADDRESS NUMBER {NUMBER... [WORD]...",
			words[1]) || cmd.CommandPath() == "holdfast org add" || cmd.Hidden {
			continue // a name that there is not yet
		}
		if checked++; cmd.ValidArgsFunction == nil {
			t.Errorf("%s: its %s is not completed", cmd.CommandPath(), words[1])
		}
	}
	if checked < 25 {
		t.Errorf("found %d commands with names only", checked)
	}
}

// commandsUnder are all commands below one.
func commandsUnder(cmd *cobra.Command) (all []*cobra.Command) {
	for _, child := range cmd.Commands() {
		all = append(append(all, child), commandsUnder(child)...)
	}
	return all
}
