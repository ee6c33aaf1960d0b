package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/state"
)

// clock is a time as tables show it.
var clock = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// squeezed is what was printed, without the clock and runs of blanks.
func squeezed(out string) string {
	return regexp.MustCompile(` +`).ReplaceAllString(clock.ReplaceAllString(out, "TIME"), " ")
}

// has checks that there are lines that begin so, in this order, whatever is between them.
func has(t *testing.T, out string, lines ...string) {
	t.Helper()
	rest := "\n" + squeezed(out)
	for _, line := range lines {
		_, after, found := strings.Cut(rest, "\n"+line)
		if !found {
			t.Errorf("no line %q, or not in its place, in\n%s", line, out)
			return
		}
		rest = after
	}
}

func TestStateHistory(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.push("prod/network", network(1, "small"))
	s.push("prod/network", network(2, "large", "tiny"))
	s.push("app", network(7))

	has(t, s.must("state", "list", "--wide"), "NAME VERSION SERIAL RESOURCES SIZE UPDATED BY LOCKED BY CANDIDATES",
		"app 1 7 0 222 B TIME ", "prod/network 2 2 2 675 B TIME ")
	if out := s.must("state", "list", "--prefix", "prod/", "--json"); strings.Count(out, "\n") != 1 ||
		!strings.HasPrefix(out, `{"name":"prod/network","version":{"version":2,`) {
		t.Errorf("printed %s", out)
	}
	has(t, s.must("state", "show", "prod/network", "--wide"), "name prod/network", "version 2", "serial 2", "lineage 5ad8",
		"resources 2", "outputs password, size", "aws_vpc.net0", "aws_vpc.net1")
	if out := s.must("state", "show", "prod/network", "--json"); strings.Contains(out, "hunter2") ||
		!strings.Contains(out, `"aws_vpc.net1"`) {
		t.Errorf("printed %s", out)
	}
	has(t, s.must("state", "versions", "prod/network", "--wide"), "VERSION", "2 2 2 675 B TIME ", "1 1 1 447 B TIME ")
	has(t, s.must("state", "diff", "prod/network"), " # serial: 1 -> 2", ` ~ size = "small" -> "large"`,
		"1 added, 1 changed, 0 removed")
	has(t, s.must("state", "diff", "prod/network", "1", "--against", "2"), " # serial: 2 -> 1",
		"0 added, 1 changed, 1 removed")

	out := s.must("state", "rollback", "prod/network", "1", "--reason", "it broke", "--yes")
	has(t, out, "prod/network has the content of version 1 again, as version 3 with serial 3.", " - aws_vpc.net1",
		"0 added, 1 changed, 1 removed")
	has(t, s.must("state", "versions", "prod/network", "--limit", "1", "--wide"),
		`3 3 1 447 B TIME rollback to 1, "it broke"`)
	has(t, s.must("audit", "list", "--state", "prod/network", "--limit", "1", "--wide"),
		"TIME state.rollback prod/network 3 ")
}

func TestStateOutputs(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.push("app", network(1, "small"))
	has(t, s.must("state", "outputs", "app"), `password string "(sensitive value)"`, `size string "small"`)
	has(t, s.must("state", "outputs", "app", "--sensitive"), `password string "hunter2"`)
	for want, args := range map[string][]string{
		"\"small\"\n": nil, "small": {"--raw"}, `{"value":"small","type":"string","sensitive":false}` + "\n": {"--json"},
	} {
		if out := s.must(append([]string{"state", "outputs", "app", "size"}, args...)...); out != want {
			t.Errorf("%q: printed %q", args, out)
		}
	}
	s.refuse(exitFailed, "the server answers 404 output_not_found: ", "state", "outputs", "app", "sise")
	s.refuse(exitUsage, "--raw is for one output", "state", "outputs", "app", "--raw")
}

func TestStateIsDeletedAndBroughtBack(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.push("app", network(1, "small"))
	s.refuse(exitUsage, "confirm with --yes", "state", "rm", "app")
	s.interactive, s.stdin = true, "no\n"
	if code, _, errs := s.run("state", "rm", "app"); code != exitFailed ||
		!strings.Contains(errs, "Delete app, version 1 (serial 1, 1 resource, ") ||
		!strings.Contains(errs, "nothing was done") {
		t.Errorf("exit %d, stderr %s", code, errs)
	}
	s.stdin = "yes\n"
	if out := s.must("state", "rm", "app"); out != "Deleted app. `holdfast state undelete app` brings it back.\n" {
		t.Errorf("printed %s", out)
	}
	s.refuse(exitFailed, "state app was deleted at ", "state", "rm", "app", "--yes")
	s.refuse(exitFailed, "state app was deleted at ", "state", "show", "app")
	if out := s.must("state", "list", "--wide"); strings.Contains(out, "app") {
		t.Errorf("printed\n%s", out)
	}
	has(t, s.must("state", "list", "--deleted", "--wide"), "app 1 1 1 447 B TIME ")
	has(t, s.must("state", "undelete", "app"), "app is back, at version 1 (serial 1, 1 resource, TIME).")
	if out := s.must("state", "pull", "app"); out != network(1, "small") {
		t.Errorf("pulled %s", out)
	}
	if out := s.must("lock", "list", "--wide"); strings.Contains(out, "app") {
		t.Errorf("a lock was left behind:\n%s", out)
	}
	s.refuse(exitFailed, "there is no state nowhere; `holdfast state list`", "state", "rm", "nowhere", "--yes")
}

func TestVersionIsDestroyed(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.push("app", network(1, "hunter2"))
	s.push("app", network(2, "small"))
	s.refuse(exitUsage, "say why, with --reason", "state", "versions", "app", "--purge", "1", "--yes")
	s.refuse(exitUsage, "confirm with --yes", "state", "versions", "app", "--purge", "1", "--reason", "leaked")
	s.interactive, s.stdin = true, "leaked\nyes\n"
	if out := s.must("state", "versions", "app", "--purge", "1"); out != "Destroyed the bytes of version 1 of app.\n" {
		t.Errorf("printed %s", out)
	}
	has(t, s.must("state", "versions", "app", "--wide"), "2 2 1 ", "1 1 1 ")
	if out := s.must("state", "versions", "app", "--wide"); strings.Count(out, "purged") != 1 {
		t.Errorf("printed\n%s", out)
	}
	s.refuse(exitFailed, "the server answers 410 version_purged: ", "state", "pull", "app", "--version", "1")
	has(t, s.must("audit", "list", "--action", "version.purge", "--wide"), `TIME version.purge app 1 "leaked"`)
}

// On a terminal a rollback shows the difference before it asks.
func TestRollbackAsks(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.push("app", network(1, "small"))
	s.push("app", network(2, "large"))
	s.refuse(exitUsage, "confirm with --yes", "state", "rollback", "app", "1", "--reason", "it broke")
	s.refuse(exitUsage, "is not a version", "state", "rollback", "app", "first")
	s.interactive, s.stdin, s.columns = true, "it broke\nno\n", 100
	code, out, errs := s.run("state", "rollback", "app", "1")
	if code != exitFailed || !strings.Contains(out, "\x1b[33m~\x1b[0m size = \"large\" -> \"small\"\n") ||
		!strings.HasSuffix(errs, "holdfast: nothing was done\n") {
		t.Errorf("exit %d, printed\n%s%s", code, out, errs)
	}
	s.stdin = "it broke\nyes\n"
	if out := s.must("state", "rollback", "app", "1"); !strings.HasSuffix(out,
		".\napp has the content of version 1 again, as version 3 with serial 3.\n") {
		t.Errorf("printed\n%s", out)
	}
	s.refuse(exitFailed, "404 version_not_found", "state", "rollback", "app", "9", "--reason", "it broke", "--yes")
}

func TestPullWritesWholeFiles(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.push("app", network(1, "small"))
	s.push("app", network(2, "large"))
	file := filepath.Join(t.TempDir(), "app.tfstate")
	for want, args := range map[string][]string{network(2, "large"): nil, network(1, "small"): {"--version", "1"}} {
		if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		s.must(append([]string{"state", "pull", "app", "-o", file}, args...)...)
		info, err := os.Stat(file)
		if got, _ := os.ReadFile(file); err != nil || string(got) != want || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, mode %v, pulled %s", args, err, info.Mode(), got)
		}
	}
	s.refuse(exitFailed, "there is no state nowhere", "state", "pull", "nowhere", "-o", file)
}

// A list is cut where its reader says so, and says that it was.
func TestVersionsAreCut(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	for serial := range 5 {
		s.push("app", network(serial+1, fmt.Sprint(serial)))
	}
	_, out, errs := s.run("state", "versions", "app", "--limit", "2")
	if strings.Count(out, "\n") != 3 || errs != "There are more than these 2; --limit 0 shows all.\n" {
		t.Errorf("printed\n%s%s", out, errs)
	}
	if _, out, errs := s.run("state", "versions", "app", "--limit", "5"); strings.Count(out, "\n") != 6 || errs != "" {
		t.Errorf("printed\n%s%s", out, errs)
	}
	s.refuse(exitUsage, "--limit: it is below zero", "state", "versions", "app", "--limit=-1")
	s.refuse(exitFailed, "there is no state nowhere", "state", "versions", "nowhere")
	if _, _, errs := s.run("state", "versions", "nowhere", "--json"); !strings.Contains(errs, `"code":"state_not_found"`) {
		t.Errorf("stderr %s", errs)
	}
	s.refuse(exitUsage, "segment", "state", "versions", "../secret")
}
