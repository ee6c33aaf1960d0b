package handlers_test

import (
	"encoding/json"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// TestInsightOfARun: who may read a run is told what its plan means, each time the same; nobody else
// is, and a run without a plan has none.
func TestInsightOfARun(t *testing.T) {
	world, server := runServer(t)
	var ids []string
	for _, workspace := range []string{"planned", "pending"} {
		run, err := world.Create(t.Context(), owner, api.RunOrder{Workspace: workspace, Kind: "apply"}, "")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, run.ID)
		if workspace == "planned" {
			world.Claim(t, acme).Plan(2)
		}
	}
	mine, other := newCaller(t, server, acme, acmeKey), newCaller(t, server, globex, globexKey)
	first := mine.do("GET /api/v1/runs/"+ids[0]+"/insight", "")
	var said api.Insight
	if err := json.Unmarshal([]byte(first.body), &said); err != nil || first.status != 200 {
		t.Fatalf("%d %v: %s", first.status, err, first.body)
	}
	if said.Facts.Counts.Add != 2 || len(said.Facts.Changes) != 2 || said.Security.ShouldApprove || said.Summary == "" {
		t.Errorf("it says %s", first.body)
	}
	if again := mine.do("GET /api/v1/runs/"+ids[0]+"/insight", ""); again.body != first.body {
		t.Errorf("it says something else: %s", again.body)
	}
	mine.converse([]step{{"GET /api/v1/runs/" + ids[1] + "/insight", "", 404, `"code":"run_file_not_found"`}})
	other.converse([]step{{"GET /api/v1/runs/" + ids[0] + "/insight", "", 404, `"code":"run_not_found"`}})
}
