package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/state"
)

// Where the organization requires the lock, the commands that change a state take it, and
// leave none behind.
func TestCommandsTakeTheLockThatIsRequired(t *testing.T) {
	s := newShell(t)
	policy := state.DefaultPolicy()
	policy.RequireLock = true
	s.keeping(policy)
	s.push("app", network(1, "small"))
	s.push("app", network(2, "large"))
	has(t, s.must("state", "rollback", "app", "1", "--reason", "it broke", "--yes"),
		"app has the content of version 1 again, as version 3 with serial 3.")
	brought := s.must("candidate", "add", "app", s.write("errored.tfstate", network(4, "tiny")))
	id := regexp.MustCompile(`[0-9a-f]{16}`).FindString(brought)
	has(t, s.must("candidate", "promote", "app", id, "--reason", "meant", "--yes"), "Candidate "+id+
		" is version 4 of app now, with serial 4.")
	if took := s.must("audit", "list", "--state", "app", "--action", "lock.take", "--limit", "0"); strings.Count(took,
		"lock.take") != 4 {
		t.Errorf("locks were taken so:\n%s", took)
	}
	s.must("state", "rm", "app", "--yes")
	if out := s.must("lock", "list"); strings.Contains(out, "app") {
		t.Errorf("a lock was left behind:\n%s", out)
	}
}

// A purge says where the same bytes still are, destroys them there when it is told to, and
// what is pushed again is refused.
func TestPurgeOfCopies(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	leak := network(1, "hunter2")
	for _, body := range []string{leak, network(2, "small"), leak, network(3, "small")} {
		s.push("app", body)
	}
	purge := []string{"state", "versions", "app", "--purge", "1", "--reason", "leaked", "--yes"}
	if out := s.must(purge...); out != "Destroyed the bytes of version 1 of app.\nThe same bytes are still in version "+
		"3: --copies destroys them too.\n" {
		t.Errorf("printed %s", out)
	}
	if out := s.must(append(purge, "--copies")...); out != "Destroyed the bytes of versions 1, 3 of app.\n" {
		t.Errorf("printed %s", out)
	}
	s.refuse(exitFailed, "409 bytes_purged", "state", "push", "app", s.write("leak.tfstate", leak), "--force")
	has(t, s.must("state", "push", "app", s.write("leak.tfstate", leak), "--force", "--restore-purged"),
		"Stored app as version 5 with serial 1.")
}
