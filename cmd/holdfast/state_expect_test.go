package main

import (
	"regexp"
	"strings"
	"testing"
)

// A destroy that is announced passes, is shown until it has, and can be taken back.
func TestExpect(t *testing.T) {
	s, candidate := heldBack(t)
	if out := s.must("state", "expect",
		"app"); out != "Nothing is expected of app; --emptied or --shrunk announces it.\n" {
		t.Errorf("printed %s", out)
	}
	s.refuse(exitUsage, "say why, with --reason", "state", "expect", "app", "--emptied")
	s.refuse(exitFailed, "400 parameter_invalid: a change is expected for a time from 1m0s to 168h0m0s", "state", "expect",
		"app", "--emptied", "--for", "1s", "--reason", "x")
	s.refuse(exitFailed, "there is no state other", "state", "expect", "other", "--emptied", "--reason", "x")
	s.refuse(exitUsage, "each stand alone", "state", "expect", "app", "--emptied", "--end")
	s.refuse(exitUsage, "", "state", "expect")
	s.refuse(exitUsage, "", "state", "expect", "app", "--list")
	out := s.must("state", "expect", "app", "--emptied", "--shrunk", "--for", "90m", "--reason", "it moves")
	if !regexp.MustCompile(`^Until \S+Z, no guard holds it when app is emptied or shrunk, once\.\n$`).MatchString(out) {
		t.Errorf("printed %s", out)
	}
	has(t, s.must("state", "expect", "--list", "--wide"), "STATE EXPECTED UNTIL BY REASON",
		"app emptied, shrunk TIME it moves")
	has(t, s.must("state", "expect", "app"), "expected emptied, shrunk", "reason it moves")
	if out := s.must("state", "expect", "app", "--json"); !strings.HasPrefix(out,
		`{"expectation":{"findings":["emptied","shrunk"],`) {
		t.Errorf("printed %s", out)
	}
	if out := s.must("state", "expect", "--list", "--json"); strings.Count(out, "\n") != 1 ||
		!strings.Contains(out, `"reason":"it moves"`) {
		t.Errorf("printed %s", out)
	}
	s.push("app", network(2))
	has(t, s.must("candidate", "list", "app", "--wide"), candidate+" promoted held 1 ")
	if out := s.must("state", "expect", "--list"); strings.Contains(out, "app") {
		t.Errorf("printed %s", out)
	}
	s.push("app", network(3, "small"))
	s.must("state", "expect", "app", "--emptied", "--reason", "again")
	if out := s.must("state", "expect", "app", "--end"); out != "It is no longer expected that app is emptied.\n" {
		t.Errorf("printed %s", out)
	}
	if out := s.must("state", "expect", "app", "--end", "--json"); out != `{"expectation":null}`+"\n" {
		t.Errorf("printed %s", out)
	}
	s.stdin = network(4)
	s.refuse(exitFailed, "409 write_held", "state", "push", "app", "-")
	has(t, s.must("audit", "list", "--state", "app", "--wide"), "TIME expect.end app 3 emptied",
		"TIME expect.use app 2 emptied, \"it moves\"")
}

// What to type to decide stands beside the list, and not in what a program reads.
func TestCandidateListSaysWhatToType(t *testing.T) {
	s, id := heldBack(t)
	_, out, errs := s.run("candidate", "list", "app")
	if want := "\nTo decide on it:\n  holdfast candidate diff app " + id + "\n  holdfast candidate promote app " + id +
		"\n  holdfast candidate discard app " + id + "\n"; errs != want || strings.Contains(out, "holdfast") {
		t.Errorf("printed %s%s", out, errs)
	}
	if _, _, errs := s.run("candidate", "list", "app", "--json"); errs != "" {
		t.Errorf("printed %s", errs)
	}
	s.must("candidate", "discard", "app", id, "--yes")
	if _, _, errs := s.run("candidate", "list", "app"); errs != "" {
		t.Errorf("printed %s", errs)
	}
}
