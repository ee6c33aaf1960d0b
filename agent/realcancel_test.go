package agent_test

import (
	"strings"
	"testing"
)

const slowResources = `
resource "terraform_data" "slow" {
  count = 3
  provisioner "local-exec" { command = "echo begun; sleep ${count.index < 2 ? 2 : 0}" }
}
resource "terraform_data" "after" {
  depends_on = [terraform_data.slow]
  input      = "after"
}
`

// A real tool that is interrupted ends what it has begun, begins nothing, and stores all of it.
func TestRealApplyIsInterruptedAndStored(t *testing.T) {
	r := newRig(t, tofu(t), map[string]string{"main.tf": slowResources})
	r.withShims()
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	r.server.Approve(run)
	r.logged(run, "apply", "begun")
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
	r := newRig(t, tofu(t), map[string]string{"main.tf": slowResources})
	r.withShims()
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	r.server.Approve(run)
	r.logged(run, "apply", "begun")
	r.end()
	r.start()
	if last := r.ended(run, "apply"); last.Phase != "output" || last.Outcome != "succeeded" {
		t.Fatalf("the run ends with %+v\n%s", last, r.server.Log(run, "apply"))
	}
	log := r.server.Log(run, "apply")
	if strings.Count(log, ": begun") != 3 || strings.Count(log, "Creation complete") != 4 {
		t.Errorf("the log is %s", log)
	}
}
