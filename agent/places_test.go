package agent_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// A stage that is tried again in the same attempt, as where the state's lock was held, shows all of
// each try, one behind the other, also where its executor is replaced in the middle.
func TestEachTryHasItsPlaceInTheLog(t *testing.T) {
	gate, tried := filepath.Join(t.TempDir(), "gate"), filepath.Join(t.TempDir(), "tried")
	held := "if [ ! -e " + tried + " ]; then touch " + tried +
		"; echo 'a long way to say that'; echo 'Error: Error acquiring the state lock'; exit 1; fi; "
	r, _ := scripted(t, scriptTool{apply: held + until(gate)})
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	r.server.Approve(run)
	if last := r.ended(run, "apply"); last.Class != "lock_held" {
		t.Fatalf("the first try ends with %+v", last)
	}
	r.cleared()
	first := r.server.Log(run, "apply")
	r.server.Approve(run)
	r.logged(run, "apply", "begun")
	r.end()
	r.start()
	touch(t, gate)
	r.await(run, "the second try ends", func() bool { return lastOf(r.server.Reports(run)).Phase == "output" })
	want := first + "\n[holdfast: tried again]\n[holdfast: prepare]\nopentofu 1.12.6 (SHA-256 0123), sandbox " +
		"none\n[holdfast: init]\ninitialized\n" +
		"[holdfast: apply]\nbegun\ndone\n[holdfast: output]\n"
	if got := r.server.Log(run, "apply"); got != want || !strings.Contains(first, "a long way") {
		t.Errorf("the log is\n%s\nwanted\n%s", got, want)
	}
}

func lastOf(all []api.PhaseReport) (last api.PhaseReport) {
	if len(all) > 0 {
		last = all[len(all)-1]
	}
	return last
}

// A phase that a next executor begins again, and that goes otherwise than the first time, is shown
// whole, behind what was shown of it before, however often executors are replaced.
func TestPhaseThatGoesOtherwiseIsShownWhole(t *testing.T) {
	r, _ := scripted(t, scriptTool{})
	var refusing atomic.Bool
	refusing.Store(true)
	r.server.Refuse = func(call string) error {
		if call == "report" && refusing.Load() {
			return errors.New("no route to host")
		}
		return nil
	}
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.logged(run, "plan", "sandbox none\n")
	r.end()
	first := r.server.Log(run, "plan")
	other := r.settings.Tools.(oneTool)
	other.digest = "4567"
	r.settings.Tools = other
	for range 2 {
		r.start()
		r.logged(run, "plan", "prepare failed: the plan was made by a binary of opentofu 1.12.6 with the SHA-256 0123; the "+
			"one here has 4567]\n")
		r.end()
	}
	refusing.Store(false)
	r.start()
	r.ended(run, "plan")
	want := first + "\n[holdfast: the executor was started anew, and this was begun again]\n" +
		"\n[holdfast: prepare failed: the plan was made by a binary of opentofu 1.12.6 with the SHA-256 0123; the one here " +
		"has 4567]\n"
	if got := r.server.Log(run, "plan"); got != want {
		t.Errorf("the log is\n%s\nwanted\n%s", got, want)
	}
}

// An executor that comes back between the init and the apply begins none with other variables than
// those that it was given with the apply.
func TestApplyIsNotBegunWithOtherVariables(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	r, calls := scripted(t, scriptTool{init: "echo begun; while [ -e " + gate + " ]; do sleep 0.02; done"})
	r.server.Template.Inputs = "those of the plan"
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	r.end() // what its init made is not there any more
	r.start()
	touch(t, gate)
	r.server.Approve(run)
	r.logged(run, "apply", "begun")
	r.end()
	r.server.Template.Inputs = "others"
	r.start()
	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	if last := r.ended(run, "apply"); last.Outcome != "failed" ||
		!strings.Contains(last.Message, "the variables were changed") {
		t.Errorf("the run ends with %+v", last)
	}
	if slices.Contains(callsOf(t, calls), "apply") {
		t.Error("the tool applies")
	}
}

// A plan can't make what would be taken for a state that its apply could not store.
func TestPlanCarriesNoErroredState(t *testing.T) {
	r, _ := scripted(t, scriptTool{plan: "echo forged > errored.tfstate; echo made > made.txt"})
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	if made := string(r.server.Artefact(run, "plan_files")); !strings.Contains(made, "made.txt") ||
		strings.Contains(made, "errored.tfstate") {
		t.Errorf("what planning made is %q", made)
	}
}
