package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/api"
)

// An apply goes on while its executor is replaced: it is begun once, and its log is whole.
func TestNextExecutorGoesOn(t *testing.T) {
	for _, phase := range []string{"plan", "apply"} {
		t.Run(phase, func(t *testing.T) {
			gate := filepath.Join(t.TempDir(), "gate")
			tool := scriptTool{plan: until(gate)}
			if phase == "apply" {
				tool = scriptTool{apply: until(gate)}
			}
			r, calls := scripted(t, tool)
			r.start()
			run := r.server.Queue("prod/network", "apply")
			if phase == "apply" {
				r.ended(run, "plan")
				r.server.Approve(run)
			}
			r.logged(run, phase, "begun")
			r.end()
			r.noSecretsOnDisk()
			r.start()
			r.end() // it may die more than once
			r.start()
			touch(t, gate)
			if last := r.ended(run, phase); last.Outcome != "succeeded" {
				t.Fatalf("the run ends with %+v", last)
			}
			if n := countOf(callsOf(t, calls), phase); n != 1 {
				t.Errorf("the tool was called %d times", n)
			}
			log := r.server.Log(run, phase)
			if strings.Count(log, "begun\n") != 1 || strings.Count(log, "done\n") != 1 ||
				strings.Count(log, "[holdfast: init]") != 1 {
				t.Errorf("the log is %s", log)
			}
		})
	}
}

func countOf(all []string, one string) (n int) {
	for _, text := range all {
		if text == one {
			n++
		}
	}
	return n
}

// noSecretsOnDisk looks through what an executor leaves for the next one.
func (r *rig) noSecretsOnDisk() {
	r.t.Helper()
	records, err := filepath.Glob(filepath.Join(r.settings.Work, "runs", "*", "*", "assignment.json"))
	if err != nil || len(records) == 0 {
		r.t.Fatalf("there is no record: %v", err)
	}
	err = filepath.WalkDir(r.settings.Work, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		quoted, _ := json.Marshal(secret)
		for _, text := range []string{secret, strings.Trim(string(quoted), `"`), "token-"} {
			if strings.Contains(string(raw), text) {
				r.t.Errorf("the file %s has %q", path, text)
			}
		}
		return err
	})
	if err != nil {
		r.t.Error(err)
	}
}

// A command that ended while nobody was there is not begun again.
func TestCommandThatEndedMeanwhileIsNotRepeated(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	r, calls := scripted(t, scriptTool{apply: until(gate)})
	r.start()
	run := r.applying()
	r.end()
	touch(t, gate)
	processes, err := filepath.Glob(filepath.Join(r.settings.Work, "runs", "*", "main", "p", "apply"))
	if err != nil || len(processes) != 1 {
		t.Fatal(processes, err)
	}
	process, err := r.commands.Find(t.Context(), processes[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := process.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.start()
	if last := r.ended(run, "apply"); last.Phase != "output" || last.Outcome != "succeeded" {
		t.Errorf("the run ends with %+v", last)
	}
	if n := countOf(callsOf(t, calls), "apply"); n != 1 {
		t.Errorf("it was applied %d times", n)
	}
}

// The executor may end at any moment between two calls to the server.
func TestExecutorMayEndAtAnyCall(t *testing.T) {
	for _, call := range []string{"lease", "artefact", "report"} {
		for _, after := range []bool{false, true} {
			name := call + " unanswered"
			if after {
				name = call + " whose answer is lost"
			}
			t.Run(name, func(t *testing.T) {
				r, calls := scripted(t, scriptTool{})
				server := &ending{Server: r.server, call: call, after: after, ended: make(chan struct{})}
				server.left.Store(2)
				r.settings.Server = server
				r.start()
				run := r.server.Queue("prod/network", "apply")
				approved := false
				patience, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				for patience.Err() == nil && !r.over(run, "apply") {
					changed := r.server.Changed()
					if r.over(run, "plan") && !approved {
						approved = true
						r.server.Approve(run)
					}
					select {
					case <-server.ended:
						r.end()
						server.again()
						r.start()
					case <-changed:
					case <-patience.Done():
					}
				}
				if last := r.ended(run, "apply"); last.Phase != "output" || last.Outcome != "succeeded" {
					t.Errorf("the run ends with %+v", last)
				}
				if n := countOf(callsOf(t, calls), "apply"); n != 1 {
					t.Errorf("it was applied %d times", n)
				}
				if log := r.server.Log(run, "apply"); strings.Count(log, "[holdfast: apply]") != 1 ||
					!strings.Contains(log, "[holdfast: output]") {
					t.Errorf("the log is %s", log)
				}
			})
		}
	}
}

func (r *rig) over(run, stage string) bool {
	return slices.ContainsFunc(r.server.Reports(run), func(p api.PhaseReport) bool { return p.Stage == stage && p.Last })
}

// ending is a server at whose nth call of a kind the executor has to end: before the server
// hears of it, or after.
type ending struct {
	agent.Server
	call  string
	after bool
	left  atomic.Int32
	ended chan struct{}
}

var errGone = errors.New("the executor ends")

func (e *ending) again() { e.ended = make(chan struct{}); e.left.Store(3) }

func (e *ending) at(ctx context.Context, call string, do func() error) error {
	if call != e.call || e.left.Add(-1) != 0 {
		return do()
	}
	if e.after {
		_ = do()
	}
	close(e.ended)
	<-ctx.Done() // as whoever runs this executor ends it now
	return errGone
}

func (e *ending) Lease(ctx context.Context, hold agent.Hold, r api.LeaseRenewal) (lease api.Lease, err error) {
	err = e.at(ctx, "lease", func() (err error) { lease, err = e.Server.Lease(ctx, hold, r); return err })
	return lease, err
}

func (e *ending) Report(ctx context.Context, hold agent.Hold, r api.PhaseReport) (answer api.PhaseAnswer, err error) {
	err = e.at(ctx, "report", func() (err error) { answer, err = e.Server.Report(ctx, hold, r); return err })
	return answer, err
}

func (e *ending) PutArtefact(ctx context.Context, hold agent.Hold, described api.Artefact,
	content io.ReadSeeker) error {
	return e.at(ctx, "artefact", func() error { return e.Server.PutArtefact(ctx, hold, described, content) })
}

// A claim whose answer is lost gives the same run, to the next executor too.
func TestLostAnswerOfAClaimLosesNoRun(t *testing.T) {
	r, calls := scripted(t, scriptTool{})
	server := &forgetful{Server: r.server, got: make(chan struct{}, 1)}
	r.settings.Server = server
	r.start()
	run := r.server.Queue("prod/network", "plan")
	<-server.got
	r.end()
	r.settings.Server = r.server
	r.start()
	if last := r.ended(run, "plan"); last.Outcome != "succeeded" || last.Epoch != 1 {
		t.Errorf("the run ends with %+v", last)
	}
	if n := countOf(callsOf(t, calls), "plan"); n != 1 {
		t.Errorf("it was planned %d times", n)
	}
}

// forgetful loses the answers of claims that give a run.
type forgetful struct {
	agent.Server
	got chan struct{}
}

func (f *forgetful) Claim(ctx context.Context, as agent.Identity, claim api.AgentClaim) (*api.Assignment, error) {
	found, err := f.Server.Claim(ctx, as, claim)
	if found != nil {
		select {
		case f.got <- struct{}{}:
		default:
		}
		return nil, errGone
	}
	return found, err
}

// A plan that was given to somebody else is killed, and leaves nothing behind.
func TestLostPlanIsKilled(t *testing.T) {
	r, _ := scripted(t, scriptTool{plan: stubborn})
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.logged(run, "plan", "begun")
	r.server.Resolve(run)
	r.cleared()
}

// An apply that was given up is interrupted and not killed: what it writes is kept elsewhere, and
// what it could not write is kept here.
func TestLostApplyIsNotKilled(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	r, _ := scripted(t, scriptTool{apply: `trap 'touch ` + gate + `.interrupted' INT; ` + until(gate) +
		`; echo '{"serial":7}' > errored.tfstate; exit 1`})
	r.start()
	run := r.applying()
	reported := len(r.server.Reports(run))
	r.server.Resolve(run)
	r.appears(gate + ".interrupted")
	touch(t, gate)
	r.cleared()
	if kept, err := os.ReadFile(filepath.Join(r.settings.Work, "kept", run+"-1-errored.tfstate")); err != nil ||
		string(kept) != "{\"serial\":7}\n" {
		t.Errorf("kept is %q, %v", kept, err)
	}
	if n := len(r.server.Reports(run)); n != reported {
		t.Errorf("the server was told %d more things", n-reported)
	}
}

// The same holds when nobody was there as it was given up.
func TestApplyLostWithItsExecutorIsNotKilled(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	r, _ := scripted(t, scriptTool{apply: `trap 'touch ` + gate + `.interrupted' INT; ` + until(gate) +
		`; echo '{}' > errored.tfstate; exit 1`})
	r.start()
	run := r.applying()
	r.end()
	r.server.Resolve(run)
	r.start()
	r.appears(gate + ".interrupted")
	touch(t, gate)
	r.cleared()
	if _, err := os.Stat(filepath.Join(r.settings.Work, "kept", run+"-1-errored.tfstate")); err != nil {
		t.Error(err)
	}
}

// An agent that the server has removed does not disturb an apply that goes on from before, and
// presents itself anew.
func TestForgottenAgentLeavesItsApplyAlone(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	r, _ := scripted(t, scriptTool{apply: `trap 'touch ` + gate + `.interrupted' INT; ` + until(gate) + `; touch ` + gate +
		`.done`})
	r.start()
	run := r.applying()
	r.end()
	r.server.Forget()
	r.server.Resolve(run)
	r.start()
	r.appears(gate + ".interrupted")
	other := r.server.Queue("prod/other", "plan")
	if last := r.ended(other, "plan"); last.Outcome != "succeeded" {
		t.Errorf("the next run ends with %+v", last)
	}
	touch(t, gate)
	r.appears(gate + ".done")
	r.cleared()
}

// What a crash leaves of a stage that is over, or never began, is removed.
func TestLeftoversAreSwept(t *testing.T) {
	r, _ := scripted(t, scriptTool{})
	for name, text := range map[string]string{"a/main": `{"over":true}`, "b/main": `{"run`, "c/side0": ""} {
		folder := filepath.Join(r.settings.Work, "runs", name)
		if err := os.MkdirAll(filepath.Join(folder, "data", "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			if err := os.WriteFile(filepath.Join(folder, "assignment.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Join(folder, "data", "deep"), 0o500); err != nil {
			t.Fatal(err)
		}
	}
	r.start()
	r.cleared()
}

// A record that can't be read may be of an apply that goes on: it is left alone, and whoever can read it goes on with
// it.
func TestUnreadableRecordIsLeftAlone(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	r, calls := scripted(t, scriptTool{apply: until(gate)})
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	r.server.Approve(run)
	r.logged(run, "apply", "begun")
	r.end()
	found, err := filepath.Glob(filepath.Join(r.settings.Work, "runs", "*", "main", "assignment.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	aside := filepath.Join(t.TempDir(), "record")
	if err := errors.Join(os.Rename(found[0], aside), os.Mkdir(found[0], 0o700)); err != nil {
		t.Fatal(err)
	}
	r.start()
	other := r.server.Queue("other", "plan")
	r.ended(other, "plan") // by then it has been through the folders
	r.end()
	if err := errors.Join(os.Remove(found[0]), os.Rename(aside, found[0])); err != nil {
		t.Fatalf("the folder was not left alone: %v", err)
	}
	r.start()
	touch(t, gate)
	if last := r.ended(run, "apply"); last.Outcome != "succeeded" {
		t.Errorf("the run ends with %+v", last)
	}
	if n := countOf(callsOf(t, calls), "apply"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}
