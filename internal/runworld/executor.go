package runworld

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/runs"
)

// Executor has a stage of a run, and does with it what a test says.
type Executor struct {
	t     testing.TB
	world *World
	api.Assignment
	caller auth.Principal
	logged int64
}

// Claim gets the next stage that waits, which must be there.
func (w *World) Claim(t testing.TB, org uuid.UUID) *Executor {
	t.Helper()
	e := &Executor{t: t, world: w}
	worker := runs.Worker{ID: "executor", Name: "test", Pool: w.Pool, Orgs: []uuid.UUID{org}}
	found, err := w.Service.Claim(t.Context(), worker, api.AgentClaim{Key: uuid.NewString(), BootID: "boot"})
	if err != nil || found == nil {
		t.Fatalf("no stage of a run waits: %v", err)
	}
	e.Assignment = *found
	e.caller, err = w.VerifyRun(t.Context(), found.Token)
	e.must(err)
	e.logged = found.LogFrom
	return e
}

func (e *Executor) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// Log adds to the stage's log.
func (e *Executor) Log(text string) {
	e.t.Helper()
	end, err := e.world.AppendLog(e.t.Context(), e.caller, e.Run, runs.Stream(e.Stage), e.Attempt, e.logged, []byte(text))
	e.must(err)
	e.logged = end
}

// Renew shows life, in a phase.
func (e *Executor) Renew(phase string, inFlight ...api.InFlight) api.Lease {
	e.t.Helper()
	lease, err := e.world.Renew(e.t.Context(), e.caller, e.Run,
		api.LeaseRenewal{Epoch: e.Epoch, Stage: e.Stage, Phase: phase, InFlight: inFlight})
	e.must(err)
	return lease
}

// Report says how a phase has ended.
func (e *Executor) Report(r api.PhaseReport) {
	e.t.Helper()
	r.Epoch, r.Stage, r.Attempt = e.Epoch, e.Stage, e.Attempt
	r.Tool = Tool()
	_, err := e.world.Report(e.t.Context(), e.caller, e.Run, r)
	e.must(err)
}

// Tool is what executors say that they have used.
func Tool() *api.Tool {
	return &api.Tool{Name: "opentofu", Version: "1.12.6", Digest: "05042c29", System: "linux_amd64"}
}

// Plan ends a plan, with as many resources to be created.
func (e *Executor) Plan(creates int) {
	e.t.Helper()
	e.Renew("plan")
	for kind, content := range PlanFiles(creates) {
		e.put(kind, content)
	}
	e.Report(api.PhaseReport{Phase: "show", Outcome: "succeeded", Last: true, Seconds: 1.5})
}

// Apply ends an apply, which leaves these outputs behind: JSON as the tools print it.
func (e *Executor) Apply(outputs string) {
	e.t.Helper()
	e.Renew("apply")
	e.put("outputs", []byte(outputs))
	e.Report(api.PhaseReport{Phase: "output", Outcome: "succeeded", Last: true, Seconds: 2.5, Work: api.Work{
		Resources: 2, PerSecond: 0.8,
		Slowest: []api.ResourceTime{{Address: "terraform_data.r0", Action: "create", Seconds: 1.5}},
	}})
}

func (e *Executor) put(kind string, content []byte) {
	e.t.Helper()
	sum := sha256.Sum256(content)
	described := api.Artefact{Kind: kind, Attempt: e.Attempt, Digest: hex.EncodeToString(sum[:])}
	_, err := e.world.PutFile(e.t.Context(), e.caller, e.Run, described, bytes.NewReader(content))
	e.must(err)
}

// PlanFiles are what a plan makes that creates so many resources. The plan file is one that is
// encrypted, so that nothing in it can be wrong.
func PlanFiles(creates int) map[string][]byte {
	var changes bytes.Buffer
	for i := range creates {
		if i > 0 {
			changes.WriteByte(',')
		}
		fmt.Fprintf(&changes, `{"address":"terraform_data.r%d","mode":"managed","type":"terraform_data","name":"r%d","provider_name":"terraform.io/builtin/terraform",`+
			`"change":{"actions":["create"],"before":null,"after":{"input":"<%d>"},"after_unknown":{"id":true},"before_sensitive":false,"after_sensitive":{}}}`, i, i, i)
	}
	return map[string][]byte{
		"plan": []byte(`{"meta":{},"encrypted_data":"AAAA","encryption_version":"v0"}`),
		"plan_json": []byte(`{"format_version":"1.2","terraform_version":"1.12.6","resource_changes":[` + changes.String() +
			`],"output_changes":{}}`),
		"lock_file": []byte("# none\n"),
	}
}

// Await is Claim of a stage that is yet to come. It may be called beside the test.
func (w *World) Await(t testing.TB, org uuid.UUID) *Executor {
	e := &Executor{t: t, world: w}
	worker := runs.Worker{ID: "executor", Name: "test", Pool: w.Pool, Orgs: []uuid.UUID{org}}
	found, err := w.Service.Claim(t.Context(), worker, api.AgentClaim{Key: uuid.NewString(), Wait: 30, BootID: "boot"})
	if err == nil && found != nil {
		e.Assignment = *found
		e.caller, err = w.VerifyRun(t.Context(), found.Token)
	}
	if err != nil {
		t.Error(err)
	}
	return e
}
