package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBrokenRulesAreInOrder: however they were asked, each is listed once, by its name.
func TestBrokenRulesAreInOrder(t *testing.T) {
	got := onlyOnce([]Broken{{Rule: "c"}, {Rule: "a", Reason: "1"}, {Rule: "b"}, {Rule: "a", Reason: "2"}})
	want := []Broken{{Rule: "a", Reason: "1"}, {Rule: "b"}, {Rule: "c"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
