package runs_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
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

// A plan of what Terragrunt made is taken if its executor brings just that, and no other tool may have made any.
func TestPlansOfWhatTerragruntMade(t *testing.T) {
	tool := plantest.Tools(t)[0]
	files := map[string]string{"main.tf": `resource "terraform_data" "a" {}`, "more.tf": "locals {}",
		backend.File: string(backend.Content()), "backend.tf": "terraform {\n  backend \"http\" {}\n}\n"}
	plan, _ := tool.New(t, files).Plan()
	called := api.Tool{Name: tool.Name, Version: tool.Version}
	wrapper := api.Tool{Name: "terragrunt", Version: "1.0.0", Calls: &called}
	made := func(prefix string, change map[string]string) map[string]string {
		all := map[string]string{}
		for name, text := range files {
			if with, changed := change[name]; changed {
				text = with
			}
			all[prefix+name] = text
		}
		return all
	}
	for name, c := range map[string]struct {
		tool api.Tool
		made map[string]string
		code fault.Code
		of   string // the tool of the workspace, unless that is Terragrunt
	}{
		"in its cache":         {wrapper, made("unit/.terragrunt-cache/work/db/", nil), "", ""},
		"in the unit's folder": {wrapper, made("unit/", nil), "", ""},
		"of another file": {wrapper, made("unit/.terragrunt-cache/work/db/", map[string]string{"more.tf": "# other"}),
			fault.PlanConfigMismatch, ""},
		"of one file less": {wrapper, maps.Collect(func(yield func(string, string) bool) {
			for name, text := range made("unit/.terragrunt-cache/work/", nil) {
				_ = yield(name, text)
			}
			_ = yield("unit/.terragrunt-cache/work/left-out.tf", "locals {}")
		}), fault.PlanConfigMismatch, ""},
		"in another unit":  {wrapper, made("other/.terragrunt-cache/work/", nil), fault.PlanConfigMismatch, ""},
		"nothing":          {wrapper, nil, fault.PlanConfigMismatch, ""},
		"outside":          {wrapper, map[string]string{"../x.tf": "x"}, fault.PlanRefused, ""},
		"by no wrapper":    {called, made("unit/", nil), fault.PlanConfigMismatch, ""},
		"for another tool": {wrapper, made("unit/", nil), fault.PlanConfigMismatch, "opentofu"},
	} {
		b := withWorkspaces(newBench(t, runs.Planning, runs.PlanStage, runs.PhasePlan), &settled{files: map[string]string{}})
		_, err := b.Store.Update(t.Context(), b.run.Ref(), func(r runs.Run) (runs.Change, error) {
			r.Terms.Directory, r.Terms.Tool = "unit", cmp.Or(c.of, "terragrunt")
			return runs.Change{Run: r}, nil
		})
		b.must(err)
		_, err = b.Report(t.Context(), b.as, b.run.ID, api.PhaseReport{Epoch: 2, Stage: "plan", Attempt: 1, Phase: "plan",
			Outcome: runs.OutcomeSucceeded, Tool: &c.tool})
		b.must(err)
		if c.made != nil {
			b.must(b.puts(runs.FilePlanFiles, tarOf(t, c.made)))
		}
		if err := b.puts(runs.FilePlan, plan); c.code == "" && err != nil || c.code != "" && !fault.Is(err, c.code) {
			t.Errorf("%s: %v; want %q", name, err, c.code)
		}
	}
}

func tarOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var packed bytes.Buffer
	out := tar.NewWriter(&packed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(files[name])), Mode: 0o600})
		_, written := io.WriteString(out, files[name])
		if err := errors.Join(err, written); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
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
