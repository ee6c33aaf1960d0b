package handlers

import (
	"cmp"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/workspace"
)

func workspaceOf(w workspace.Workspace) api.Workspace {
	s := w.Settings
	said := api.Workspace{
		Name: string(w.Name), Revision: w.Revision, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
		UpdatedBy: api.Actor(w.UpdatedBy), PausedReason: w.Paused,
		Settings: api.WorkspaceSettings{
			Tool: s.Tool, Version: s.Version, Directory: s.Directory, Pool: s.Pool, Parallelism: s.Parallelism,
			Outputs: s.Outputs, Reads: s.Reads,
			PlanTimeout: seconds(s.PlanTimeout), ApplyTimeout: seconds(s.ApplyTimeout), PlanGrace: seconds(s.PlanGrace),
			ApplyGrace: seconds(s.ApplyGrace),
			AutoApply:  s.AutoApply, Approvals: s.Approvals, AllowAuthor: s.AllowAuthor, CarryApprovals: s.Carry,
			Gate: cmp.Or(s.Gate, gateNone), GateIrreversible: s.GateIrreversible, GateMonthlyCost: s.GateMonthlyCost,
			GateWhen:     s.GateWhen,
			ApprovalsFor: s.ApprovalsFor, ApproversFor: s.ApproversFor,
			PlanTTL: seconds(s.PlanTTL), ApprovalTTL: seconds(s.ApprovalTTL),
			Protected: s.Protected, MinSandbox: s.MinSandbox,
		},
	}
	if w.Newest.Number > 0 {
		newest := snapshotOf(w.Newest)
		said.Snapshot = &newest
	}
	return said
}

// gateNone is the word for no gate by findings, which is kept as the empty one.
const gateNone = "none"

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// applyChange changes the settings that a change names.
func applyChange(c api.WorkspaceChange, s *workspace.Settings) {
	setTo(&s.Tool, c.Tool)
	setTo(&s.Version, c.Version)
	setTo(&s.Directory, c.Directory)
	setTo(&s.Pool, c.Pool)
	setTo(&s.Parallelism, c.Parallelism)
	setTo(&s.Outputs, c.Outputs)
	setTo(&s.Reads, c.Reads)
	setSeconds(&s.PlanTimeout, c.PlanTimeout)
	setSeconds(&s.ApplyTimeout, c.ApplyTimeout)
	setSeconds(&s.PlanGrace, c.PlanGrace)
	setSeconds(&s.ApplyGrace, c.ApplyGrace)
	setTo(&s.AutoApply, c.AutoApply)
	setTo(&s.Approvals, c.Approvals)
	setTo(&s.AllowAuthor, c.AllowAuthor)
	setTo(&s.Carry, c.CarryApprovals)
	setSeconds(&s.PlanTTL, c.PlanTTL)
	setSeconds(&s.ApprovalTTL, c.ApprovalTTL)
	setTo(&s.Gate, c.Gate)
	if s.Gate == gateNone {
		s.Gate = ""
	}
	setTo(&s.GateIrreversible, c.GateIrreversible)
	setTo(&s.GateMonthlyCost, c.GateMonthlyCost)
	setTo(&s.GateWhen, c.GateWhen)
	setTo(&s.ApprovalsFor, c.ApprovalsFor)
	setTo(&s.ApproversFor, c.ApproversFor)
	setTo(&s.Protected, c.Protected)
	setTo(&s.MinSandbox, c.MinSandbox)
}

func setTo[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}

// setSeconds makes too many seconds too many, and not few.
func setSeconds(to *time.Duration, given *int64) {
	if given != nil {
		const most = int64(1<<63-1) / int64(time.Second)
		*to = time.Duration(min(max(*given, 0), most)) * time.Second
	}
}

func snapshotOf(e workspace.Entry) api.Snapshot {
	return api.Snapshot{
		Number: e.Number, ID: e.ID.String(), Files: e.Files, Bytes: e.Bytes, Message: e.Message,
		CreatedAt: e.CreatedAt, CreatedBy: api.Actor(e.CreatedBy),
	}
}

func fileOf(f workspace.File) api.SnapshotFile {
	return api.SnapshotFile{Path: f.Path, Executable: f.Executable, Size: f.Size, SHA256: f.Digest.String()}
}

func differenceOf(d workspace.Difference) api.FileDifference {
	said := api.FileDifference{Path: d.Path, How: d.How}
	if d.Before != nil {
		said.Before = d.Before.Digest.String()
	}
	if d.After != nil {
		said.After = d.After.Digest.String()
	}
	return said
}

func variableOf(v workspace.Shown) api.Variable {
	said := api.Variable{
		Kind: string(v.Kind), Name: v.Name, HCL: v.HCL, Sensitive: v.Sensitive, Scope: "workspace", Overridden: v.Hidden,
		UpdatedAt: v.UpdatedAt, UpdatedBy: api.Actor(v.UpdatedBy),
	}
	if v.Organization {
		said.Scope = "organization"
	}
	if !v.Sensitive {
		said.Value = &v.Value.Value
	}
	return said
}
