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

// routeWorkspaces routes what is about workspaces; see routedPath.
func routeWorkspaces(at section, w workspaces, guard *middleware.Guard) {
	all := at.under("", guard.States(nil)).tagged(tagWorkspaces, fault.SealCorrupt, fault.SealKeyMissing)
	none, variables := middleware.Admit(0), middleware.Admit(maxVariablesBytes)
	all.route("GET", "/workspaces",
		reads("listWorkspaces", "The organization's workspaces, by name").with(pageOf()...).gives(api.Workspaces{}).
			fails(fault.CursorInvalid), w.list, none)
	all.route("POST", "/workspaces",
		writes("createWorkspace", "Make a workspace").takes(api.WorkspaceChange{}).gives(api.Workspace{}).
			fails(fault.NameInvalid, fault.WorkspaceExists, fault.WorkspacesFull), w.create, middleware.Admit(maxOrderBytes))
	all.route("GET", "/variables",
		reads("listSharedVariables", "The variables that all workspaces get").gives(api.Variables{}),
		w.ofOrganization(w.variables), none)
	all.route("POST", "/variables", setsVariables("setSharedVariables", "Change the variables that all workspaces get"),
		w.ofOrganization(w.setVariables), variables)
	all.route("POST", "/format",
		reads("formatText", "A text as the tools' own fmt writes it").takes(api.FormatOrder{}).gives(api.Formatted{}).
			fails(fault.FormatInvalid, fault.WorkspaceInvalid, fault.BodyTooLarge), w.format, middleware.Admit(maxFormatBody))
	all.route("GET", "/tools", reads("listTools", "The versions of tools that the server itself can plan with").
		gives(api.Tools{}), w.showTools, none)
	one := all.under("/workspaces/:name").tagged(tagWorkspaces, fault.WorkspaceNotFound)
	for _, r := range w.routes() {
		one.route(r.method, r.path, r.about, w.named(r.serve), r.admit)
	}
}

// workspaceRoute is an address of what is about one workspace.
type workspaceRoute struct {
	method, path string
	admit        gin.HandlerFunc
	serve        workspaceHandler
	about        operation
}

func reads(id, summary string) operation { return op(id, summary).needs(auth.ReadWorkspace) }

// writes is of what changes a workspace.
func writes(id, summary string) operation {
	return op(id, summary).needs(auth.WriteWorkspace).fails(fault.WorkspaceInvalid, fault.StoreFull, fault.QuotaExceeded)
}

func setsVariables(id, summary string) operation {
	return writes(id, summary).takes(api.VariablesChange{}).gives(api.Done{}).fails(fault.VariableInvalid,
		fault.VariableRefused, fault.VariableHCL, fault.VariablesFull)
}

// bringsFiles is of what makes a snapshot.
func bringsFiles(id, summary string) operation {
	return writes(id, summary).gives(api.Snapshot{}).fails(fault.SnapshotMoved, fault.FilePathInvalid, fault.FileNotText,
		fault.FileTooLarge, fault.FilesTooMany, fault.FilesTooLarge, fault.FileTwice)
}

func (w workspaces) routes() []workspaceRoute {
	none, order, snapshot := middleware.Admit(0), middleware.Admit(maxOrderBytes), middleware.Admit(maxSnapshotBytes)
	which := textOf("snapshot", "The snapshot's number or ID; else the newest.")
	parent := countOf("parent",
		"The number of the snapshot that this builds on, 0 for none: nothing is stored if another is the newest by now.")
	edits := []openapi.Parameter{parent,
		flagOf("draft", "Have the next change of the same author within a minute take this one's place."),
		headerOf("If-Match", "The ETag of the file as it must be."), headerOf("If-None-Match", "`*` if there must be none.")}
	changed := []fault.Code{fault.FileChanged, fault.ConditionInvalid}
	tag := openapi.Of("string").With("contentMediaType", mediaBytes)
	return []workspaceRoute{
		{"GET", "", none, w.get,
			reads("getWorkspace", "A workspace's settings, its revision and its newest configuration").gives(api.Workspace{})},
		{"PATCH", "", order, w.change,
			writes("changeWorkspace",
				"Change the settings that the body names").takes(api.WorkspaceChange{}).gives(api.Workspace{})},
		{"DELETE", "", none, w.delete,
			writes("deleteWorkspace",
				"Take a workspace away with its variables and configurations, but not its state").gives(api.Done{}).
				fails(fault.WorkspaceInUse)},
		{"GET", "/-/variables", none, w.variables,
			reads("listVariables", "The workspace's own variables, and the organization's").gives(api.Variables{})},
		{"POST", "/-/variables", middleware.Admit(maxVariablesBytes), w.setVariables,
			setsVariables("setVariables", "Change the workspace's own variables")},
		{"GET", "/-/snapshots", none, w.snapshots,
			reads("listSnapshots", "The configurations that the workspace has had, the newest first").with(pageOf()...).
				gives(api.Snapshots{}).fails(fault.CursorInvalid)},
		{"POST", "/-/snapshots", snapshot, w.push,
			bringsFiles("createSnapshot",
				"Make a snapshot of files whose contents are there").takes(api.SnapshotOrder{}).fails(fault.FilesMissing)},
		{"GET", "/-/snapshots/:snapshot", none, w.snapshot,
			reads("getSnapshot", "A snapshot with its files").gives(api.SnapshotFiles{}).fails(fault.SnapshotNotFound)},
		{"GET", "/-/snapshots/:snapshot/archive", none, w.archive,
			reads("getArchive", "A snapshot's files as a tar archive").givesBytes(mediaTar).headed("X-Holdfast-Snapshot").
				fails(fault.SnapshotNotFound)},
		{"GET", "/-/snapshots/:snapshot/diff", none, w.diff, reads("diffSnapshot", "How a snapshot differs from another one").
			with(textOf("from", "That other one's number or ID; else the one before."),
				choiceOf("format", "JSON, or line by line.", "json", "text")).
			gives(api.SnapshotDiff{}).answers(http.StatusOK, openapi.Content{Media: mediaText}).fails(fault.SnapshotNotFound)},
		{"POST", "/-/archive", middleware.Streamed(), w.pushArchive,
			bringsFiles("pushArchive", "Make a snapshot of a tar.gz").with(textOf("message", "Why, for people."), parent).
				takesBytes("application/gzip", tag).fails(fault.ArchiveInvalid, fault.ArchiveEntry, fault.ArchiveBomb)},
		{"PUT", "/-/contents/:digest", middleware.Streamed(), w.putContent,
			writes("putContent", "Bring a file's content, for a snapshot that is to be made").
				takesBytes(mediaBytes, tag).gives(api.Done{}).fails(fault.FileTooLarge, fault.FilesTooLarge)},
		{"GET", "/-/checksums", none, w.checksums,
			reads("getChecksums", "The SHA-256 of each file, by path").with(which).gives(api.FileChecksums{}).
				fails(fault.SnapshotNotFound)},
		{"POST", "/-/checksums", snapshot, w.missing,
			writes("findMissingContents", "Which contents are to be sent").takes(api.Checksums{}).gives(api.MissingContents{})},
		{"GET", "/-/files", none, w.files,
			reads("listFiles", "A snapshot with its files").with(which).gives(api.SnapshotFiles{}).
				fails(fault.SnapshotNotFound)},
		{"GET", "/-/files/:path", none, w.file,
			reads("getFile", "A file's exact bytes").with(which).givesBytes(mediaBytes).headed("ETag").
				fails(fault.SnapshotNotFound, fault.FileNotFound, fault.FilePathInvalid)},
		{"PUT", "/-/files/:path", middleware.Streamed(), w.putFile,
			bringsFiles("putFile", "Make a snapshot with another file of this path").
				with(flagOf("executable", "Whether the file may be executed; as it was without it.")).with(edits...).takesBytes(mediaBytes,
				tag).headed("ETag").fails(changed...)},
		{"DELETE", "/-/files/:path", none, w.removeFile,
			bringsFiles("removeFile",
				"Make a snapshot without this file").with(edits...).fails(changed...).fails(fault.FileNotFound,
				fault.SnapshotNotFound)},
		{"POST", "/-/move", order, w.moveFile,
			bringsFiles("moveFile", "Make a snapshot in which a file has another path").takes(api.FileMove{}).with(edits...).
				fails(changed...).
				fails(fault.FileNotFound, fault.SnapshotNotFound)},
		{"POST", "/-/pull", snapshot, w.pull,
			reads("pullFiles", "Files with their contents").takes(api.PullOrder{}).gives(api.PulledFiles{}).
				fails(fault.WorkspaceInvalid, fault.SnapshotNotFound, fault.FileNotFound, fault.FilesTooLarge)},
	}
}
