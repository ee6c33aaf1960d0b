package handlers_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// TestChain verifies the audit log in parts, each behind the one before.
func TestChain(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	part := func(query string) (p api.AuditChain) {
		t.Helper()
		got := c.do("GET /api/v1/audit/chain"+query, "")
		if err := json.Unmarshal([]byte(got.body), &p); err != nil || got.status != 200 || p.Breaks == nil {
			t.Fatalf("%d: %s", got.status, got.body)
		}
		return p
	}
	if p := part(""); p.Head != nil || p.Entries != 0 || p.Next != nil {
		t.Errorf("of nothing: %+v", p)
	}
	for n := range 7 {
		c.do(fmt.Sprintf("POST /api/v1/state/s%d", n), both)
	}
	whole := part("?limit=1000")
	if whole.Head == nil || whole.Entries != 7 || whole.First != 1 || whole.Checked != 7 || whole.Next != nil {
		t.Fatalf("the whole is %+v", whole)
	}
	checked, next := 0, ""
	for range 3 {
		p := part("?limit=3&kept=" + *whole.Head + next)
		if checked += p.Checked; p.Next != nil {
			next = "&after=" + *p.Next
		}
		if len(p.Breaks) > 0 || (p.Next == nil) != (checked == 7) {
			t.Errorf("after %d: %+v", checked, p)
		}
	}
	p := part("?kept=6" + (*whole.Head)[1:])
	if len(p.Breaks) != 1 || p.Breaks[0].Damage != "head_lost" || p.Breaks[0].Sequence != 6 {
		t.Errorf("another head: %+v", p)
	}
	for _, query := range []string{"?after=7", "?kept=x", "?after=0:00", "?limit=1001", "?before=1"} {
		if got := c.do("GET /api/v1/audit/chain"+query, ""); got.status != 400 {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}
