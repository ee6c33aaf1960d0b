// Package agenttest is the suite that every server for executors passes, and one such server that
// keeps everything in memory, for tests of executors.
package agenttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// World is a server under test with all that happens there beside an executor's calls.
type World interface {
	Server() agent.Server
	// PoolToken is what executors register with; empty where they need none.
	PoolToken() string
	// Queue makes a run of the kind apply wait for its plan, in a workspace of its own.
	Queue(t *testing.T) (run string)
	// PlanFiles are the files that the executor of a plan of this run would bring, by kind.
	PlanFiles(t *testing.T, a api.Assignment) map[string][]byte
	// Approve has a run that was planned wait for its apply.
	Approve(t *testing.T, run string)
	// Expire ends the lease of a run that has one, and has the server notice.
	Expire(t *testing.T, run string)
	// Resolve ends a run that was lost while it applied.
	Resolve(t *testing.T, run string)
	// Cancel asks for a run's end, soft or hard.
	Cancel(t *testing.T, run, level string)
}

// RunServer holds a server to the contract of agent.Server.
func RunServer(t *testing.T, open func(t *testing.T) World) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *scene)
	}{
		{"a claim repeated gives the same stage", repeatedClaim},
		{"a claim that drains gives nothing new", drainingClaim},
		{"each run is claimed once", claimedOnce},
		{"no work is no error", noWork},
		{"a stranger claims nothing", stranger},
		{"a lease says what is wanted", lease},
		{"log: pieces by offset", logPieces},
		{"log: overlap, gap and difference", logOverlap},
		{"log: an empty piece asks for the end", logEnd},
		{"log: each attempt and stage has its own", logStages},
		{"log: another try of an attempt is behind the one before", logTries},
		{"an artefact is kept once", artefacts},
		{"a plan's files are carried to its apply", carried},
		{"the configuration is an archive", configuration},
		{"a phase is reported once", reports},
		{"a failed phase ends the stage", failedPhase},
		{"a lost plan is nobody's", lostPlan},
		{"a lost apply comes back to its executor", lostApply},
		{"a resolved apply does not", resolvedApply},
		{"a renewal that waits hears of a cancellation at once", waitingRenewal},
		{"another run's token is no good", otherToken},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, newScene(t, open(t))) })
	}
}

// scene is a world with an executor that is known there.
type scene struct {
	World
	t   *testing.T
	ctx context.Context
	me  agent.Identity
}

func newScene(t *testing.T, w World) *scene {
	s := &scene{World: w, t: t, ctx: t.Context()}
	s.me = s.register()
	return s
}

func (s *scene) register() agent.Identity {
	s.t.Helper()
	made, err := s.Server().Register(s.ctx, s.PoolToken(),
		api.AgentRegistration{Name: "host", Version: "test", System: "linux_amd64", Sandbox: "none", BootID: "boot"})
	s.must(err)
	return agent.Identity{ID: made.ID, Secret: made.Secret}
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// refused fails unless err is a fault of this code.
func (s *scene) refused(err error, code fault.Code) {
	s.t.Helper()
	if !fault.Is(err, code) {
		s.t.Errorf("the error is %v, wanted %s", err, code)
	}
}

func (s *scene) try(key string, draining bool) *api.Assignment {
	s.t.Helper()
	found, err := s.Server().Claim(s.ctx, s.me,
		api.AgentClaim{Key: key, Sandbox: "none", BootID: "boot", Draining: draining})
	s.must(err)
	return found
}

// claim gets a stage, which must be there.
func (s *scene) claim(key string) api.Assignment {
	s.t.Helper()
	found := s.try(key, false)
	if found == nil {
		s.t.Fatal("there is no work, though a run waits")
	}
	return *found
}

func holdOf(a api.Assignment) agent.Hold {
	return agent.Hold{Run: a.Run, Token: a.Token, Stage: a.Stage, Attempt: a.Attempt, Epoch: a.Epoch}
}

func (s *scene) report(a api.Assignment, phase, outcome string, last bool) (api.PhaseAnswer, error) {
	return s.Server().Report(s.ctx, holdOf(a), reportOf(a, phase, outcome, last))
}

func reportOf(a api.Assignment, phase, outcome string, last bool) api.PhaseReport {
	r := api.PhaseReport{Epoch: a.Epoch, Stage: a.Stage, Attempt: a.Attempt, Phase: phase, Outcome: outcome, Last: last}
	if outcome == "failed" {
		r.Class, r.ExitCode = "config", 1
	}
	return r
}

// renew shows life, in a phase.
func (s *scene) renew(a api.Assignment, phase string) (api.Lease, error) {
	return s.Server().Lease(s.ctx, holdOf(a), api.LeaseRenewal{Epoch: a.Epoch, Stage: a.Stage, Phase: phase})
}

func (s *scene) put(a api.Assignment, kind string, content []byte) error {
	return s.Server().PutArtefact(s.ctx, holdOf(a), describe(kind, a.Attempt, content), bytes.NewReader(content))
}

// plan carries out the plan of a run, and returns its last assignment.
func (s *scene) plan(key string) api.Assignment {
	s.t.Helper()
	a := s.claim(key)
	s.finishPlan(a, s.PlanFiles(s.t, a))
	return a
}

// finishPlan carries out the plan of an assignment, which makes these files.
func (s *scene) finishPlan(a api.Assignment, files map[string][]byte) {
	s.t.Helper()
	for _, phase := range []string{"prepare", "init", "plan"} {
		_, err := s.renew(a, phase)
		s.must(err)
		r := reportOf(a, phase, "succeeded", false)
		r.Changes, r.Tool = phase == "plan", usedTool()
		_, err = s.Server().Report(s.ctx, holdOf(a), r)
		s.must(err)
	}
	for kind, content := range files {
		s.must(s.put(a, kind, content))
	}
	_, err := s.report(a, "show", "succeeded", true)
	s.must(err)
}

// apply has a run planned and approved, and returns its apply's assignment.
func (s *scene) apply() api.Assignment {
	s.t.Helper()
	run := s.Queue(s.t)
	s.plan("plan of " + run)
	s.Approve(s.t, run)
	a := s.claim("apply of " + run)
	if a.Run != run || a.Stage != "apply" {
		s.t.Fatalf("the claim gives the %s of %s, wanted the apply of %s", a.Stage, a.Run, run)
	}
	return a
}

// usedTool is what the executor has planned with.
func usedTool() *api.Tool {
	return &api.Tool{Name: "opentofu", Version: "1.12.6", Digest: "05042c29", System: "linux_amd64"}
}

func (s *scene) read(content io.ReadCloser, err error) []byte {
	s.t.Helper()
	s.must(err)
	raw, err := io.ReadAll(content)
	s.must(errors.Join(err, content.Close()))
	return raw
}

func repeatedClaim(t *testing.T, s *scene) {
	run := s.Queue(t)
	first := s.claim("k")
	if first.Run != run || first.Stage != "plan" || first.Attempt != 1 || first.Epoch < 1 || first.Token == "" ||
		!strings.HasPrefix(first.StateAddress, "/api/v1/state/") {
		t.Fatalf("the assignment is %+v", first)
	}
	again := s.claim("k")
	_, err := s.renew(again, "prepare")
	s.must(err)
	// Its token and the end of its lease may be new ones.
	again.Token, again.Lease = first.Token, first.Lease
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same key gives something else:\n%s", diff)
	}
	s.must(err)
	if _, err := s.renew(first, "prepare"); err != nil {
		t.Errorf("the first answer's token is no good any more: %v", err)
	}
}

func drainingClaim(t *testing.T, s *scene) {
	run := s.Queue(t)
	if found := s.try("k", true); found != nil {
		t.Errorf("it gives %s", found.Run)
	}
	s.claim("k")
	s.Queue(t)
	if found := s.try("other", true); found != nil {
		t.Errorf("it gives %s, which is new", found.Run)
	}
	if found := s.try("k", true); found == nil || found.Run != run {
		t.Errorf("it gives %v, wanted %s, which the key has", found, run)
	}
}

func claimedOnce(t *testing.T, s *scene) {
	one, two := s.Queue(t), s.Queue(t)
	got := map[string]bool{s.claim("a").Run: true, s.claim("b").Run: true}
	if !got[one] || !got[two] {
		t.Errorf("claimed are %v, wanted %s and %s", got, one, two)
	}
	if found := s.try("c", false); found != nil {
		t.Errorf("a third claim gives %s once more", found.Run)
	}
}

func noWork(t *testing.T, s *scene) {
	if found := s.try("k", false); found != nil {
		t.Fatalf("it gives %s", found.Run)
	}
	run := s.Queue(t)
	if found := s.claim("k"); found.Run != run {
		t.Errorf("a key that got nothing gives %s, wanted %s", found.Run, run)
	}
}

func stranger(t *testing.T, s *scene) {
	if s.PoolToken() == "" {
		t.Skip("this server's executor needs no credentials")
	}
	s.Queue(t)
	for _, who := range []agent.Identity{{ID: s.me.ID, Secret: "wrong"}, {ID: "nobody", Secret: s.me.Secret}} {
		if found, err := s.Server().Claim(s.ctx, who, api.AgentClaim{Key: "k"}); err == nil || found != nil {
			t.Errorf("%s claims %v", who.ID, found)
		}
	}
	if _, err := s.Server().Register(s.ctx, "wrong", api.AgentRegistration{Name: "x"}); err == nil {
		t.Error("a wrong token registers")
	}
}

func lease(t *testing.T, s *scene) {
	run := s.Queue(t)
	a := s.claim("k")
	got, err := s.renew(a, "prepare")
	s.must(err)
	if got.Epoch != a.Epoch || got.Every < 1 || got.Cancel != "" {
		t.Errorf("the lease is %+v", got)
	}
	for _, level := range []string{"soft", "hard"} {
		s.Cancel(t, run, level)
		if got, err = s.renew(a, "init"); err != nil || got.Cancel != level {
			t.Errorf("after a %s cancellation the lease is %+v, %v", level, got, err)
		}
	}
}

func configuration(t *testing.T, s *scene) {
	s.Queue(t)
	a := s.claim("k")
	first := s.read(s.Server().OpenConfiguration(s.ctx, holdOf(a)))
	again := s.read(s.Server().OpenConfiguration(s.ctx, holdOf(a)))
	if len(first) == 0 || !bytes.Equal(first, again) {
		t.Errorf("the archive has %d bytes, then %d", len(first), len(again))
	}
}

func otherToken(t *testing.T, s *scene) {
	s.Queue(t)
	s.Queue(t)
	mine, other := s.claim("a"), s.claim("b")
	mixed := other
	mixed.Token = mine.Token
	if _, err := s.renew(mixed, "prepare"); err == nil {
		t.Error("it renews another run's lease")
	}
	if _, err := s.Server().AppendLog(s.ctx, holdOf(mixed), 0, []byte("x")); err == nil {
		t.Error("it writes another run's log")
	}
	if content, err := s.Server().OpenConfiguration(s.ctx, holdOf(mixed)); err == nil {
		content.Close()
		t.Error("it reads another run's configuration")
	}
}

// waitingRenewal waits with renewals, until somebody cancels the run, and until the stage ends.
func waitingRenewal(t *testing.T, s *scene) {
	id := s.Queue(t)
	a := s.claim("one")
	wait := func(known string, seconds int) (<-chan api.Lease, context.CancelFunc) {
		ctx, stop := context.WithTimeout(s.ctx, 30*time.Second)
		answers := make(chan api.Lease, 1)
		go func() {
			lease, err := s.Server().Lease(ctx, holdOf(a),
				api.LeaseRenewal{Epoch: a.Epoch, Stage: a.Stage, Phase: "init", Wait: seconds, Cancel: known})
			if err != nil {
				t.Errorf("a renewal that waits: %v", err)
			}
			answers <- lease
		}()
		return answers, stop
	}
	short, stop := wait("", 1)
	if got := <-short; got.Cancel != "" {
		t.Errorf("nobody has cancelled the run, and the lease says %q", got.Cancel)
	}
	stop()
	known := ""
	for _, level := range []string{"soft", "hard"} {
		long, stop := wait(known, 50)
		s.Cancel(t, id, level)
		if got := <-long; got.Cancel != level {
			t.Errorf("after a %s cancellation the lease is %+v", level, got)
		}
		at, _ := wait(known, 50) // it is wanted already
		if got := <-at; got.Cancel != level {
			t.Errorf("behind a %s cancellation the lease is %+v", level, got)
		}
		stop()
		known = level
	}
}
