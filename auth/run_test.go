package auth

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// A run may do with its one state what its stage allows, and nothing else, whatever else its
// principal has.
func TestRunMay(t *testing.T) {
	every := append(Owner.Rights(), ReadPinned)
	may := map[RunStage][]Right{RunPlan: {ReadPinned}, RunApply: {ReadState, WriteState, LockState}, "": nil, "check": nil}
	for stage, rights := range may {
		p := Principal{Org: uuid.New(), Grant: Grant{Role: Owner}, Run: &RunGrant{ID: "r", Stage: stage, State: "prod/a"}}
		for _, right := range every {
			if err := p.May(right); !fault.Is(err, fault.RightMissing) {
				t.Errorf("stage %q, %s on nothing in particular: %v", stage, right, err)
			}
			for _, state := range []string{"prod/b", "prod", "prod/a/b", "PROD/A", ""} {
				if err := p.MayOn(right, state); !fault.Is(err, fault.RightMissing) {
					t.Errorf("stage %q, %s on %q: %v", stage, right, state, err)
				}
			}
			want := fault.RightMissing
			if stage == RunPlan {
				want = fault.RunReadOnly
			}
			if err := p.MayOn(right, "prod/a"); slices.Contains(rights, right) && err != nil ||
				!slices.Contains(rights, right) && !fault.Is(err, want) {
				t.Errorf("stage %q, %s on its own state: %v", stage, right, err)
			}
		}
		if !slices.Equal(p.Rights(), rights) || p.Pinned() != (stage == RunPlan) {
			t.Errorf("stage %q: rights %v, pinned %v", stage, p.Rights(), p.Pinned())
		}
		p.Org = uuid.Nil
		if err := p.MayOn(ReadState, "prod/a"); !fault.Is(err, fault.CredentialsNeeded) {
			t.Errorf("stage %q of no organization: %v", stage, err)
		}
	}
}

// The tool of a run reads the outputs of what its workspace reads, and nothing else of it; the executor reads none, and
// what is for the runs of its own workspace alone is read by no other.
func TestRunReads(t *testing.T) {
	reads, err := PatternsOf([]string{"shared/*", "prod/b"})
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := PatternsOf([]string{"shared/hidden"})
	if err != nil {
		t.Fatal(err)
	}
	exposure := (*Exposure)(nil).With(hidden, AccessInternal)
	for _, stage := range []RunStage{RunPlan, RunApply} {
		grant := RunGrant{ID: "r", Stage: stage, State: "prod/a", Reads: reads, Tool: true}
		p := Principal{Org: uuid.New(), Run: &grant, Exposure: exposure}
		for _, name := range []string{"shared/net", "prod/b", "prod/c", "shared/net/x"} {
			for _, right := range append(Owner.Rights(), ReadPinned) {
				want := right == ReadOutputs && reads.Match(name)
				if err := p.MayOn(right, name); (err == nil) != want || err != nil && !fault.Is(err, fault.RightMissing) {
					t.Errorf("%s: %s on %s: %v", stage, right, name, err)
				}
			}
		}
		if err := p.MayOn(ReadOutputs, "shared/hidden"); !fault.Is(err, fault.StateInternal) {
			t.Errorf("%s: outputs for other runs alone: %v", stage, err)
		}
		own := Principal{Org: p.Org, Run: &RunGrant{ID: "r", Stage: RunApply, State: "shared/hidden"}, Exposure: exposure}
		if err := own.MayOn(ReadState, "shared/hidden"); err != nil {
			t.Errorf("%s: its own state: %v", stage, err)
		}
		for what, other := range map[string]RunGrant{
			"the executor": {ID: "r", Stage: stage, State: "prod/a", Reads: reads},
			"no patterns":  {ID: "r", Stage: stage, State: "prod/a", Tool: true},
		} {
			if err := (Principal{Org: p.Org, Run: &other}).MayOn(ReadOutputs, "prod/b"); !fault.Is(err, fault.RightMissing) {
				t.Errorf("%s: %s reads: %v", stage, what, err)
			}
		}
	}
}

func TestRunKeyID(t *testing.T) {
	for id, want := range map[string]string{RunKeyID("01J"): "01J", "run.": "", "0f3a9c21d4e5": "", "oidc.run.x": "",
		"": ""} {
		if got := RunOfKeyID(id); got != want {
			t.Errorf("%q is of the run %q, want %q", id, got, want)
		}
	}
}
