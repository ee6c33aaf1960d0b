package runs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/agent/backend"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/plantest"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/seal"
)

// settled has the same answers for all workspaces.
type settled struct {
	runs.Workspaces
	now   runs.Workspace
	files map[string]string
}

func (s *settled) Workspace(context.Context, uuid.UUID, string) (runs.Workspace, error) {
	return s.now, nil
}

func (s *settled) PlanOnly(context.Context, uuid.UUID, string, string) (string, error) {
	return "", nil
}

func (s *settled) Inputs(context.Context, uuid.UUID, string) (runs.Inputs, error) {
	return runs.Inputs{}, nil
}

func (s *settled) Files(context.Context, uuid.UUID, string, string) (map[string]string, error) {
	return s.files, nil
}

// unsealed keeps everything as it is.
type unsealed struct{}

func (unsealed) Seal(_ context.Context, _ uuid.UUID, _ seal.Kind, _ string, plain []byte) ([]byte, error) {
	return plain, nil
}

func (unsealed) Open(_ context.Context, _ uuid.UUID, _ seal.Kind, _ string, sealed []byte) ([]byte, error) {
	return sealed, nil
}

func (unsealed) Sum(context.Context, uuid.UUID, seal.Kind, ...[]byte) (sum [32]byte, err error) {
	return sum, nil
}

func (unsealed) SealPieces(_ context.Context, _ uuid.UUID, _ seal.Kind, _ string, r io.Reader,
	put func(int, []byte) error) error {
	all, err := io.ReadAll(r)
	return errors.Join(err, put(0, all))
}

func (unsealed) OpenPieces(_ context.Context, _ uuid.UUID, _ seal.Kind, _ string,
	get func(int) ([]byte, error)) io.Reader {
	all, err := get(0)
	return io.MultiReader(bytes.NewReader(all), failing{err})
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

type anyToken struct{}

func (anyToken) Sign(runs.Run, bool) (string, error) { return "token", nil }

// unheard records nothing.
type unheard struct{}

func (unheard) Record(context.Context, audit.Event) error { return nil }

func withWorkspaces(b *bench, w *settled) *bench {
	d := b.Deps
	d.Workspaces, d.Seals, d.Tokens, d.Gate, d.Limits.Working = w, unsealed{}, anyToken{},
		audit.NewGate(unheard{}, time.Now), 1
	b.Service = runs.NewService(d)
	return b
}

func (b *bench) waits(org uuid.UUID, id string, kind runs.Kind, pool string) {
	b.t.Helper()
	_, err := b.Store.Create(b.t.Context(), runs.Run{
		Org: org, ID: id, Workspace: "w" + id[20:], Kind: kind, Status: runs.Pending, Pool: pool, Attempt: 1,
		CreatedAt: b.now,
	}, "", nil, nil)
	b.must(err)
}

func (b *bench) claims(key, pool string, orgs ...uuid.UUID) *api.Assignment {
	b.t.Helper()
	got, err := b.Claim(b.t.Context(), runs.Worker{ID: key, Pool: pool, Orgs: orgs}, api.AgentClaim{Key: key})
	b.must(err)
	return got
}

// An organization that has as many runs at work as it may have holds up nobody else.
func TestBusyOrganizationsHoldUpNobody(t *testing.T) {
	b := withWorkspaces(applying(t), &settled{})
	for i := range 20 {
		b.waits(b.run.Org, "01N000000000000000000000"+string(rune('A'+i))+"0", runs.Plan, "")
	}
	other := uuid.New()
	b.waits(other, "01P00000000000000000000000", runs.Plan, "")
	if got := b.claims("k", "", b.run.Org, other); got == nil || got.Org != other.String() {
		t.Errorf("claimed %+v", got)
	}
}

// A workspace that was protected, or given to other agents, since a run was asked for.
func TestClaimsLookAtTheWorkspace(t *testing.T) {
	w := &settled{now: runs.Workspace{Protected: true, Pool: "new"}}
	b := withWorkspaces(applying(t), w)
	org := uuid.New()
	b.waits(org, "01N00000000000000000000000", runs.Destroy, "old")
	b.waits(org, "01N00000000000000000000111", runs.Plan, "old")
	if got := b.claims("k", "old", org); got != nil {
		t.Errorf("the old pool has %+v", got)
	}
	destroy, err := b.Store.Run(t.Context(), runs.Ref{Org: org, ID: "01N00000000000000000000000"})
	b.must(err)
	if destroy.Status != runs.Discarded {
		t.Errorf("the destruction is %s", destroy.Status)
	}
	if got := b.claims("l", "new", org); got == nil || got.Kind != "plan" {
		t.Errorf("the new pool has %+v", got)
	}
}

// stocked has the tools of these versions.
type stocked []string

func (s stocked) Offers(_ context.Context, want api.Tool) error {
	if slices.Contains(s, want.Version) {
		return nil
	}
	return fault.New(fault.ToolUnavailable, "no version of %s is %s", want.Name, want.Version)
}

// A run that the server itself would execute, and has no tool for, is not made. What an agent has
// is known to the agent alone.
func TestRunsWithoutATool(t *testing.T) {
	w := &settled{now: runs.Workspace{Snapshot: "s", Terms: runs.Terms{Tool: "opentofu", Version: "0.1.2"}}}
	b := withWorkspaces(applying(t), w)
	d := b.Deps
	d.Tools = stocked{"1.12.6"}
	b.Service = runs.NewService(d)
	p := auth.Principal{Org: uuid.New(), KeyID: "one", Grant: auth.Grant{Role: auth.Writer}}
	order := func() error {
		_, err := b.Create(t.Context(), p, api.RunOrder{Workspace: "a", Kind: "plan"}, "")
		return err
	}
	if err := order(); !fault.Is(err, fault.ToolUnavailable) {
		t.Errorf("without the tool: %v", err)
	}
	has, err := b.Store.Tally(t.Context(), p.Org)
	if b.must(err); has.Waiting > 0 {
		t.Errorf("%d runs wait", has.Waiting)
	}
	w.now.Pool = "far"
	b.must(order())
	w.now.Pool, w.now.Terms.Version = "", "1.12.6"
	b.must(order())
}

// A key that somebody has used shows nobody the run of another workspace.
func TestKeysAreOfOneOrder(t *testing.T) {
	b := withWorkspaces(applying(t), &settled{now: runs.Workspace{Snapshot: "s"}})
	p := auth.Principal{Org: uuid.New(), KeyID: "one", Grant: auth.Grant{Role: auth.Writer}}
	first, err := b.Create(t.Context(), p, api.RunOrder{Workspace: "a", Kind: "plan"}, "key")
	b.must(err)
	again, err := b.Create(t.Context(), p, api.RunOrder{Workspace: "a", Kind: "plan"}, "key")
	if err != nil || again.ID != first.ID {
		t.Errorf("again: %s, %v", again.ID, err)
	}
	if _, err := b.Create(t.Context(), p, api.RunOrder{Workspace: "b", Kind: "plan"}, "key"); !fault.Is(err,
		fault.IdempotencyMismatch) {
		t.Errorf("of another workspace: %v", err)
	}
	p.KeyID = "two"
	if _, err := b.Create(t.Context(), p, api.RunOrder{Workspace: "a", Kind: "plan"}, "key"); !fault.Is(err,
		fault.IdempotencyMismatch) {
		t.Errorf("of somebody else: %v", err)
	}
}

func (b *bench) puts(kind runs.FileKind, content []byte) error {
	sum := sha256.Sum256(content)
	_, err := b.PutFile(b.t.Context(), b.as, b.run.ID,
		api.Artefact{Kind: string(kind), Attempt: 1, Digest: hex.EncodeToString(sum[:])}, bytes.NewReader(content))
	return err
}

// Files come in the stage that makes them: not beside what people have approved.
func TestFilesComeInTheirStage(t *testing.T) {
	apply := withWorkspaces(applying(t), &settled{})
	for _, kind := range []runs.FileKind{runs.FilePlan, runs.FilePlanJSON, runs.FileLock, runs.FilePlanFiles} {
		if err := apply.puts(kind, []byte("x")); !fault.Is(err, fault.RunInvalid) {
			t.Errorf("%s in the apply: %v", kind, err)
		}
	}
	apply.must(apply.puts(runs.FileOutputs, []byte("{}")), apply.puts(runs.FileErroredState, []byte("{}")))
	plan := withWorkspaces(newBench(t, runs.Planning, runs.PlanStage, runs.PhasePlan), &settled{})
	for _, kind := range []runs.FileKind{runs.FileOutputs, runs.FileErroredState} {
		if err := plan.puts(kind, []byte("x")); !fault.Is(err, fault.RunInvalid) {
			t.Errorf("%s in the plan: %v", kind, err)
		}
	}
	plan.must(plan.puts(runs.FileLock, []byte("x")))
	if _, err := plan.AppendLog(t.Context(), plan.as, plan.run.ID, "apply", 1, 0, []byte("x")); !fault.Is(err,
		fault.RunInvalid) {
		t.Errorf("the apply's log in the plan: %v", err)
	}
	checking := withWorkspaces(newBench(t, runs.Checking, runs.PlanStage, runs.PhaseShow), &settled{})
	if err := checking.puts(runs.FilePlanFiles, []byte("x")); !fault.Is(err, fault.RunInvalid) {
		t.Errorf("behind the plan: %v", err)
	}
}

// An executor that shows people other changes than those of the plan file is refused.
func TestShownChangesAreThePlans(t *testing.T) {
	tool := plantest.Tools(t)[0]
	folder := tool.New(t, map[string]string{"main.tf": `resource "terraform_data" "a" {}`,
		backend.File: string(backend.Content())})
	file, show := folder.Plan()
	w := &settled{files: filesOf(t, file), now: runs.Workspace{Terms: runs.Terms{MaxAttempts: 5}}}
	lies := strings.Replace(string(show), `"address":"terraform_data.a","mode"`, `"address":"terraform_data.b","mode"`, -1)
	for shown, want := range map[string]runs.Status{string(show): runs.AwaitingApproval, lies: runs.Failed} {
		b := withWorkspaces(newBench(t, runs.Planning, runs.PlanStage, runs.PhasePlan), w)
		b.must(b.puts(runs.FilePlan, file), b.puts(runs.FilePlanJSON, []byte(shown)))
		_, err := b.Report(t.Context(), b.as, b.run.ID, api.PhaseReport{
			Epoch: 2, Stage: "plan", Attempt: 1, Phase: "show", Outcome: runs.OutcomeSucceeded, Last: true,
			Tool: &api.Tool{Name: tool.Name, Version: tool.Version},
		})
		b.must(err)
		run, err := b.Store.Run(t.Context(), b.run.Ref())
		b.must(err)
		if run.Status != want || want == runs.Failed &&
			!strings.Contains(run.Reason, "the changes that the plan's JSON lists") {
			t.Errorf("%s: %s; want %s", run.Status, run.Reason, want)
		}
	}
}

// What a configuration executes can find out its tool's token: with that it says nothing about
// the run.
func TestToolsSpeakForNoExecutor(t *testing.T) {
	b := newBench(t, runs.Planning, runs.PlanStage, runs.PhasePlan)
	b.as.Run.Tool = true
	_, renewed := b.Renew(t.Context(), b.as, b.run.ID, api.LeaseRenewal{Epoch: 2})
	_, reported := b.Report(t.Context(), b.as, b.run.ID,
		api.PhaseReport{Epoch: 2, Stage: "plan", Attempt: 1, Phase: "plan", Outcome: "failed"})
	_, logged := b.AppendLog(t.Context(), b.as, b.run.ID, "plan", 1, 0, []byte("x"))
	for what, err := range map[string]error{"renew": renewed, "report": reported, "log": logged} {
		if !fault.Is(err, fault.RightMissing) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
