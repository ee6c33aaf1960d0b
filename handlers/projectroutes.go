package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/openapi"
	"github.com/holdfast/holdfast/middleware"
)

// projectRoute is an address of what is about one project.
type projectRoute struct {
	method, path string
	admit        gin.HandlerFunc
	serve        projectHandler
	about        operation
}

// routeProjects routes workspaces and runs by the names of projects.
func (d Deps) routeProjects(all section, native gin.HandlerFunc, states states, guard *middleware.Guard) {
	h := d.projectHandlers()
	at := all.under("/api/v1/infra/:project", native, guard.States(nil)).tagged(tagProjects, fault.WorkspaceNotFound,
		fault.NameInvalid, fault.SealCorrupt, fault.SealKeyMissing)
	for _, r := range h.routes() {
		at.route(r.method, r.path, r.about, h.named(r.serve), r.admit)
	}
	runs := all
	runs.by = byRun
	states.spelling = h.infraState()
	own := runs.under(states.spelling.path, middleware.Authenticate(d.Verifier, middleware.NativeCredentials), inRun).
		tagged(tagProjects, fault.WorkspaceNotFound, fault.NameInvalid, fault.StateCorrupt)
	get, write := states.aboutGet(), states.aboutWrite()
	own.route("GET", "", get.called("getStateAtInfra"), states.named(states.get), guard.Operations(nil),
		middleware.Admit(0))
	own.route("POST", "", write.called("storeStateAtInfra"), states.named(states.put),
		guard.Operations(states.claim(write, inQuery)), middleware.Admit(states.maxBytes))
}

func (h projectHandlers) routes() []projectRoute {
	none, order := middleware.Admit(0), middleware.Admit(maxOrderBytes)
	decides := func(id, summary string, rights ...auth.Right) operation {
		return op(id, summary).needs(rights...).mayTake(api.ProjectDecision{}).gives(api.ProjectRun{}).
			fails(fault.RunsOff, fault.RunNotFound, fault.RunInvalid, fault.RunStatus, fault.RunStale, fault.PinMismatch,
				fault.ApprovalOwn, fault.ApprovalOthers, fault.ApprovalNeeded)
	}
	return []projectRoute{
		{"GET", "/files", none, h.files,
			reads("listProjectFiles", "A project's files, with their contents and checksums").gives(api.ProjectFiles{}).
				fails(fault.FilesTooLarge)},
		{"POST", "/files", middleware.Admit(maxProjectFile), h.put,
			writes("putProjectFile", "Create or replace a file").takes(api.ProjectFileOrder{}).gives(api.ProjectFileDone{}).
				fails(fault.SnapshotMoved, fault.FilePathInvalid, fault.FileNotText, fault.FileTooLarge, fault.FilesTooMany,
					fault.FilesTooLarge, fault.FileTwice)},
		{"DELETE", "/files/:name", none, h.remove,
			writes("deleteProjectFile", "Delete a file").gives(api.ProjectFileDone{}).
				fails(fault.FileNotFound, fault.SnapshotMoved, fault.SnapshotNotFound, fault.FilePathInvalid)},
		{"GET", "/files/checksums", none, h.checksums,
			reads("getProjectChecksums", "The SHA-256 of each of a project's files").gives(api.ProjectChecksums{})},
		{"POST", "/files/pull", order, h.pull,
			reads("pullProjectFiles", "All files, for a folder").mayTake(struct{}{}).gives(api.ProjectPull{}).
				fails(fault.FilesTooLarge, fault.RunInvalid)},
		{"POST", "/run", order, h.begin, h.makes("runProject", "Plan or apply, and wait for the end or for what asks somebody").
			takes(api.ProjectRunOrder{}).gives(api.ProjectRun{})},
		{"GET", "/run/stream", none, h.stream, h.makes("streamProject", "Plan or apply over a WebSocket, or go on with a run").
			with(choiceOf("mode", "Makes a run.", "", "plan", "apply"), textOf("planRunId", "As in the body of `run`."),
				textOf("run", "Goes on with this run instead."), textOf("position", "The last that was read of it.")).
			answers(http.StatusSwitchingProtocols, openapi.Content{}).needs(auth.ReadRun).
			notes("A WebSocket whose messages are each a ProjectEvent in JSON; docs/projects.md says in which order.")},
		{"GET", "/runs", none, h.list,
			op("listProjectRuns", "A project's runs, the newest first").needs(auth.ReadRun).
				with(numberOf("limit", "How many, 200 at most; else 50."), countOf("offset", "Behind so many.")).
				gives(api.ProjectRuns{}).fails(fault.RunsOff)},
		{"GET", "/runs/:id", none, h.show,
			op("getProjectRun", "A run with its logs, plan and files").needs(auth.ReadRun).gives(api.ProjectRun{}).
				fails(fault.RunsOff, fault.RunNotFound, fault.RunInvalid)},
		{"POST", "/runs/:id/approve", order, h.approve,
			decides("approveProjectRun", "Say yes to a run's plan", auth.ApproveRun, auth.ApplyRun)},
		{"POST", "/runs/:id/deny", order, h.deny,
			decides("denyProjectRun", "Say no to a run's plan", auth.ApproveRun, auth.CancelRun)},
	}
}

// maxProjectFile is the largest body that brings a file: its text may take twice as much in JSON.
const maxProjectFile = 24 << 20

// makes is of what makes a run.
func (h projectHandlers) makes(id, summary string) operation {
	return op(id, summary).with(idempotencyOf()).needs(auth.PlanRun, auth.ApplyRun).
		fails(fault.RunInProgress, fault.RunsOff, fault.RunInvalid, fault.RunNotFound, fault.RunsFull,
			fault.SnapshotNotFound, fault.IdempotencyInvalid, fault.IdempotencyMismatch, fault.StoreFull, fault.QuotaExceeded,
			fault.ToolUnavailable, fault.PoolNotFound, fault.PoolOther, fault.TooManyWaiting)
}
