package runs_test

import (
	"bytes"
	"encoding/hex"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/agent/backend"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/plantest"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/runs/planfile"
)

// A plan file of something else than the run is refused as it comes, and nothing of it is kept:
// the right one is taken behind it.
func TestPlansOfSomethingElse(t *testing.T) {
	tools := plantest.Tools(t)
	right := map[string]string{"main.tf": `resource "terraform_data" "a" {}`, backend.File: string(backend.Content())}
	plan := func(tool plantest.Tool, files map[string]string) []byte {
		file, _ := tool.New(t, files).Plan()
		return file
	}
	moved := tools[0].New(t, right)
	moved.Apply()
	ofAState, _ := moved.Plan("-replace=terraform_data.a")
	good := plan(tools[0], right)
	b := withWorkspaces(newBench(t, runs.Planning, runs.PlanStage, runs.PhasePlan), &settled{files: filesOf(t, good)})
	_, err := b.Report(t.Context(), b.as, b.run.ID, api.PhaseReport{
		Epoch: 2, Stage: "plan", Attempt: 1, Phase: "plan", Outcome: runs.OutcomeSucceeded,
		Tool: &api.Tool{Name: tools[0].Name, Version: tools[0].Version},
	})
	b.must(err)
	for name, c := range map[string]struct {
		file []byte
		code fault.Code
	}{
		"no plan":          {[]byte("no plan"), fault.PlanFileInvalid},
		"cut off":          {good[:len(good)/2], fault.PlanFileInvalid},
		"of another state": {ofAState, fault.PlanStateMismatch},
		"of another configuration": {plan(tools[0],
			map[string]string{"main.tf": `resource "terraform_data" "b" {}`, backend.File: string(backend.Content())}),
			fault.PlanConfigMismatch},
		"of another tool": {plan(tools[1], right), fault.PlanToolMismatch},
	} {
		if err := b.puts(runs.FilePlan, c.file); !fault.Is(err, c.code) {
			t.Errorf("%s: %v; want %s", name, err, c.code)
		}
		if kept, err := b.Store.FilesOf(t.Context(), b.run.Ref()); err != nil || len(kept) > 0 {
			t.Errorf("%s: %+v are kept, %v", name, kept, err)
		}
	}
	b.must(b.puts(runs.FilePlan, good))
}

// filesOf are the files of the configuration that a plan was made of, but the server's own.
func filesOf(t *testing.T, plan []byte) map[string]string {
	t.Helper()
	facts, err := planfile.Inspect(bytes.NewReader(plan), int64(len(plan)), planfile.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, sum := range facts.Config {
		if filepath.Base(name) != backend.File {
			files[name] = hex.EncodeToString(sum[:])
		}
	}
	return files
}
