package projects

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/runs"
)

// Each status of a run has one of the five words.
func TestStatusWords(t *testing.T) {
	words := map[runs.Status]string{
		runs.Pending: "pending", runs.AwaitingApproval: "awaiting_approval", runs.Succeeded: "success", runs.Failed: "failed",
		runs.Discarded: "failed", runs.Outdated: "failed", runs.Cancelled: "failed",
	}
	for _, status := range runs.Statuses() {
		want, ok := words[status]
		if !ok {
			want = "running"
		}
		if got := statusOf(status); got != want {
			t.Errorf("%s is %q, want %q", status, got, want)
		}
	}
}

// A position is read as it is told, and leads through the logs of all attempts.
func TestPositions(t *testing.T) {
	run := runs.Run{Kind: runs.Apply, Attempt: 2}
	at, ok := begin(), true
	var seen []string
	for ok {
		read, fine := ParsePosition(at.String())
		if !fine || read != at {
			t.Errorf("%s is read as %s", at, read)
		}
		seen = append(seen, at.String())
		at, ok = at.next(run)
	}
	want := []string{"plan:1:0", "apply:1:0", "plan:2:0", "apply:2:0"}
	if len(seen) != len(want) {
		t.Fatalf("got %v, want %v", seen, want)
	}
	for i := range want {
		if seen[i] != want[i] {
			t.Errorf("got %v, want %v", seen, want)
		}
	}
	if _, ok := begin().next(runs.Run{Kind: runs.Plan, Attempt: 1}); ok {
		t.Error("a plan has an apply")
	}
	for _, text := range []string{"x", "plan", "plan:0:0", "show:1:0", "plan:1:-1", "plan:1:0:0",
		"plan:1:99999999999999999999"} {
		if _, ok := ParsePosition(text); ok {
			t.Errorf("%q was accepted", text)
		}
	}
}

// A piece of a log ends before a character that isn't whole.
func TestWholeCharacters(t *testing.T) {
	for text, want := range map[string]struct {
		said string
		rest int
	}{
		"ab":         {"ab", 0},
		"aé":         {"aé", 0},
		"a\xc3":      {"a", 1},
		"a\xe2\x82":  {"a", 2},
		"a\xffb":     {"a\uFFFDb", 0},
		"\xc3":       {"\uFFFD", 0},
		"a\xf0\x9f€": {"a\uFFFD€", 0},
	} {
		if said, rest := whole([]byte(text)); said != want.said || rest != want.rest {
			t.Errorf("%q: %q and %d, want %q and %d", text, said, rest, want.said, want.rest)
		}
	}
}

// A brief run says who decided last, and what there is to approve.
func TestBrief(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	run := runs.Run{ID: "r", Workspace: "a", Kind: runs.Apply, Status: runs.AwaitingApproval, CreatedAt: at,
		PlannedAt: at.Add(time.Minute), Pin: &api.Pin{Digest: "d"}, Terms: runs.Terms{Approvals: 2},
		Counts:    &api.RunCounts{Add: 3, Change: 1, Destroy: 2, Replace: 2},
		Order:     runs.Order{PlanRun: "p"},
		Approvals: []api.Approval{{Approved: true, By: api.Actor{KeyID: "k", KeyName: "ann"}, At: at.Add(time.Hour)}}}
	got := project{}.brief(run)
	if *got.Digest != "d" || *got.Decision != "approved" || *got.DecidedBy != "ann" || got.Approvals != 1 ||
		got.ApprovalsNeeded != 2 || *got.PlanRunID != "p" || !got.UpdatedAt.Equal(at.Add(time.Minute)) ||
		*got.Counts != (api.ProjectCounts{Added: 3, Changed: 1, Destroyed: 2}) {
		t.Errorf("got %+v", got)
	}
	run.Status, run.Reason, run.Approvals, run.FinishedAt = runs.Discarded, "discarded by bob", nil, at.Add(time.Hour)
	if got := (project{}).brief(run); *got.Decision != "denied" || *got.DecidedBy != "bob" || got.Digest != nil ||
		got.Status != "failed" {
		t.Errorf("got %+v", got)
	}
}
