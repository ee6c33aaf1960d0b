package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// planned has a run planned and approved, and waits until its apply says that it has begun.
func (r *rig) applying() string {
	r.t.Helper()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	r.server.Approve(run)
	r.logged(run, "apply", "begun")
	return run
}

// until is a part of a script that waits for a file.
func until(file string) string {
	return "echo begun; while [ ! -e " + file + " ]; do sleep 0.02; done; echo done"
}

// stubborn ignores an interrupt, and goes on until it is killed.
const stubborn = `trap 'echo interrupted' INT; echo begun; while :; do sleep 0.02; done`

// obedient ends when it is interrupted.
const obedient = `trap 'echo interrupted; exit 1' INT; echo begun; while :; do sleep 0.02; done`

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func outcomesOf(reports []api.PhaseReport) (all []string) {
	for _, r := range reports {
		all = append(all, r.Stage+"/"+r.Phase+" "+r.Outcome)
	}
	return all
}

func TestPhasesAreReportedInOrder(t *testing.T) {
	r, calls := scripted(t, scriptTool{})
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	r.server.Approve(run)
	r.ended(run, "apply")
	want := []string{
		"plan/prepare succeeded", "plan/init succeeded", "plan/plan succeeded", "plan/show succeeded",
		"apply/prepare succeeded", "apply/init succeeded", "apply/apply succeeded", "apply/output succeeded",
	}
	if diff := cmp.Diff(want, outcomesOf(r.server.Reports(run))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"init", "plan", "show", "apply", "output"}, callsOf(t, calls)); diff != "" {
		t.Error(diff)
	}
	if p := r.server.Reports(run)[2]; !p.Changes || p.ExitCode != 2 {
		t.Errorf("a plan with changes is reported as %+v", p)
	}
}

// The server knows that an apply begins before its tool does.
func TestApplyIsAnnouncedBeforeItBegins(t *testing.T) {
	r, calls := scripted(t, scriptTool{})
	var refusing atomic.Bool
	r.server.Refuse = func(call string) error {
		if call == "lease" && refusing.Load() {
			return errors.New("no route to host")
		}
		return nil
	}
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	refusing.Store(true)
	r.server.Approve(run)
	r.await(run, "its init is reported",
		func() bool { return slices.Contains(outcomesOf(r.server.Reports(run)), "apply/init succeeded") })
	r.end() // whatever it waited for, it waits no more
	if slices.Contains(callsOf(t, calls), "apply") {
		t.Error("the tool applies, though the server was not told")
	}
}

func TestConfigurationWithAnotherBackendIsRefused(t *testing.T) {
	tool, calls := scriptTool{}.make(t)
	r := newRig(t, tool, map[string]string{"main.tf": "terraform {\n  backend \"s3\" {}\n}\n"})
	r.start()
	run := r.server.Queue("prod/network", "apply")
	last := r.ended(run, "plan")
	if last.Phase != "prepare" || last.Class != "config" || !strings.Contains(last.Message, `backend "s3"`) {
		t.Errorf("the run ends with %+v", last)
	}
	if !strings.Contains(r.server.Log(run, "plan"), `backend "s3"`) {
		t.Errorf("the log doesn't say why: %s", r.server.Log(run, "plan"))
	}
	if _, err := os.Stat(calls); err == nil {
		t.Error("the tool was called")
	}
}

func TestCommandsGetNothingOfTheAgentsEnvironment(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "of the agent")
	r, _ := scripted(t, scriptTool{plan: "env | grep -v ^_= | cut -d= -f1 | sort"})
	r.settings.Proxies = map[string]string{"HTTPS_PROXY": "http://proxy:3128"}
	r.server.Template.Environment = []api.Input{{Name: "AWS_REGION", Value: "eu-1"}}
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	_, shown, _ := strings.Cut(r.server.Log(run, "plan"), "[holdfast: plan]\n")
	shown, _, _ = strings.Cut(shown, "[holdfast: show]")
	want := []string{
		"AWS_REGION", "CHECKPOINT_DISABLE", "HOME", "HTTPS_PROXY", "LANG", "PATH", "PWD", "TF_CLI_CONFIG_FILE", "TF_DATA_DIR",
		"TF_HTTP_ADDRESS", "TF_HTTP_LOCK_ADDRESS", "TF_HTTP_LOCK_METHOD", "TF_HTTP_PASSWORD", "TF_HTTP_RETRY_MAX",
		"TF_HTTP_RETRY_WAIT_MAX", "TF_HTTP_RETRY_WAIT_MIN", "TF_HTTP_UNLOCK_ADDRESS", "TF_HTTP_UNLOCK_METHOD",
		"TF_HTTP_UPDATE_METHOD", "TF_HTTP_USERNAME", "TF_INPUT", "TF_IN_AUTOMATION", "TF_VAR_password", "TMPDIR", "TZ",
	}
	got := slices.DeleteFunc(strings.Fields(shown), func(name string) bool { return name == "OLDPWD" || name == "SHLVL" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Commands trust whom the agent trusts: the file is there, and can be read by them.
func TestCommandsTrustWhomTheAgentTrusts(t *testing.T) {
	r, _ := scripted(t, scriptTool{plan: "cat $SSL_CERT_FILE; cat $GIT_SSL_CAINFO"})
	r.settings.Authorities = []byte("an authority\n")
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	if log := r.server.Log(run, "plan"); strings.Count(log, "an authority\n") != 2 {
		t.Errorf("the command has seen\n%s", log)
	}
	if read := r.commands.read["plan"]; !slices.Contains(read, filepath.Join(r.settings.Work, "authorities.pem")) {
		t.Errorf("the command may read %v", read)
	}
}

func TestReservedVariablesAreRefused(t *testing.T) {
	for _, name := range []string{"TF_HTTP_PASSWORD", "TF_CLI_ARGS_apply", "TF_CLI_ARGS", "HOME", "TF_DATA_DIR",
		"TF_WORKSPACE", "TF_LOG", "TF_LOG_CORE"} {
		r, _ := scripted(t, scriptTool{})
		r.server.Template.Environment = []api.Input{{Name: name, Value: "x"}}
		r.start()
		run := r.server.Queue("prod/network", "apply")
		if last := r.ended(run, "plan"); last.Phase != "prepare" || last.Class != "config" ||
			!strings.Contains(last.Message, name) {
			t.Errorf("%s: the run ends with %+v", name, last)
		}
		r.end()
	}
}

func TestSoftCancellationInterruptsOnce(t *testing.T) {
	r, _ := scripted(t, scriptTool{apply: stubborn})
	r.start()
	run := r.applying()
	r.server.Cancel(run, "soft")
	r.logged(run, "apply", "interrupted")
	// Two more renewals say the same, which is no reason for another interrupt.
	seen := len(r.server.Renewals(run))
	r.await(run, "it renews its lease", func() bool { return len(r.server.Renewals(run)) > seen+1 })
	if n := strings.Count(r.server.Log(run, "apply"), "interrupted"); n != 1 {
		t.Errorf("the command was interrupted %d times", n)
	}
	r.server.Cancel(run, "hard")
	if last := r.ended(run, "apply"); last.Outcome != "cancelled" || last.Phase != "apply" {
		t.Errorf("the run ends with %+v", last)
	}
}

func TestCancelledPlanEnds(t *testing.T) {
	r, calls := scripted(t, scriptTool{plan: obedient})
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.logged(run, "plan", "begun")
	r.server.Cancel(run, "soft")
	if last := r.ended(run, "plan"); last.Outcome != "cancelled" || last.Phase != "plan" {
		t.Errorf("the run ends with %+v", last)
	}
	if slices.Contains(callsOf(t, calls), "show") {
		t.Error("the plan is shown, though it was cancelled")
	}
}

// A cancellation, and one that is more urgent, are heard though no renewal is due for long.
func TestCancellationIsHeardAtOnce(t *testing.T) {
	r, _ := scripted(t, scriptTool{apply: stubborn})
	r.server.Every = 3600
	r.start()
	run := r.applying()
	r.logged(run, "apply", "begun")
	r.server.Cancel(run, "soft")
	r.logged(run, "apply", "interrupted")
	r.server.Cancel(run, "hard")
	if last := r.ended(run, "apply"); last.Outcome != "cancelled" || last.Phase != "apply" {
		t.Errorf("the run ends with %+v", last)
	}
}

func TestApplyThatWasDoneIsNotCancelled(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	r, _ := scripted(t, scriptTool{apply: "trap '' INT; " + until(gate)})
	r.start()
	run := r.applying()
	r.server.Cancel(run, "soft")
	r.await(run, "the cancellation is heard", func() bool { return r.heard(run, 2) })
	touch(t, gate)
	if last := r.ended(run, "apply"); last.Phase != "output" || last.Outcome != "succeeded" {
		t.Errorf("the run ends with %+v", last)
	}
}

// heard reports whether so many renewals came after now.
func (r *rig) heard(run string, n int) bool {
	if r.counted == 0 {
		r.counted = len(r.server.Renewals(run)) + n
	}
	return len(r.server.Renewals(run)) >= r.counted
}

func TestStageThatTakesTooLongEnds(t *testing.T) {
	r, _ := scripted(t, scriptTool{apply: `echo '{}' > errored.tfstate; ` + stubborn})
	r.server.Template.Timeout, r.server.Template.Grace = 2, 1
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	r.server.Approve(run)
	last := r.ended(run, "apply")
	if last.Outcome != "failed" || last.Class != "config" || !strings.Contains(last.Message, "longer than the 2 seconds") {
		t.Errorf("the run ends with %+v", last)
	}
	if got := string(r.server.Artefact(run, "errored_state")); got != "{}\n" {
		t.Errorf("of the state that was not stored there is %q", got)
	}
}

// A server that can't be reached for its log costs neither time nor a line.
func TestLogOutageNeitherBlocksNorLoses(t *testing.T) {
	r, _ := scripted(t, scriptTool{apply: "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done"})
	var refusing atomic.Bool
	r.server.Refuse = func(call string) error {
		if call == "log" && refusing.Load() {
			return fault.New(fault.StoreUnavailable, "not now")
		}
		return nil
	}
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	refusing.Store(true)
	r.server.Approve(run)
	r.await(run, "the apply is reported",
		func() bool { return slices.Contains(outcomesOf(r.server.Reports(run)), "apply/apply succeeded") })
	if log := r.server.Log(run, "apply"); log != "" {
		t.Fatalf("the log came through: %s", log)
	}
	refusing.Store(false)
	r.ended(run, "apply")
	want := "[holdfast: apply]\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline " +
		"9\n[holdfast: output]\n"
	if log := r.server.Log(run, "apply"); !strings.HasSuffix(log, want) {
		t.Errorf("the log is %q", log)
	}
}

// A log that is never accepted holds an outcome up for a while only, and is kept.
func TestLogThatIsNeverAcceptedIsKept(t *testing.T) {
	r, _ := scripted(t, scriptTool{})
	r.settings.LogPatience = time.Millisecond
	r.server.Refuse = func(call string) error {
		if call == "log" {
			return fault.New(fault.StoreFull, "the disk is full")
		}
		return nil
	}
	r.start()
	run := r.server.Queue("prod/network", "plan")
	r.ended(run, "plan")
	r.end()
	kept, err := os.ReadFile(filepath.Join(r.settings.Work, "kept", run+"-plan-1.log"))
	if err != nil || !strings.Contains(string(kept), "[holdfast: show]") {
		t.Errorf("kept is %q, %v", kept, err)
	}
}

func TestFilesThatPlanningMadeAreCarried(t *testing.T) {
	r, _ := scripted(t, scriptTool{
		init:  `echo lock > .terraform.lock.hcl`, // of the plan: the apply goes on with what that has made
		plan:  `mkdir -p made && echo zip > made/archive.zip && chmod 700 made/archive.zip && echo changed > main.tf`,
		apply: `cat made/archive.zip main.tf .terraform.lock.hcl; test -x made/archive.zip && echo executable`,
	})
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	r.server.Approve(run)
	if last := r.ended(run, "apply"); last.Outcome != "succeeded" {
		t.Fatalf("the run ends with %+v", last)
	}
	if log := r.server.Log(run, "apply"); !strings.Contains(log, "zip\nchanged\nlock\nexecutable\n") ||
		strings.Contains(log, "initialized\n") {
		t.Errorf("the log is %s", log)
	}
}

func TestTooWeakASandboxRunsNothing(t *testing.T) {
	r, calls := scripted(t, scriptTool{})
	r.server.Template.MinSandbox = "landlock"
	r.start()
	run := r.server.Queue("prod/network", "apply")
	if last := r.ended(run, "plan"); last.Class != "sandbox" || last.Phase != "prepare" {
		t.Errorf("the run ends with %+v", last)
	}
	if _, err := os.Stat(calls); err == nil {
		t.Error("the tool was called")
	}
}

// What the executor's own operator wants holds as well, and more than what the workspace wants.
func TestOperatorsLeastSandbox(t *testing.T) {
	for _, c := range []struct{ operator, workspace, reached, outcome string }{
		{"landlock", "none", "none", "failed"}, {"namespaces", "landlock", "landlock", "failed"},
		{"none", "landlock", "none", "failed"}, {"landlock", "none", "landlock", "succeeded"},
		{"", "landlock", "namespaces", "succeeded"},
	} {
		r, calls := scripted(t, scriptTool{})
		r.settings.MinSandbox, r.server.Template.MinSandbox, r.commands.level = c.operator, c.workspace, c.reached
		r.start()
		last := r.ended(r.server.Queue("prod/network", "apply"), "plan")
		if last.Outcome != c.outcome {
			t.Errorf("%+v: the run ends with %+v", c, last)
		}
		if c.outcome == "succeeded" {
			if got := r.commands.least; got != "landlock" {
				t.Errorf("%+v: its commands want %q at least", c, got)
			}
			continue
		}
		if _, err := os.Stat(calls); err == nil || last.Class != "sandbox" || !strings.Contains(last.Message, c.reached) ||
			last.Sandbox == nil {
			t.Errorf("%+v: the run ends with %+v", c, last)
		}
	}
}

func TestDrainedAgentEndsWhenItsRunsHave(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	r, _ := scripted(t, scriptTool{apply: until(gate)})
	r.start()
	run := r.applying()
	r.executor.Drain()
	r.await(run, "it says that it drains", r.server.Drains)
	waiting := r.server.Queue("prod/other", "apply")
	touch(t, gate)
	r.ended(run, "apply")
	if err := <-r.done; err != nil {
		t.Error(err)
	}
	r.done = nil
	if reports := r.server.Reports(waiting); len(reports) > 0 {
		t.Errorf("a draining agent has taken another run: %v", reports)
	}
}

func TestAgentThatNobodyKnowsYetCanBeDrained(t *testing.T) {
	r, _ := scripted(t, scriptTool{})
	tried := make(chan struct{}, 100)
	r.server.Refuse = func(call string) error {
		tried <- struct{}{}
		return errors.New("no route to host")
	}
	r.start()
	<-tried
	r.executor.Drain()
	if err := <-r.done; err != nil {
		t.Error(err)
	}
	r.done = nil
}

func TestSecondAgentInOneFolderIsRefused(t *testing.T) {
	r, _ := scripted(t, scriptTool{})
	r.start()
	r.ended(r.server.Queue("prod/network", "plan"), "plan")
	second := *r
	second.done = nil
	second.start()
	if err := <-second.done; err == nil {
		t.Error("two agents work in one folder")
	}
	second.done = nil
}

// What an agent that was killed had just started holds the folder's lock for a moment.
func TestAgentWaitsForWhatAKilledOneLeaves(t *testing.T) {
	r, _ := scripted(t, scriptTool{})
	lock := flock.New(filepath.Join(r.settings.Work, "lock"))
	if got, err := lock.TryLock(); err != nil || !got {
		t.Fatal(got, err)
	}
	defer time.AfterFunc(50*time.Millisecond, func() { _ = lock.Close() }).Stop()
	r.start()
	r.ended(r.server.Queue("prod/network", "plan"), "plan")
}

// Providers make sockets among the temporary files, whose paths the system wants short.
func TestTemporaryFilesHaveShortPaths(t *testing.T) {
	r, _ := scripted(t, scriptTool{plan: `echo "tmp is $TMPDIR"; echo x > "$TMPDIR/x"`})
	r.settings.Work = filepath.Join(r.settings.Work, strings.Repeat("x", 80))
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	_, path, _ := strings.Cut(r.server.Log(run, "plan"), "tmp is ")
	path, _, _ = strings.Cut(path, "\n")
	if len(path) == 0 || len(path) > 64 {
		t.Errorf("they are in %q", path)
	}
	r.end()
	if _, err := os.Stat(path); err == nil {
		t.Error("they are there when the run has ended")
	}
}

// await waits until something holds, which a call of the executor's brings about.
func (r *rig) await(run, what string, ready func() bool) {
	r.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := r.server.Await(ctx, ready); err != nil {
		r.t.Fatalf("%s: %v\n%v\n%s%s", what, err, outcomesOf(r.server.Reports(run)), r.server.Log(run, "plan"),
			r.server.Log(run, "apply"))
	}
}

// Terragrunt has its tool work in a folder of its making: a state that it can't store is there.
func TestErroredStateOfTerragruntIsKept(t *testing.T) {
	r, _ := scripted(t, scriptTool{apply: `mkdir -p .terragrunt-cache/x/y; echo '{"serial":7}' > .terragrunt-cache/x/y/errored.tfstate; exit 1`})
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	r.server.Approve(run)
	if last := r.ended(run, "apply"); !last.StateKept {
		t.Errorf("the apply ends with %+v", last)
	}
	if got := string(r.server.Artefact(run, "errored_state")); got != "{\"serial\":7}\n" {
		t.Errorf("the state that could not be stored is %q", got)
	}
}
