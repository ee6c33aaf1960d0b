package state_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// What somebody brought to a deleted state, such as the errored.tfstate of a run that was
// under way, is there until somebody decides on it, however long that takes; and the log says
// so. Old versions go all the same.
func TestSweepWaitsForCandidates(t *testing.T) {
	const day = 24 * time.Hour
	var lines bytes.Buffer
	b := newBench(t, func(p *state.Policy) { p.KeepVersions = 1 })
	b.log = slog.New(slog.NewTextHandler(&lines, nil))
	b.over(b.store)
	b.must(b.put(numbered(1), ""), b.put(numbered(2), ""), b.Delete(t.Context(), b.owner, "x", ""))
	_, err := b.Put(t.Context(), b.owner, "y", state.Write{Body: []byte(numbered(1))})
	b.must(err, b.Delete(t.Context(), b.owner, "y", ""))
	b.now = b.now.Add(30*day - time.Minute)
	made, err := b.AddCandidate(t.Context(), b.owner, "x", []byte(numbered(3)), "crash")
	b.must(err)
	for range 3 {
		b.now = b.now.Add(300 * day)
		lines.Reset()
		b.must(b.Sweep(t.Context()))
		kept, err := b.Candidate(t.Context(), b.owner, "x", made.ID)
		if err != nil || kept.Status != state.Open || string(kept.Body) != numbered(3) {
			t.Fatalf("the candidate after the sweep: %+v, %v", kept.Candidate, err)
		}
		if got := lines.String(); strings.Count(got, "\n") != 1 ||
			!strings.Contains(got, "states=1 candidates=1 one_of_them=x") || !strings.Contains(got, b.owner.Org.String()) {
			t.Errorf("the log has\n%s", got)
		}
	}
	if left := b.left(); left != "2" {
		t.Errorf("versions %q are left; want the newest", left)
	}
	page, err := b.States(t.Context(), b.owner, state.StatesQuery{Limit: 9, Deleted: state.OnlyDeleted})
	if err != nil || len(page.States) != 1 || page.States[0].OpenCandidates != 1 {
		t.Errorf("deleted states: %+v, %v; want x with its candidate, and y gone", page, err)
	}
	b.must(b.Discard(t.Context(), b.owner, "x", made.ID, "applied again"))
	lines.Reset()
	b.must(b.Sweep(t.Context()))
	_, err = b.Candidate(t.Context(), b.owner, "x", made.ID)
	b.refuses(fault.CandidateNotFound, err)
	if expired := b.on(audit.StateExpire); len(expired) != 2 || lines.Len() != 0 {
		t.Errorf("%d states expired; the log has\n%s", len(expired), &lines)
	}
}

// Promoted, it is the state again.
func TestCandidateOfDeletedStateIsPromoted(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(numbered(1), ""), b.Delete(t.Context(), b.owner, "x", ""))
	made, err := b.AddCandidate(t.Context(), b.owner, "x", []byte(numbered(2)), "crash")
	b.must(err)
	b.now = b.now.AddDate(1, 0, 0)
	b.must(b.Sweep(t.Context()))
	_, err = b.Promote(t.Context(), b.owner, "x", made.ID, state.Decision{Reason: "it was not meant to go"})
	b.must(err, b.Sweep(t.Context()))
	if body, n := b.newest(); body != numbered(2) || n != 2 {
		t.Errorf("version %d, %q", n, body)
	}
}
