package runs_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// A run of a pull request may be kept from the sensitive variables, whoever has it made again, and nobody
// makes a run of such a snapshot by the usual way.
func TestPullRequestsAreKeptFromSecrets(t *testing.T) {
	w := runworld.New(t)
	w.Sensitive = []api.Input{{Name: "password", Value: "hunter2-hunter2", Sensitive: true}}
	p := owner(uuid.New())
	snapshot := "beside-" + strings.Repeat("ab", 32)
	order := api.RunOrder{Workspace: "w1", Snapshot: snapshot}
	for _, kind := range []string{"plan", "apply", "destroy"} {
		order.Kind = kind
		if _, err := w.Create(t.Context(), p, order, ""); !fault.Is(err, fault.RunInvalid) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	order.Kind, order.Snapshot = "plan", runworld.Snapshot
	names := func(id string) (all []string) {
		got, err := w.Service.Get(t.Context(), p, id)
		if err != nil || got.Order.Pull == nil {
			t.Fatalf("%+v, %v", got.Order, err)
		}
		e := w.Claim(t, p.Org)
		for _, v := range append(e.Assignment.Variables, e.Assignment.Environment...) {
			all = append(all, v.Name)
		}
		return all
	}
	for withhold, want := range map[bool]string{false: "region password", true: "region"} {
		of := runs.PullOrder{Repository: "infra", Number: 7, Withhold: withhold}
		run, err := w.CreateOfPull(t.Context(), p, order, of, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(names(run.ID), " "); got != want {
			t.Errorf("withhold %v: it gets %q", withhold, got)
		}
		if _, err := w.Cancel(t.Context(), p, run.ID, api.CancelOrder{Level: runs.Soft}); err != nil {
			t.Fatal(err)
		}
	}
}

// What a run of a pull request was kept from may be in the state, which it reads: its log hides that all the same.
func TestLogsOfPullRequestsHideWhatTheyWereKeptFrom(t *testing.T) {
	w := runworld.New(t)
	w.Sensitive = []api.Input{{Name: "password", Value: "hunter2-hunter2", Sensitive: true}}
	p := owner(uuid.New())
	order := api.RunOrder{Workspace: "w1", Kind: "plan", Snapshot: runworld.Snapshot}
	run, err := w.CreateOfPull(t.Context(), p, order, runs.PullOrder{Repository: "infra", Number: 7, Withhold: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	e := w.Claim(t, p.Org)
	e.Log("it was hunter2-hunter2\n")
	got, err := w.ReadLog(t.Context(), p, run.ID, runs.Stream(e.Stage), 0, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(got.Text); strings.Contains(text, "hunter2") || !strings.Contains(text, "it was ***") {
		t.Errorf("the log says %q", text)
	}
}

// A run's tool reads the outputs of what its workspace reads for as long as the run goes on; its executor reads none,
// and neither does a run of somebody else's code.
func TestRunsReadOutputs(t *testing.T) {
	w := runworld.New(t)
	w.Terms.Reads = []string{"shared/*"}
	p := owner(uuid.New())
	order := api.RunOrder{Workspace: "w1", Kind: "plan", Snapshot: runworld.Snapshot}
	for withhold, want := range map[bool]string{false: "shared/*", true: ""} {
		of := runs.PullOrder{Repository: "infra", Number: 7, Withhold: withhold}
		run, err := w.CreateOfPull(t.Context(), p, order, of, "")
		if err != nil {
			t.Fatal(err)
		}
		e := w.Claim(t, p.Org)
		for token, want := range map[string]string{e.StateToken: want, e.Token: ""} {
			is, err := w.VerifyRun(t.Context(), token)
			if err != nil || is.Run.Reads.String() != want {
				t.Errorf("withhold %v: it reads %q, want %q, %v", withhold, is.Run.Reads, want, err)
			}
		}
		e.Plan(0)
		is, err := w.VerifyRun(t.Context(), e.StateToken)
		if err != nil || is.Run.Reads != nil {
			t.Errorf("the plan of run %s has ended, and its tool reads %q, %v", run.ID, is.Run.Reads, err)
		}
	}
}
