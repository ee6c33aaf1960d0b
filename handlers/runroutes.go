package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/openapi"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/runs"
)

// runRoute is an address of what is about runs.
type runRoute struct {
	method, path string
	body         int64
	serve        handler
	about        operation
}

// routeRuns routes what people ask of runs.
func (d Deps) routeRuns(all section, native gin.HandlerFunc, guard *middleware.Guard) {
	h := d.runHandlers()
	at := all.under("/api/v1", native, h.on, guard.States(nil)).tagged(tagRuns, fault.RunsOff, fault.SealCorrupt,
		fault.SealKeyMissing)
	for _, r := range h.routes() {
		at.route(r.method, r.path, r.about, r.serve, middleware.Admit(r.body))
	}
	for _, r := range h.ofPools() {
		at.tagged(tagPools).route(r.method, r.path, r.about, r.serve, middleware.Admit(r.body))
	}
}

func (h runHandlers) routes() []runRoute {
	one := func(id, summary string, right auth.Right) operation {
		return op(id, summary).needs(right).fails(fault.RunNotFound, fault.RunInvalid)
	}
	makes := func(o operation) operation {
		return o.with(idempotencyOf()).givesAs(http.StatusCreated, api.Run{}).
			fails(fault.RunInvalid, fault.RunsFull, fault.WorkspaceNotFound, fault.SnapshotNotFound, fault.DestroyProtected,
				fault.IdempotencyInvalid, fault.IdempotencyMismatch,
				fault.StoreFull, fault.QuotaExceeded, fault.ToolUnavailable, fault.PoolNotFound, fault.PoolOther)
	}
	decides := func(id, summary string, right auth.Right) operation {
		return one(id, summary, right).gives(api.Run{}).fails(fault.RunStatus, fault.ReasonMissing)
	}
	log := []openapi.Parameter{choiceOf("stream", "The log of which stage.", string(runs.PlanStage),
		string(runs.ApplyStage)),
		numberOf("attempt", "The log of which attempt; else of the newest."), countOf("offset", "From which byte on.")}
	return []runRoute{
		{"GET", "/runs", 0, h.list,
			op("listRuns", "Runs, the newest first").with(textOf("workspace", "Only of this workspace."), kindOf(),
				statusesOf()).with(pageOf()...).
				gives(api.Runs{}).needs(auth.ReadRun).fails(fault.CursorInvalid)},
		{"POST", "/runs", maxRunOrderBytes, h.create,
			makes(op("createRun", "Make a run").takes(api.RunOrder{}).needs(auth.PlanRun, auth.ApplyRun))},
		{"GET", "/runs/:id", 0, h.show, one("getRun", "A run", auth.ReadRun).gives(api.Run{})},
		{"GET", "/runs/:id/events", 0, h.events, one("listRunEvents", "What happened to a run, in order", auth.ReadRun).
			with(pageOf()[0], countOf("after", "The events behind this sequence.")).gives(api.RunEvents{})},
		{"GET", "/runs/:id/changes", 0, h.changes,
			one("getRunChanges", "What a run's plan would change",
				auth.ReadRun).gives(api.RunChanges{}).fails(fault.RunFileNotFound)},
		{"GET", "/runs/:id/insight", 0, h.insight,
			one("getRunInsight", "What a run's plan means, what it costs and what of it is dangerous",
				auth.ReadRun).gives(api.Insight{}).fails(fault.RunFileNotFound, fault.PlanJSONInvalid,
				fault.PlanJSONTooLarge)},
		{"GET", "/runs/:id/outputs", 0, h.outputs,
			one("getRunOutputs", "The outputs that a run's apply has left behind",
				auth.ReadRun).gives(api.RunOutputs{}).fails(fault.RunFileNotFound)},
		{"GET", "/runs/:id/log", 0, h.text,
			one("getRunLog", "What the tool has printed up to now", auth.ReadRun).with(log...).
				with(choiceOf("ansi", "With colours as they were printed, or without.", "keep", "strip"),
					flagOf("download", "As a file.")).givesBytes(mediaText).headed("X-Holdfast-Attempt")},
		{"GET", "/runs/:id/log/stream", 0, h.stream,
			one("streamRunLog", "What the tool prints, as it comes", auth.ReadRun).with(log...).
				with(textOf("after", "The `id` of the last event that the reader has."),
					headerOf("Last-Event-ID", "The same, as browsers send it.")).givesEvents().
				notes("Server-sent events: `log` has a LogBytes, `status` and `end` a RunStatus. Nothing follows `end`; what ends " +
					"without it was broken off.").fails(fault.TooManyWaiting)},
		{"POST", "/runs/:id/approve", maxOrderBytes, h.approve,
			decides("approveRun", "Say yes to a run's plan", auth.ApproveRun).takes(api.Decision{}).
				needs(auth.ApplyRun, auth.BreakGlass).
				fails(fault.RunStale, fault.PinMismatch, fault.ApprovalOwn, fault.ApprovalOthers,
					fault.ApprovalNeeded, fault.ReasonMissing)},
		{"POST", "/runs/:id/deny", maxOrderBytes, h.deny,
			decides("denyRun", "Say no to a run's plan", auth.ApproveRun).takes(api.Decision{}).fails(fault.RunStale,
				fault.PinMismatch, fault.ApprovalOwn)},
		{"POST", "/runs/:id/cancel", maxOrderBytes, h.cancel,
			decides("cancelRun", "End a run", auth.CancelRun).mayTake(api.CancelOrder{})},
		{"POST", "/runs/:id/discard", maxOrderBytes, h.discard,
			decides("discardRun", "End a run whose plan nobody wants", auth.CancelRun).mayTake(api.ResolveOrder{})},
		{"POST", "/runs/:id/retry", maxOrderBytes, h.retry,
			makes(one("retryRun", "Make a run like one that has ended",
				auth.PlanRun).needs(auth.ApplyRun).fails(fault.RunStatus))},
		{"POST", "/runs/:id/resolve", maxOrderBytes, h.resolve,
			decides("resolveRun", "End a run whose executor was lost while it applied",
				auth.ForceUnlock).takes(api.ResolveOrder{})},
	}
}

func (h runHandlers) ofPools() []runRoute {
	pool := func(id, summary string) operation {
		return op(id, summary).gives(api.AgentPool{}).needs(auth.ManageAgents).fails(fault.PoolNotFound, fault.RunInvalid)
	}
	return []runRoute{
		{"GET", "/pools", 0, h.pools,
			op("listPools", "The organization's pools of agents, with their agents").gives(api.AgentPools{}).
				needs(auth.ReadRun)},
		{"POST", "/pools", maxRunOrderBytes, h.createPool,
			op("createPool", "Make a pool, or accept one that another organization lends").takes(api.PoolOrder{}).
				givesAs(http.StatusCreated, api.AgentPool{}).needs(auth.ManageAgents).fails(fault.PoolNotFound, fault.PoolExists,
				fault.RunInvalid, fault.RunsFull)},
		{"PATCH", "/pools/:pool", maxRunOrderBytes, h.changePool,
			pool("changePool", "Have a pool serve other workspaces").takes(api.PoolChange{})},
		{"POST", "/pools/:pool/rotate", maxOrderBytes, h.rotatePool,
			pool("rotatePool", "Give a pool another token, which is told once")},
		{"POST", "/pools/:pool/grants", maxRunOrderBytes, h.grantPool,
			pool("grantPool", "Lend a pool to another organization").takes(api.GrantOrder{})},
		{"DELETE", "/pools/:pool/grants/:organization", 0, h.revokePool,
			pool("revokePool", "Lend a pool to another organization no more")},
		{"DELETE", "/pools/:pool", 0, h.removePool,
			op("removePool", "Take a pool away, with its agents").gives(api.Done{}).needs(auth.ManageAgents).
				fails(fault.PoolNotFound, fault.RunInvalid).anyOther()},
	}
}

// routeExecutors routes what those say who execute runs: agents by their pool's token or by
// their secret, and whoever has a run by its token.
func (d Deps) routeExecutors(all section, guard *middleware.Guard) {
	h := d.runHandlers()
	all = all.tagged(tagExecutors, fault.RunsOff, fault.SealCorrupt, fault.SealKeyMissing)
	register, agent, run := all, all, all
	register.by, agent.by, run.by = byPool, byAgent, byRun
	register.under("/api/v1").route("POST", "/agents",
		op("registerAgent", "Register an agent of a pool").takes(api.AgentRegistration{}).
			givesAs(http.StatusCreated, api.Agent{}).fails(fault.RunInvalid, fault.RunsFull),
		h.register, middleware.Identify(d.Verifier, h.poolCaller), h.on, guard.Executors(), middleware.Admit(maxClaimBytes))
	agent.under("/api/v1").route("POST", "/agents/:agent/claim",
		op("claimRun", "Ask for a stage of a run").takes(api.AgentClaim{}).
			gives(api.Assignment{}).givesNothing(http.StatusNoContent).fails(fault.RunInvalid, fault.AgentNotFound,
			fault.TooManyWaiting),
		h.claim, middleware.Identify(d.Verifier, h.agentCaller), h.on, guard.Executors(), middleware.Admit(maxClaimBytes))

	at := run.under("/api/v1/runs/:id", middleware.Authenticate(executors{d.Verifier}, middleware.NativeCredentials), h.on,
		guard.Executors()).
		tagged(tagExecutors, fault.RunInvalid, fault.RunNotFound, fault.EpochOld)
	bytes := openapi.Of("string").With("contentMediaType", mediaBytes)
	at.route("POST", "/lease",
		op("renewLease", "Say that the executor is alive").takes(api.LeaseRenewal{}).gives(api.Lease{}), h.lease,
		middleware.Admit(maxLeaseBytes))
	at.route("POST", "/phase",
		op("reportPhase", "Say how a phase has ended").takes(api.PhaseReport{}).gives(api.PhaseAnswer{}).
			fails(fault.RunStatus, fault.PlanRefused, fault.RunFileNotFound).fails(planFaults()...), h.phase,
		middleware.Admit(maxReportBytes))
	at.route("PUT", "/log/:stream/:attempt",
		op("appendLog", "Add bytes to a log").with(countOf("offset",
			"Where the bytes begin in the log.")).takesBytes(mediaText, bytes).
			gives(api.LogEnd{}).fails(fault.LogGap, fault.LogMismatch, fault.LogTooLarge, fault.StoreFull), h.appendLog,
		middleware.Admit(runs.MaxLogPiece))
	at.route("PUT", "/artefacts/:kind/:attempt", op("putArtefact", "Bring a file that a stage has made").
		with(headerOf("X-Digest", "The body's SHA-256, in hexadecimal."),
			headerOf("Content-Digest", "The body's SHA-256 as RFC 9530 has it, in place of X-Digest.")).
		takesBytes(mediaBytes, bytes).gives(api.Artefact{}).fails(fault.FileMismatch, fault.UploadReplaced,
		fault.StoreFull).fails(planFaults()...), h.putArtefact, middleware.Streamed())
	at.route("GET", "/artefacts/:kind/:attempt",
		op("getArtefact", "The bytes of a file that a stage has made").givesBytes(mediaBytes).headed("X-Digest").
			fails(fault.RunFileNotFound),
		h.artefact, middleware.Admit(0))
	at.route("GET", "/configuration",
		op("getConfiguration", "The run's configuration as a tar archive").givesBytes(mediaTar).fails(fault.SnapshotNotFound),
		h.configuration, middleware.Admit(0))
}

// planFaults are why a plan is refused.
func planFaults() []fault.Code {
	return []fault.Code{fault.PlanFileInvalid, fault.PlanFileTooLarge, fault.PlanJSONInvalid, fault.PlanJSONTooLarge,
		fault.PlanEncrypted, fault.PlanCredentials,
		fault.PlanBackendMismatch, fault.PlanStateMismatch, fault.PlanConfigMismatch, fault.PlanLockMismatch,
		fault.PlanToolMismatch, fault.PlanChangesMismatch}
}

func kindOf() openapi.Parameter {
	return inQueryOf("kind", "Only of this kind.", openapi.Ref("RunKind"))
}

func statusesOf() openapi.Parameter {
	return textOf("status", "Only those with one of these statuses, apart by commas.")
}

// givesEvents says that the answer is a stream of server-sent events.
func (o operation) givesEvents() operation {
	return o.answers(http.StatusOK, openapi.Content{Media: "text/event-stream"})
}
