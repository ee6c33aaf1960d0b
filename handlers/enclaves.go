package handlers

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/enclave/removal"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/ansi"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/runs"
)

// enclaves serves workspaces ENCLAVE/PARTITION, and their runs, as those know them who call them so.
type enclaves struct {
	runHandlers
	removal *removal.Service // nil where the server keeps no workspaces
}

// routeEnclaves routes what is about enclaves.
func (d Deps) routeEnclaves(all section, known gin.HandlerFunc, guard *middleware.Guard) {
	h := enclaves{runHandlers: d.runHandlers()}
	if d.Workspaces != nil {
		h.removal = &removal.Service{Runs: d.Runs, Workspaces: d.Workspaces, States: d.States}
	}
	if d.Workspaces != nil && d.Runs != nil {
		h.removal.Gate = d.Runs.Gate
	}
	at := all.under("/enclaves/:enclave", known, h.on, guard.States(nil)).tagged(tagEnclaves, fault.RunsOff,
		fault.NameInvalid, fault.SealCorrupt, fault.SealKeyMissing)
	none := middleware.Admit(0)
	runsAt := at.under("/partitions/:partition/iac/runs")
	runsAt.route("GET", "", op("listPartitionRuns", "A partition's last 100 runs, the newest first").
		gives([]api.IACRun{}).needs(auth.ReadRun), h.ofPartition(h.list), none)
	runsAt.route("GET", "/latest", op("getLatestPartitionRun", "A partition's newest run, with its log").
		gives(api.IACRunLog{}).needs(auth.ReadRun).fails(fault.RunNotFound), h.ofPartition(h.latest), none)
	runsAt.route("GET", "/:id", op("getPartitionRun", "A partition's run, with its log").gives(api.IACRunLog{}).
		needs(auth.ReadRun).fails(fault.RunNotFound, fault.RunInvalid), h.ofPartition(h.show), none)
	runsAt.route("GET", "/:id/stream", op("streamPartitionRun", "What a partition's run prints, as it comes").
		with(textOf("after", "The `id` of the last event that the reader has."),
			headerOf("Last-Event-ID", "The same, as browsers send it.")).givesEvents().needs(auth.ReadRun).
		notes("Server-sent events: `log` has a LogBytes with its stage, `status` and `end` a RunStatus.").
		fails(fault.RunNotFound, fault.RunInvalid, fault.TooManyWaiting), h.ofPartition(h.stream), none)
	h.routeRecords(runsAt)
	if h.removal != nil {
		at.route("DELETE", "", op("removeEnclave", "Go on with taking an enclave away").
			with(flagOf("again", "Whether what has failed is tried again.")).gives(api.EnclaveRemoval{}).
			needs(auth.ApplyRun, auth.WriteState, auth.WriteWorkspace).
			notes("Partitions are destroyed in the reverse order of imports, then their states and workspaces are deleted. "+
				"While something is left, done is false, and the same request goes on with it.").
			fails(fault.DestroyProtected, fault.RunInvalid, fault.RunsFull, fault.ToolUnavailable, fault.LockHeld,
				fault.LockRequired, fault.StoreFull), h.remove, none)
	}
}

// partitionHandler is a handler of what is about a partition: its workspace's name.
type partitionHandler func(ctx context.Context, r *request, name string) (answer, error)

func (h enclaves) ofPartition(serve partitionHandler) handler {
	return func(ctx context.Context, r *request) (answer, error) {
		name, err := partitionName(r)
		if err != nil {
			return nil, err
		}
		return serve(ctx, r, string(name))
	}
}

// maxPartitionRuns is how many runs are listed.
const maxPartitionRuns = 100

// list lists a partition's runs, the newest first.
func (h enclaves) list(ctx context.Context, r *request, name string) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	hold := h.memory.Hold(budget.Share{Org: r.caller.Org})
	if err := hold.Acquire(ctx, rowsBytes(len(runs.Kinds())*maxPartitionRuns)); err != nil {
		return nil, err
	}
	defer hold.Release()
	found, err := h.newest(ctx, r, name, maxPartitionRuns)
	if err != nil {
		return nil, err
	}
	return tell(items(found, iacRunOf)), nil
}

// newest are a partition's newest runs of those that change something. Each kind is read by itself, from its own
// end, so that the plans and looks for drift in between cost nothing.
func (h enclaves) newest(ctx context.Context, r *request, name string, limit int) (all []runs.Run, err error) {
	for _, kind := range runs.Kinds() {
		if !kind.Mutates() {
			continue
		}
		page, err := h.service.List(ctx, r.caller, runs.Query{Workspace: name, Kind: kind, Limit: limit})
		if err != nil {
			return nil, err
		}
		all = append(all, page.Runs...)
	}
	slices.SortFunc(all, func(a, b runs.Run) int { return strings.Compare(b.ID, a.ID) }) // IDs begin with the time
	return all[:min(len(all), limit)], nil
}

// latest is a partition's newest run.
func (h enclaves) latest(ctx context.Context, r *request, name string) (answer, error) {
	found, err := h.newest(ctx, r, name, 1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fault.New(fault.RunNotFound, "the partition %s has no runs", name)
	}
	return h.withLog(ctx, r, found[0])
}

func (h enclaves) show(ctx context.Context, r *request, name string) (answer, error) {
	run, err := h.find(ctx, r, name)
	if err != nil {
		return nil, err
	}
	return h.withLog(ctx, r, run)
}

// find is the run of the path, if it is of the partition.
func (h enclaves) find(ctx context.Context, r *request, name string) (runs.Run, error) {
	id := r.run()
	if err := r.err(); err != nil {
		return runs.Run{}, err
	}
	run, err := h.service.Get(ctx, r.caller, id)
	if err == nil && run.Workspace != name {
		err = fault.New(fault.RunNotFound, "the partition %s has no run %s", name, id)
	}
	return run, err
}

// maxWholeLog is how much of a log is in one answer.
const maxWholeLog = 4 << 20

// withLog is a run with what its tool has printed. Colours are taken out of it.
func (h enclaves) withLog(ctx context.Context, r *request, run runs.Run) (answer, error) {
	return h.lists.answer(ctx, r, 4*maxWholeLog, func() (listing, error) {
		said := api.IACRunLog{IACRun: iacRunOf(run)}
		var log bytes.Buffer
		for _, stage := range []runs.Stream{runs.Stream(runs.PlanStage), runs.Stream(runs.ApplyStage)} {
			cut, err := h.copyStage(ctx, r, wanted{id: run.ID, stream: stage}, &log)
			if err != nil {
				return listing{}, err
			}
			said.LogCut = said.LogCut || cut
		}
		said.Log = strings.ToValidUTF8(log.String(), "\uFFFD")
		return listing{answer: said, takes: int64(log.Len())}, nil
	})
}

// stageLine stands before what is printed while a run applies.
const stageLine = "\n--- apply ---\n"

func (h enclaves) copyStage(ctx context.Context, r *request, want wanted, log *bytes.Buffer) (cut bool, err error) {
	plain := ansi.NewStripper(log)
	for first := true; ; first = false {
		part, err := h.piece(ctx, r.caller, want)
		if err != nil || len(part.Text) == 0 {
			return false, err
		}
		if first && want.stream == runs.Stream(runs.ApplyStage) {
			log.WriteString(stageLine)
		}
		if room := maxWholeLog - log.Len(); len(part.Text) > room {
			_, err := plain.Write(part.Text[:max(room, 0)])
			return true, err
		}
		if _, err := plain.Write(part.Text); err != nil {
			return false, err
		}
		want.attempt, want.offset = part.Attempt, part.End
	}
}

// stream sends what a run prints while it plans, and then what it prints while it applies.
func (h enclaves) stream(ctx context.Context, r *request, name string) (answer, error) {
	run, err := h.find(ctx, r, name)
	last := cmp.Or(r.header.Get("Last-Event-ID"), r.filled("after"))
	if err != nil {
		return nil, err
	}
	plan, apply := runs.Stream(runs.PlanStage), runs.Stream(runs.ApplyStage)
	f := &follower{runHandlers: h.runHandlers, r: r, want: wanted{id: run.ID, stream: plan}, whole: true,
		behind: []runs.Stream{apply}}
	if last != "" {
		stage, place, _ := strings.Cut(last, ":")
		if stage == string(apply) {
			f.want.stream, f.behind = apply, nil
		}
		if stage != string(f.want.stream) || !f.want.resume(place) {
			r.invalid("the Last-Event-ID is not one that this server gave")
		}
	}
	return f, r.err()
}

// remove goes on with taking an enclave away.
func (h enclaves) remove(ctx context.Context, r *request) (answer, error) {
	id, again := r.inPath("enclave"), r.flag("again")
	if err := r.err(); err != nil {
		return nil, err
	}
	said, err := h.removal.Remove(ctx, r.caller, id, again)
	return tell(said), err
}

// iacRunOf is a run in the words of those who call partitions by their enclaves.
func iacRunOf(run runs.Run) api.IACRun {
	enclave, partition, _ := strings.Cut(run.Workspace, "/")
	said := api.IACRun{ID: run.ID, EnclaveID: enclave, PartitionID: partition, Operation: "Update",
		StartedAt: run.CreatedAt, Status: "Running", ExitCode: run.ExitCode}
	if !run.StartedAt.IsZero() {
		said.StartedAt = run.StartedAt
	}
	switch {
	case run.Kind == runs.Destroy:
		said.Operation = "Teardown"
	case run.Base.Version == 0:
		said.Operation = "Provision"
	}
	if run.Order.Reconcile != "" {
		said.ReconcileRunID = &run.Order.Reconcile
	}
	if run.Status.Ended() {
		said.Status, said.FinishedAt = "Failed", &run.FinishedAt
	}
	if run.Status == runs.Succeeded {
		said.Status = "Succeeded"
	}
	return said
}
