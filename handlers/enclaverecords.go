package handlers

import (
	"context"
	"errors"
	"net/http"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/openapi"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/runs"
)

// What who runs a partition on their machine may send at once.
const (
	maxSignBytes = 4 << 10
	maxEndBytes  = 2 << 20 // it has the declared outputs
)

// routeRecords routes what those say who run partitions on their own machines.
func (h enclaves) routeRecords(at section) {
	at = at.tagged(tagEnclaves, fault.RunInvalid, fault.StoreFull)
	one := func(id, summary string) operation {
		return op(id, summary).needs(auth.ApplyRun).fails(fault.RunNotFound, fault.EpochOld)
	}
	at.route("POST", "", op("beginPartitionRun", "Begin the record of a run that is made on the caller's machine").
		with(idempotencyOf()).takes(api.IACRunOrder{}).givesAs(http.StatusCreated, api.IACRun{}).needs(auth.ApplyRun).
		notes("Who has begun it adds to its log, says that it goes on, and ends it. Each of these may be repeated.").
		fails(fault.RunsFull, fault.IdempotencyInvalid, fault.IdempotencyMismatch), h.ofPartition(h.begin),
		middleware.Admit(maxSignBytes))
	bytes := openapi.Of("string").With("contentMediaType", mediaBytes)
	at.route("PUT", "/:id/log/:stream", one("appendPartitionLog", "Add bytes to the log of such a run").
		with(countOf("offset", "Where the bytes begin in the log.")).takesBytes(mediaText, bytes).gives(api.LogEnd{}).
		fails(fault.LogGap, fault.LogMismatch, fault.LogTooLarge), h.ofPartition(h.record),
		middleware.Admit(runs.MaxLogPiece))
	at.route("POST", "/:id/lease", one("renewPartitionRun", "Say that such a run goes on").takes(api.IACRunSign{}).
		gives(api.Lease{}), h.ofPartition(h.sign), middleware.Admit(maxSignBytes))
	at.route("POST", "/:id/end", one("endPartitionRun", "Say how such a run has ended").takes(api.IACRunEnd{}).
		gives(api.IACRun{}), h.ofPartition(h.end), middleware.Admit(maxEndBytes))
}

// begin begins the record of a run that somebody makes on their machine.
func (h enclaves) begin(ctx context.Context, r *request, name string) (answer, error) {
	order, key := objectOr[api.IACRunOrder](r, fault.RunInvalid), r.idempotencyKey()
	begun := runs.Elsewhere{Workspace: name, Kind: runs.Apply, Reconcile: order.ReconcileRunID, Tool: order.Tool,
		Note: order.Message}
	switch order.Operation {
	case "Teardown":
		begun.Kind = runs.Destroy
	case "Provision", "Update":
	default:
		r.check(fault.New(fault.RunInvalid, "the operation %.32q is none: Provision, Update or Teardown", order.Operation))
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	run, err := h.service.BeginElsewhere(ctx, r.caller, begun, key)
	return told{status: http.StatusCreated, body: iacRunOf(run)}, err
}

// record adds bytes to the log of a run that is made elsewhere.
func (h enclaves) record(ctx context.Context, r *request, name string) (answer, error) {
	id, offset := r.run(), r.offset()
	stream := r.segment("stream", fault.RunInvalid, "a run's log is called by its stage: plan or apply")
	if err := r.err(); err != nil {
		return nil, err
	}
	end, err := h.service.LogElsewhere(ctx, r.caller, name, id, runs.Stream(stream), offset, r.body())
	return logAnswer(ctx, end, err)
}

// logAnswer says where a log ends, or up to where it is as its writer has it.
func logAnswer(ctx context.Context, end int64, err error) (answer, error) {
	gap, ok := errors.AsType[*runs.LogGapError](err)
	if !ok {
		return tell(api.LogEnd{End: end}), err
	}
	failure := api.Failure{Status: "error", Code: api.ErrorCode(gap.Fault.Code), Message: gap.Fault.Message,
		RequestID: middleware.RequestIDOf(ctx)}
	return told{status: http.StatusConflict, body: api.LogRefusal{Failure: failure, End: gap.End}, cause: err}, nil
}

// sign takes a sign of life.
func (h enclaves) sign(ctx context.Context, r *request, name string) (answer, error) {
	id, said := r.run(), objectOr[api.IACRunSign](r, fault.RunInvalid)
	if err := r.err(); err != nil {
		return nil, err
	}
	lease, err := h.service.RenewElsewhere(ctx, r.caller, name, id, runs.Phase(said.Phase))
	return tell(lease), err
}

// end ends the record of a run that was made elsewhere.
func (h enclaves) end(ctx context.Context, r *request, name string) (answer, error) {
	id, said := r.run(), objectOr[api.IACRunEnd](r, fault.RunInvalid)
	if err := r.err(); err != nil {
		return nil, err
	}
	run, err := h.service.EndElsewhere(ctx, r.caller, name, id, said)
	return tell(iacRunOf(run)), err
}
