package server

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/runs/token"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// runStates is what runs need of states.
type runStates struct {
	service *state.Service
	store   state.Store
}

func refOf(org uuid.UUID, name string) state.Ref { return state.Ref{Org: org, Name: state.Name(name)} }

// Head implements runs.States.
func (s runStates) Head(ctx context.Context, org uuid.UUID, name string) (runs.Base, error) {
	head, err := s.store.Head(ctx, refOf(org, name))
	base := baseOf(head)
	if author := head.Version.Author; head.Exists() {
		base.By = &api.Actor{KeyID: author.KeyID, Subject: author.Subject}
	}
	return base, err
}

// baseOf is a state's newest version, as plans are made on it.
func baseOf(head state.Head) runs.Base {
	if !head.Exists() {
		return runs.Base{}
	}
	v := head.Version
	return runs.Base{Version: v.Number, Lineage: v.Lineage, Serial: v.Serial, Digest: hex.EncodeToString(v.Digest[:]),
		Resources: v.Resources}
}

// Fence implements runs.States.
func (s runStates) Fence(ctx context.Context, org uuid.UUID, name, run string, epoch int64, open bool) error {
	_, err := s.service.Fence(ctx, refOf(org, name), state.Fence{Run: run, Epoch: epoch, Open: open})
	return err
}

// ReleaseFor implements runs.States.
func (s runStates) ReleaseFor(ctx context.Context, org uuid.UUID, name, run, reason string) error {
	_, err := s.service.ReleaseFor(ctx, refOf(org, name), run, reason)
	return err
}

// Seen implements runs.States.
func (s runStates) Seen(ctx context.Context, org uuid.UUID, name, run string, epoch int64) error {
	return s.service.SeenFor(ctx, refOf(org, name), state.RunRef{ID: run, Epoch: epoch})
}

// runWorkspaces is what runs need of workspaces.
type runWorkspaces struct {
	service     *workspace.Service
	layers      layers.Store
	maxLogBytes int64
	keepFiles   time.Duration
}

// maxAttempts is how often a run that lost its executor, or met the trouble of a network, is
// begun in all.
const maxAttempts = 5

// Workspace implements runs.Workspaces.
func (w runWorkspaces) Workspace(ctx context.Context, org uuid.UUID, name string) (runs.Workspace, error) {
	found, err := w.service.Workspace(ctx, org, state.Name(name))
	if err != nil {
		return runs.Workspace{}, err
	}
	s := found.Settings
	return runs.Workspace{
		Pool: s.Pool, Protected: s.Protected, Snapshot: snapshotOf(found),
		Changed: runs.Changed{By: changedBy(found.UpdatedBy), At: found.UpdatedAt},
		Terms: runs.Terms{
			Revision: found.Revision, Tool: s.Tool, Version: s.Version, Directory: s.Directory, Parallelism: s.Parallelism,
			Timeout: map[runs.Stage]time.Duration{runs.PlanStage: s.PlanTimeout, runs.ApplyStage: s.ApplyTimeout},
			Grace:   map[runs.Stage]time.Duration{runs.PlanStage: s.PlanGrace, runs.ApplyStage: s.ApplyGrace},
			Outputs: s.Outputs, Reads: s.Reads,
			AutoApply: s.AutoApply, Approvals: s.Approvals, AllowAuthor: s.AllowAuthor, Carry: s.Carry,
			PlanTTL: s.PlanTTL, ApprovalTTL: s.ApprovalTTL, MinSandbox: s.MinSandbox, MaxLogBytes: w.maxLogBytes,
			MaxAttempts: maxAttempts,
			Gates: runs.Gates{Severity: s.Gate, Irreversible: s.GateIrreversible, MonthlyCost: s.GateMonthlyCost,
				When: s.GateWhen},
			KeepFiles: w.keepFiles, ApprovalsFor: s.ApprovalsFor, Approvers: s.ApproversFor,
		},
	}, nil
}

func changedBy(a workspace.Actor) api.Actor {
	return api.Actor{KeyID: a.KeyID, KeyName: a.KeyName, Subject: a.Subject}
}

// snapshotOf is the workspace's newest snapshot; empty while there is none.
func snapshotOf(w workspace.Workspace) string {
	if w.Newest.Number == 0 {
		return ""
	}
	return w.Newest.ID.String()
}

// Inputs implements runs.Workspaces.
func (w runWorkspaces) Inputs(ctx context.Context, org uuid.UUID, name string) (runs.Inputs, error) {
	found, err := w.service.Inputs(ctx, org, state.Name(name))
	if err != nil {
		return runs.Inputs{}, err
	}
	made := runs.Inputs{Revision: found.Revision, Digest: hex.EncodeToString(found.Digest[:])}
	if last := found.Newest; last.Name != "" {
		made.Changed = runs.Changed{What: "the variable " + last.Name, By: changedBy(last.UpdatedBy), At: last.UpdatedAt}
	}
	for _, v := range found.Variables {
		input := api.Input{Name: v.Name, Value: v.Value, HCL: v.HCL, Sensitive: v.Sensitive}
		if v.Kind == workspace.EnvironmentVariable {
			made.Environment = append(made.Environment, input)
		} else {
			made.Variables = append(made.Variables, input)
		}
	}
	return made, nil
}

// Files implements runs.Workspaces.
func (w runWorkspaces) Files(ctx context.Context, org uuid.UUID, name, snapshot string) (map[string]string, error) {
	found, err := w.service.Files(ctx, org, state.Name(name), snapshot)
	if err != nil {
		return nil, err
	}
	files := make(map[string]string, len(found.Files))
	for _, f := range found.Files {
		files[f.Path] = f.Digest.String()
	}
	return files, nil
}

// PlanOnly implements runs.Workspaces: a draft of what comes from a repository is not applied.
func (w runWorkspaces) PlanOnly(ctx context.Context, org uuid.UUID, name, snapshot string) (string, error) {
	draft, err := w.service.IsDraft(ctx, org, state.Name(name), snapshot)
	if err != nil || !draft {
		return "", err
	}
	l, err := w.layers.Layer(ctx, layers.Ref{Org: org, Name: name})
	if fault.Is(err, fault.LayerNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("this configuration of %s is a draft, and a draft of what comes from %s can be planned only: "+
		"`holdfast layer sync %[1]s` takes what the repository has", name, l.Settings.Repository), nil
}

// WriteArchive implements runs.Workspaces.
func (w runWorkspaces) WriteArchive(ctx context.Context, org uuid.UUID, name, snapshot string, to io.Writer) error {
	return w.service.WriteArchive(ctx, org, state.Name(name), snapshot, to)
}

// runInsights is what runs need of insights. service is set once the service is there.
type runInsights struct{ service *insight.Service }

// Policies implements runs.Insights.
func (i *runInsights) Policies(ctx context.Context, org uuid.UUID, workspace string) (runs.Policies, error) {
	return i.service.Policies(ctx, org, workspace)
}

// Held implements runs.Insights.
func (i *runInsights) Held(ctx context.Context, plan runs.PlanJSON, gates runs.Gates,
	policies runs.Policies) (runs.Verdict, error) {
	return i.service.Held(ctx, plan, gates, policies)
}

// Told implements runs.Insights.
func (i *runInsights) Told(ctx context.Context, plan runs.PlanJSON, policies runs.Policies) (*api.Insight, error) {
	return i.service.Told(ctx, plan, policies)
}

// workspaceRuns is what workspaces need of runs. service is set once the service is there.
type workspaceRuns struct {
	store   runs.Store
	service *runs.Service
	log     *slog.Logger
}

// Changed implements workspace.Runs.
func (w *workspaceRuns) Changed(ctx context.Context, now workspace.Workspace) {
	if err := w.service.WorkspaceChanged(ctx, now.Org, string(now.Name), now.Revision,
		changedBy(now.UpdatedBy)); err != nil {
		w.log.ErrorContext(ctx, "plans that a change of a workspace has outdated wait still; they are refused when they "+
			"are to be applied", "workspace", now.Name, "error", err)
	}
}

// Mutating implements workspace.Runs.
func (w *workspaceRuns) Mutating(ctx context.Context, org uuid.UUID, name string) (string, error) {
	open, err := w.store.Open(ctx, org, name)
	for _, run := range open {
		if run.Kind.Mutates() {
			return run.ID, err
		}
	}
	return "", err
}

// Paused implements workspace.Runs.
func (w *workspaceRuns) Paused(ctx context.Context, now workspace.Workspace) (string, error) {
	return w.service.Paused(ctx, now.Org, string(now.Name), snapshotOf(now))
}

// Serves implements workspace.Runs.
func (w *workspaceRuns) Serves(ctx context.Context, ref workspace.Ref, pool string) error {
	return w.service.Serves(ctx, ref.Org, pool, string(ref.Name))
}

// Needed implements workspace.Runs.
func (w *workspaceRuns) Needed(ctx context.Context, org uuid.UUID, name string) (map[string]bool, error) {
	open, err := w.store.Open(ctx, org, name)
	needed := map[string]bool{}
	for _, run := range open {
		needed[run.Order.Snapshot] = true
	}
	return needed, err
}

// runTokens makes and recognises the tokens of runs. service is set once the service is there.
type runTokens struct {
	signer  *token.Signer
	service *runs.Service
	now     func() time.Time
}

// beyond is for how long a token is good after its stage must have ended: for what its tool
// writes late.
const beyond = 6 * time.Hour

// Sign implements runs.Tokens.
func (t *runTokens) Sign(run runs.Run, tool bool) (string, error) {
	return t.signer.Sign(token.Claims{
		Run: run.ID, Org: run.Org, Epoch: run.Epoch, Stage: auth.RunStage(run.Stage), State: run.Workspace,
		Version: run.Base.Version, Removes: run.Removes, Resources: run.Base.Resources, Tool: tool,
		Expires: t.begin(run).Add(run.Terms.Timeout[run.Stage] + run.Terms.Grace[run.Stage] + beyond),
	}), nil
}

// begin is when a run's executor got it.
func (t *runTokens) begin(run runs.Run) time.Time {
	if run.Executor == nil || run.Executor.Since.IsZero() {
		return t.now()
	}
	return run.Executor.Since
}

// VerifyRun implements verify.RunVerifier.
func (t *runTokens) VerifyRun(ctx context.Context, text string) (auth.Principal, error) {
	if t.service == nil {
		return auth.Principal{}, fault.New(fault.TokenRefused, "this server keeps no runs")
	}
	claims, err := t.signer.Read(text)
	if err != nil {
		return auth.Principal{}, err
	}
	return t.service.VerifyRun(ctx, claims.Principal())
}
