package agent_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
)

// slowResources are three, of which two wait for release; or until their folder is gone, should a test forget it.
const slowResources = `
resource "terraform_data" "slow" {
  count = 3
  provisioner "local-exec" {
    command = "echo begun; ${count.index < 2 ? "while [ -e main.tf ] && [ ! -e go-on ]; do sleep 0.02; done" : "true"}"
  }
}
resource "terraform_data" "after" {
  depends_on = [terraform_data.slow]
  input      = "after"
}
`

// begun is an apply of slowResources whose last one is made, and whose others wait.
func (r *rig) begun() string {
	r.t.Helper()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	r.server.Approve(run)
	for _, said := range []string{
		"slow[0] (local-exec): begun", "slow[1] (local-exec): begun", "slow[2]: Creation complete",
	} {
		r.logged(run, "apply", said)
	}
	return run
}

// release lets what waits in the folder of a run go on.
func (r *rig) release() {
	r.t.Helper()
	folders, err := filepath.Glob(filepath.Join(r.settings.Work, "runs", "*", "*", "config"))
	if err != nil || len(folders) == 0 {
		r.t.Fatalf("there is no run that could go on: %v", err)
	}
	for _, folder := range folders {
		touch(r.t, filepath.Join(folder, "go-on"))
	}
}

// A real tool that is interrupted ends what it has begun, begins nothing, and stores all of it.
func TestRealApplyIsInterruptedAndStored(t *testing.T) {
	suite.Deep(t)
	r := newRig(t, tofu(t), map[string]string{"main.tf": slowResources})
	r.withShims()
	r.start()
	run := r.begun()
	r.server.Cancel(run, "soft")
	last := r.ended(run, "apply")
	if last.Outcome != "cancelled" || last.Phase != "apply" {
		t.Fatalf("the run ends with %+v\n%s", last, r.server.Log(run, "apply"))
	}
	if r.server.Artefact(run, "errored_state") != nil {
		t.Error("there is a state that was not stored")
	}
	// What it has made is in the state: the next plan has it.
	r.server.Template.Tool.Version = ""
	next := r.server.Queue("prod/network", "plan")
	r.ended(next, "plan")
	plan := string(r.server.Artefact(next, "plan_json"))
	if !strings.Contains(plan, `"prior_state"`) || !strings.Contains(plan, `terraform_data.slow[2]`) {
		t.Errorf("the next plan knows nothing of what was made: %s", plan)
	}
}

// The executor is replaced in the middle of a real apply, which ends as it would have.
func TestRealApplyOutlivesItsExecutor(t *testing.T) {
	suite.Deep(t)
	r := newRig(t, tofu(t), map[string]string{"main.tf": slowResources})
	r.withShims()
	r.start()
	run := r.begun()
	r.end()
	r.start()
	r.release()
	if last := r.ended(run, "apply"); last.Phase != "output" || last.Outcome != "succeeded" {
		t.Fatalf("the run ends with %+v\n%s", last, r.server.Log(run, "apply"))
	}
	log := r.server.Log(run, "apply")
	if strings.Count(log, ": begun") != 3 || strings.Count(log, "Creation complete") != 4 {
		t.Errorf("the log is %s", log)
	}
}
