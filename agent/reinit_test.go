package agent_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/api"
)

// planThenApply has a run planned, something done, and the run applied. It returns what the tool was
// called for.
func (r *rig) planThenApply(calls string, between func()) (run string, all []string) {
	r.t.Helper()
	r.start()
	run = r.server.Queue("prod/network", "apply")
	if last := r.ended(run, "plan"); last.Outcome != "succeeded" {
		r.t.Fatalf("the plan ends with %+v", last)
	}
	r.cleared()
	between()
	r.server.Approve(run)
	if last := r.ended(run, "apply"); last.Outcome != "succeeded" {
		r.t.Fatalf("the apply ends with %+v", last)
	}
	return run, callsOf(r.t, calls)
}

const initTwice = "init plan show init apply output"

// makesData is an init that leaves something behind, as with modules.
const makesData = `mkdir -p "$TF_DATA_DIR/modules"; echo module > "$TF_DATA_DIR/modules/m.tf"`

func TestApplyGoesOnWithWhatThePlansInitMade(t *testing.T) {
	r, calls := scripted(t, scriptTool{init: makesData, apply: `cat "$TF_DATA_DIR/modules/m.tf"`})
	run, all := r.planThenApply(calls, func() {})
	log := r.server.Log(run, "apply")
	if diff := cmp.Diff("init plan show apply output", strings.Join(all, " ")); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(log, "[holdfast: init]\nwhat the plan's init has made is here, unchanged\n") ||
		!strings.Contains(log, "module\n") {
		t.Errorf("the log is %s", log)
	}
	r.cleared()
	if left, _ := filepath.Glob(filepath.Join(r.settings.Work, "initialized", "*")); len(left) > 0 {
		t.Errorf("there is left %v", left)
	}
}

// An executor that was started anew, or is another one, has nothing of the plan's init.
func TestAnotherExecutorInitializesAgain(t *testing.T) {
	r, calls := scripted(t, scriptTool{init: makesData})
	_, all := r.planThenApply(calls, func() {
		r.end()
		r.start()
	})
	if got := strings.Join(all, " "); got != initTwice {
		t.Errorf("the tool was called for %s", got)
	}
	r.end()
	if left, _ := filepath.Glob(filepath.Join(r.settings.Work, "initialized", "*")); len(left) > 0 {
		t.Errorf("there is left %v", left)
	}
}

// Vulnerability: a plan is hostile code, and what it changes in what init made would be executed
// by an apply that somebody approved. Check: whatever a plan adds, changes or links there, the apply
// begins with an init of its own. (What it changes in the lock file is refused.)
func TestWhatThePlanChangedIsInitializedAgain(t *testing.T) {
	for name, plan := range map[string]string{
		"a file more":      `echo evil > "$TF_DATA_DIR/modules/n.tf"`,
		"another content":  `echo modulE > "$TF_DATA_DIR/modules/m.tf"; touch -r main.tf "$TF_DATA_DIR/modules/m.tf"`,
		"another mode":     `chmod 755 "$TF_DATA_DIR/modules/m.tf"`,
		"one less":         `rm "$TF_DATA_DIR/modules/m.tf"`,
		"a link":           `ln -s /bin/sh "$TF_DATA_DIR/provider"`,
		"another name":     `ln "$TF_DATA_DIR/modules/m.tf" elsewhere`,
		"the folder":       `mv "$TF_DATA_DIR/modules" elsewhere; ln -s "$PWD/elsewhere" "$TF_DATA_DIR/modules"`,
		"too much to read": `truncate -s 20M "$TF_DATA_DIR/large"`,
	} {
		t.Run(name, func(t *testing.T) {
			r, calls := scripted(t, scriptTool{init: makesData, plan: plan})
			run, all := r.planThenApply(calls, func() {})
			log := r.server.Log(run, "apply")
			if got := strings.Join(all, " "); got != initTwice {
				t.Errorf("the tool was called for %s", got)
			}
			if !strings.Contains(log, "[holdfast: init]\ninitialized\n") {
				t.Errorf("the log is %s", log)
			}
		})
	}
}

// What the plan has changed is no use to its apply, and may be large: it isn't kept until then.
func TestWhatThePlanChangedIsNotKept(t *testing.T) {
	r, calls := scripted(t, scriptTool{init: makesData, plan: `head -c 3000000 /dev/zero > "$TF_DATA_DIR/large"`})
	_, all := r.planThenApply(calls, func() {
		if left, _ := filepath.Glob(filepath.Join(r.settings.Work, "initialized", "*")); len(left) > 0 {
			t.Errorf("there is left %v", left)
		}
	})
	if got := strings.Join(all, " "); got != initTwice {
		t.Errorf("the tool was called for %s", got)
	}
}

// A run that plans once more, because the state has moved, say, has its apply go on with what was
// planned then: the modules may be other ones by now, here or on another executor.
func TestAnotherPlanIsAppliedWithItsOwnInit(t *testing.T) {
	const counted = `mkdir -p "$TF_DATA_DIR/modules"; grep -c init "$(dirname "$0")/calls" > "$TF_DATA_DIR/modules/m.tf"`
	for _, elsewhere := range []bool{false, true} {
		r, calls := scripted(t, scriptTool{init: counted, apply: `echo "module $(cat "$TF_DATA_DIR/modules/m.tf")"`})
		run, _ := r.planThenApply(calls, func() {
			if elsewhere {
				r.server.PlannedElsewhere("run-1")
				return
			}
			r.server.Replan("run-1")
			r.await("run-1", "the second plan ends", func() bool {
				all := r.server.Reports("run-1")
				return all[len(all)-1].Attempt == 2 && all[len(all)-1].Last
			})
			r.cleared()
		})
		want := "module 2\n"
		if log := r.server.Log(run, "apply"); !strings.Contains(log, want) {
			t.Errorf("elsewhere: %v; the log is %s", elsewhere, log)
		}
	}
}

// callingTool is a tool that calls another one, as Terragrunt does.
type callingTool struct{ oneTool }

func (c callingTool) Find(ctx context.Context, want api.Tool, configuration, directory string) (agent.Binary, error) {
	found, err := c.oneTool.Find(ctx, want, configuration, directory)
	found.Calls = &api.Tool{Name: "opentofu", Version: "1.12.6", Digest: "4567"}
	return found, err
}

// Terragrunt's init makes more than what is kept, such as what its hooks make where the tool works.
func TestTerragruntInitializesAgain(t *testing.T) {
	r, calls := scripted(t, scriptTool{init: makesData + "; echo made > hook.made", apply: "cat hook.made"})
	r.settings.Tools = callingTool{r.settings.Tools.(oneTool)}
	if _, all := r.planThenApply(calls, func() {}); strings.Join(all, " ") != initTwice {
		t.Errorf("the tool was called for %v", all)
	}
}

// A plan that nobody can apply leaves nothing behind, and neither does one that fails.
func TestOnlyPlansToApplyKeepTheirInit(t *testing.T) {
	for kind, plan := range map[string]string{"plan": ":", "apply": "exit 1"} {
		r, _ := scripted(t, scriptTool{init: makesData, plan: plan})
		r.start()
		r.ended(r.server.Queue("prod/network", kind), "plan")
		r.cleared()
		if left, _ := filepath.Glob(filepath.Join(r.settings.Work, "initialized", "*")); len(left) > 0 {
			t.Errorf("of %s there is left %v", kind, left)
		}
	}
}

// The outputs that an apply tells are kept as they are, without asking the tool once more, and
// without the values of sensitive ones.
func TestOutputsAreThoseThatTheApplyTold(t *testing.T) {
	const told = `{"greeting":{"sensitive":false,"type":"string","value":"hello"},"password":{"sensitive":true,"type":"string"}}`
	r, calls := scripted(t, scriptTool{apply: `echo '{"type":"outputs","outputs":{"greeting":{"sensitive":false,"action":"create"}}}'
echo '{"@level":"info","type":"outputs","outputs":` + told + `}'`})
	run, all := r.planThenApply(calls, func() {})
	if slices.Contains(all, "output") {
		t.Errorf("the tool was called for %v", all)
	}
	if got := string(r.server.Artefact(run, "outputs")); got != told {
		t.Errorf("the outputs are %s", got)
	}
}

// Outputs pass the masker that the log does, whoever told them, and stay JSON.
func TestOutputsAreMasked(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	quoted, _ := json.Marshal("u:" + secret + "@db")
	outputs := `{"conn":{"sensitive":false,"type":"string","value":` + string(quoted) + `},"b64":{"sensitive":false,` +
		`"type":"string","value":"` + encoded + `"},"own":{"sensitive":true,"type":"string","value":"of the tool"}}`
	for name, tool := range map[string]scriptTool{
		"told":  {apply: "cat <<'EOF'\n" + `{"@level":"info","type":"outputs","outputs":` + outputs + "}\nEOF"},
		"asked": {output: "cat <<'EOF'\n" + outputs + "\nEOF\n"},
	} {
		r, calls := scripted(t, tool)
		run, _ := r.planThenApply(calls, func() {})
		got := string(r.server.Artefact(run, "outputs"))
		if !json.Valid([]byte(got)) || !strings.Contains(got, `"u:***@db"`) ||
			strings.Contains(got, encoded) || strings.Contains(got, "of the tool") {
			t.Errorf("%s: the outputs are %s", name, got)
		}
	}
}

// What only looks like outputs is none: then the tool is asked.
func TestOutputsThatWereNotTold(t *testing.T) {
	for _, line := range []string{
		`{"type":"outputs","outputs":{"greeting":{"sensitive":false,"action":"create"}}}`,
		`{"type":"outputs"}`, `{"type":"outputs","outputs":`, `{"@message":"\"outputs\":{}","type":"version"}`,
	} {
		r, calls := scripted(t, scriptTool{apply: "echo '" + line + "'"})
		_, all := r.planThenApply(calls, func() {})
		if !slices.Contains(all, "output") {
			t.Errorf("behind %s the tool was called for %v", line, all)
		}
	}
}
