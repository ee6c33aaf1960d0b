package handlers_test

import (
	"regexp"
	"strings"
	"testing"
)

// A reason that may be missing is bounded all the same.
func TestReasonsOfCandidatesAreBounded(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	const all = "/api/v1/state/x/candidates"
	fits, long := strings.Repeat("ä", 1000), strings.Repeat("ä", 1001)
	c.converse([]step{
		{"POST " + all + "?reason=" + long, with(1, 1), 400, "reason_missing"},
		{"GET " + all, "", 200, `"candidates":[]`},
		{"POST " + all + "?reason=" + fits, with(1, 1), 201, fits},
	})
	one := all + "/" + regexp.MustCompile(`"id":"([0-9a-f]{16})"`).FindStringSubmatch(c.do("GET "+all, "").body)[1]
	c.converse([]step{
		{"POST " + one + "/discard", `{"reason":"` + long + `"}`, 400, "reason_missing"},
		{"POST " + one + "/discard", "", 200, ""},
	})
}
