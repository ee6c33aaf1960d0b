package main

import (
	"os"
	"strings"
	"testing"
)

// Commands about a server's files say which these are, and make no store and no advice out of a folder that has none.
func TestNoStore(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, args := range [][]string{
		{"seal", "rotate"}, {"doctor"},
		{"backup", "--output", "out", "--recipient", "age1"}, {"tool", "list"},
		{"tool", "add", "--from-path"}, {"data", "export", "--all"}, {"key", "list"}, {"org", "list"}, {"org", "add", "Acme"},
	} {
		var out, errs strings.Builder
		a := newApp()
		a.stdin, a.stdout, a.stderr, a.environ = strings.NewReader(""), &out, &errs, []string{"PATH=" + dir}
		code := run(t.Context(), args, a)
		if code != exitFailed || out.String() != "" || !strings.Contains(errs.String(), dir) ||
			!strings.Contains(errs.String(), "--config FILE") {
			t.Errorf("holdfast %q: exit %d: %s%s", args, code, out.String(), errs.String())
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v: %v", left, err)
	}
}

func TestStoreIsNamed(t *testing.T) {
	s := newShell(t)
	s.must("init")
	for _, args := range [][]string{{"tool", "list"}, {"seal", "rotate"}, {"doctor"}} {
		if _, _, errs := s.run(args...); !strings.HasPrefix(errs, "In "+s.data) {
			t.Errorf("holdfast %q says %q", args, errs)
		}
	}
	for _, args := range [][]string{{"key", "list"}, {"org", "list"}} {
		if _, _, errs := s.run(args...); !strings.HasPrefix(errs, "In "+s.file) {
			t.Errorf("holdfast %q says %q", args, errs)
		}
		if _, _, errs := s.run(append(args, "--json")...); errs != "" {
			t.Errorf("holdfast %q --json says %q", args, errs)
		}
	}
}
