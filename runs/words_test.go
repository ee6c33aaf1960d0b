package runs_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// Words that stand in the configuration are not hidden in what a run says, what else is sensitive is, and of a pull
// request that is kept from the values all is.
func TestWordsOfTheConfigurationAreShown(t *testing.T) {
	w := runworld.New(t)
	w.Sensitive = []api.Input{{Name: "region", Value: "eu-west", Sensitive: true},
		{Name: "user", Value: "admin", Sensitive: true}, {Name: "token", Value: "k3yk3yk3y", Sensitive: true}}
	w.Configuration = "provider \"p\" {\n  region = \"eu-west\"\n  token  = \"k3yk3yk3y\"\n}\n"
	p := owner(uuid.New())
	said := func(of runs.PullOrder) string {
		order := api.RunOrder{Workspace: "w1", Kind: "plan", Snapshot: runworld.Snapshot}
		run, err := w.CreateOfPull(t.Context(), p, order, of, "")
		if err != nil {
			t.Fatal(err)
		}
		e := w.Claim(t, p.Org)
		e.Log("admin of eu-west with k3yk3yk3y\n")
		got, err := w.ReadLog(t.Context(), p, run.ID, runs.Stream(e.Stage), 0, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if of.Withhold != (len(e.Words) == 0) {
			t.Errorf("withhold %v: its executor is to show %q", of.Withhold, e.Words)
		}
		if _, err := w.Cancel(t.Context(), p, run.ID, api.CancelOrder{Level: runs.Soft}); err != nil {
			t.Fatal(err)
		}
		return string(got.Text)
	}
	if got := said(runs.PullOrder{}); got != "***** of eu-west with *********\n" {
		t.Errorf("it is shown as %q", got)
	}
	if got := said(runs.PullOrder{Withhold: true}); got != "***** of ******* with *********\n" {
		t.Errorf("of a pull request it is shown as %q", got)
	}
}
