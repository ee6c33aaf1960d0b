package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/state"
)

// heldBack makes an organization whose guards hold, with a state that a write would empty.
func heldBack(t *testing.T) (s *shell, candidate string) {
	s = newShell(t)
	policy := state.DefaultPolicy()
	policy.Guards = state.GuardsHold
	s.keeping(policy)
	s.push("app", network(1, "small", "large"))
	s.stdin = network(2)
	s.refuse(exitFailed, "the server answers 409 write_held: the write was kept back (emptied) as candidate ", "state",
		"push", "app", "-")
	fields := strings.Fields(s.must("candidate", "list", "app", "--wide"))
	for i, field := range fields {
		if field == "open" {
			return s, fields[i-1]
		}
	}
	t.Fatalf("no candidate in %q", fields)
	return nil, ""
}

func TestCandidateIsPromoted(t *testing.T) {
	s, id := heldBack(t)
	has(t, s.must("candidate", "list", "app", "--wide"), "ID STATUS SOURCE ON VERSION SERIAL RESOURCES CAME BY NOTES", id+
		" open held 1 2 0 TIME ")
	has(t, s.must("candidate", "diff", "app", id), " # serial: 1 -> 2", " - aws_vpc.net0", "0 added, 0 changed, 2 removed")
	file := filepath.Join(t.TempDir(), "kept.tfstate")
	has(t, s.must("candidate", "show", "app", id, "-o", file), "id "+id, "status open", "source held", "on version 1",
		"serial 2", "notes emptied")
	if got, err := os.ReadFile(file); err != nil || string(got) != network(2) {
		t.Errorf("fetched %s, %v", got, err)
	}
	s.refuse(exitUsage, "say why, with --reason", "candidate", "promote", "app", id)
	s.refuse(exitUsage, "confirm with --yes", "candidate", "promote", "app", id, "--reason", "it was meant")
	if out := s.must("candidate", "promote", "app", id, "--reason", "it was meant", "--yes"); out != "Candidate "+id+
		" is version 2 of app now, with serial 2.\n" {
		t.Errorf("printed %s", out)
	}
	has(t, s.must("candidate", "list", "app", "--wide"), id+" promoted held 1 ")
	has(t, s.must("state", "versions", "app", "--wide"), "2 2 0 ")
	s.refuse(exitFailed, "was promoted; its bytes are no longer kept", "candidate", "show", "app", id, "-o", file)
	s.refuse(exitUsage, "\"nothing\" is not a candidate's ID", "candidate", "show", "app", "nothing")
	for _, command := range []string{"show", "diff", "promote --reason x --yes", "discard --reason x --yes"} {
		line := append([]string{"candidate"}, strings.Fields(command)...)
		s.refuse(exitFailed, "app has no candidate 00000000000000aa; `holdfast candidate list app` shows them",
			append(line, "app", "00000000000000aa")...)
	}
}

func TestCandidateIsBroughtAndDiscarded(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.push("app", network(1, "small"))
	s.hold("app", "id-1", "alice@laptop") // candidates need no lock
	out := s.must("candidate", "add", "app", s.write("errored.tfstate", network(2, "large")), "--reason", "lost its lock")
	id := strings.Fields(out)[3]
	has(t, s.must("candidate", "list", "app", "--wide"), id+" open pushed 1 2 1 TIME \"lost its lock\"")
	s.refuse(exitFailed, "alice@laptop holds the lock id-1", "candidate", "promote", "app", id, "--reason", "x", "--yes")
	s.refuse(exitUsage, "confirm with --yes", "candidate", "discard", "app", id)
	if out := s.must("candidate", "discard", "app", id, "--reason", "applied again",
		"--yes"); out != "Discarded candidate "+id+" of app.\n" {
		t.Errorf("printed %s", out)
	}
	s.refuse(exitFailed, "409 candidate_settled", "candidate", "promote", "app", id, "--reason", "x", "--yes")
}

// What came after a candidate is not overwritten unless somebody says so.
func TestStaleCandidate(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.push("app", network(1, "small"))
	id := strings.Fields(s.must("candidate", "add", "app", s.write("errored.tfstate", network(2, "large"))))[3]
	s.push("app", network(2, "tiny"))
	s.refuse(exitUsage, "confirm with --yes", "candidate", "promote", "app", id, "--reason", "x", "--anyway")
	s.refuse(exitFailed, "409 candidate_stale", "candidate", "promote", "app", id, "--reason", "x", "--yes")
	has(t, s.must("candidate", "promote", "app", id, "--reason", "x", "--anyway", "--yes"), "Candidate "+id+
		" is version 3 of app now")
}

// On a terminal, promote asks; whoever says no has changed nothing.
func TestPromoteAsks(t *testing.T) {
	s, id := heldBack(t)
	s.interactive, s.stdin = true, "it was meant\nno\n"
	code, out, errs := s.run("candidate", "promote", "app", id)
	if want := "Make candidate " + id + " the newest version of app? Type yes: "; code != exitFailed || out != "" ||
		!strings.Contains(errs, want) {
		t.Errorf("exit %d, printed %s%s", code, out, errs)
	}
	has(t, s.must("candidate", "list", "app", "--wide"), id+" open held")
	s.stdin = "it was meant\nyes\n"
	has(t, s.must("candidate", "promote", "app", id), "Candidate "+id+" is version 2 of app now")
}

// What takes something away says with --json what the server said.
func TestWhatIsTakenAwayIsJSON(t *testing.T) {
	s, id := heldBack(t)
	s.push("app", network(3, "small", "large"))
	for _, args := range [][]string{
		{"candidate", "discard", "app", id, "--yes"},
		{"state", "versions", "app", "--purge", "1", "--reason", "leaked", "--yes"},
		{"state", "rm", "app", "--yes"},
	} {
		if out := s.must(append(args, "--json")...); out != `{"status":"success"}`+"\n" {
			t.Errorf("%q printed %s", args, out)
		}
	}
	if out := s.must("lock", "release", "app", "--json"); out != `{"released":null,"status":"success"}`+"\n" {
		t.Errorf("release printed %s", out)
	}
}

// A candidate of a state that was never written is found in the list of states.
func TestCandidateOfNoState(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	id := strings.Fields(s.must("candidate", "add", "lost", s.write("errored.tfstate", network(2, "large"))))[3]
	has(t, s.must("state", "list", "--wide"), "lost - - - - - - 1")
	if out := s.must("state", "list", "--json"); out != `{"name":"lost","version":null,"lock":null,"open_candidates":1}`+
		"\n" {
		t.Errorf("printed %s", out)
	}
	s.refuse(exitFailed, "there is no state lost", "state", "show", "lost")
	s.refuse(exitFailed, "there is no state lost", "state", "rm", "lost", "--yes")
	s.must("candidate", "discard", "lost", id, "--yes")
	if out := s.must("state", "list", "--wide"); strings.Contains(out, "lost") {
		t.Errorf("printed %s", out)
	}
}
