package handlers_test

import (
	"encoding/json"
	"fmt"
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

// All that were decided on can be reached, page by page; open ones are on the first.
func TestCandidatesHavePages(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	const all = "/api/v1/state/x/candidates"
	for n := 1; n <= 4; n++ {
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(c.do("POST "+all, with(n, n)).body), &made); err != nil {
			t.Fatal(err)
		}
		if n != 2 {
			c.converse([]step{{"POST " + all + "/" + made.ID + "/discard", "", 200, ""}})
		}
	}
	var serials []string
	for query := "?limit=1"; ; {
		var page struct {
			Candidates []struct{ Serial int }
			Next       string
		}
		if err := json.Unmarshal([]byte(c.do("GET "+all+query, "").body), &page); err != nil || len(serials) > 9 {
			t.Fatal(serials, err)
		}
		for _, one := range page.Candidates {
			serials = append(serials, fmt.Sprint(one.Serial))
		}
		if page.Next == "" {
			break
		}
		query = "?limit=1&cursor=" + page.Next
	}
	if got := strings.Join(serials, " "); got != "4 2 3 1" {
		t.Errorf("the pages have %s; want 4 2, 3 and 1", got)
	}
	c.converse([]step{
		{"GET " + all, "", 200, `"next":null`},
		{"GET " + all + "?cursor=", "", 400, "cursor_invalid"},
		{"GET " + all + "?cursor=x", "", 400, "cursor_invalid"},
	})
}

// idIn returns the first ID of a candidate in an answer.
func idIn(t *testing.T, text string) string {
	t.Helper()
	found := regexp.MustCompile(`"id":"([0-9a-f]{16})"`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no candidate in %s", text)
	}
	return found[1]
}
