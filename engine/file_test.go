package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
)

// The provider of files makes, changes, moves, mends, imports and deletes them, through an engine that has nothing
// else installed.
func TestFilesAreKept(t *testing.T) {
	s := newSite(t, "")
	s.options = func(o *engine.Options) { o.Registry = nil }
	out := filepath.Join(s.dir, "out")
	configure := func(path, content string) {
		s.write(t, "main.tf", fmt.Sprintf("terraform {\n  required_providers {\n    file = { source = "+
			"\"terraform.io/builtin/file\" }\n  }\n}\nresource \"file\" \"example\" {\n  path    = %q\n  content = %s\n}\n",
			path, content))
	}
	done := func(want string) {
		t.Helper()
		var said []string
		result, err := s.apply(plan.Options{}, apply.Options{Events: func(e apply.Event) {
			said = append(said, fmt.Sprintf("%s %s %s", e.Address, e.Action, e.Phase))
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d %d %d", result.Added, result.Changed, result.Destroyed); got != want {
			t.Errorf("it did %s, want %s: %q", got, want, said)
		}
		s.settled(t)
	}
	first, second := filepath.Join(out, "a.txt"), filepath.Join(out, "deep", "b.txt")
	has := func(path, want string) {
		t.Helper()
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s has %q, want %q: %v", path, text, want, err)
		}
	}
	configure(first, `"one"`)
	if packages, err := engine.Install(t.Context(), s.dir, nil, engine.Installing{}); err != nil || len(packages) != 0 {
		t.Errorf("it wants to install %v: %v", packages, err)
	}
	done("1 0 0")
	has(first, "one")
	configure(first, `"two"`)
	done("0 1 0")
	has(first, "two")

	s.write(t, "out/a.txt", "somebody else's")
	_, p, err := s.plan(plan.Options{})
	if err != nil || len(p.Drift) != 1 {
		t.Errorf("it has not seen what was changed: %v", err)
	}
	done("0 1 0")
	has(first, "two")
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	done("1 0 0")
	configure(second, "null")
	done("1 0 1")
	has(second, "")
	if _, err := os.Stat(first); !os.IsNotExist(err) {
		t.Errorf("the file before is still there: %v", err)
	}

	s.write(t, "out/theirs.txt", "kept")
	configure(filepath.Join(out, "theirs.txt"), `"kept"`)
	text, err := os.ReadFile(filepath.Join(s.dir, "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", strings.Replace(string(text), `"example"`, `"imported"`, 1)+
		fmt.Sprintf("import {\n  to = file.imported\n  id = %q\n}\n", filepath.Join(out, "theirs.txt")))
	done("0 0 1")
	has(filepath.Join(out, "theirs.txt"), "kept")
	if _, err := s.apply(plan.Options{Destroy: true}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	configure("", `"x"`)
	if _, _, err := s.plan(plan.Options{}); err == nil || !strings.Contains(err.Error(), "needs a path") {
		t.Errorf("no path: %v", err)
	}
	configure(filepath.Join(s.dir, "main.tf", "x"), `"x"`)
	_, err = s.apply(plan.Options{}, apply.Options{})
	if err == nil || !strings.Contains(err.Error(), "can't be written") {
		t.Errorf("a file in a file: %v", err)
	}
}
