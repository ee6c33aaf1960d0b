package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/openapi"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
)

// stateRoute is an address of what is about one state.
type stateRoute struct {
	method, path string     // behind the state's address
	claim        claimed    // where it says which lock it holds; nil for nowhere
	body         int64      // bytes that it may have; 0 for none
	needs        auth.Right // without which nobody is let in with a body; empty for none
	serve        stateHandler
	about        operation
}

// route serves what is about one state, in one spelling.
func (s states) route(at section, limit func(middleware.Claim) gin.HandlerFunc, routes []stateRoute) {
	for _, r := range routes {
		r.about.ID += s.spelling.suffix()
		chain := gin.HandlersChain{limit(s.claim(r.about, r.claim))}
		if r.needs != "" {
			chain = append(chain, s.permitted(r.needs))
		}
		at.route(r.method, r.path, r.about, s.named(r.serve), append(chain, middleware.Admit(r.body))...)
	}
}

// operations is what each operation of a client begins and ends with, in each spelling's own way.
// Clients lock with LOCK and UNLOCK on the state's own address, or with what their lock_address and
// lock_method say.
func (s states) operations() []stateRoute {
	routes := []stateRoute{{"GET", "", nil, 0, "", s.get, s.aboutGet()}}
	lock, unlock := aboutLock(), aboutUnlock()
	if s.spelling.verbs {
		routes = append(routes, stateRoute{"LOCK", "", nil, maxLockInfoBytes, "", s.lock, lock.called("lockByVerb")},
			stateRoute{"UNLOCK", "", inUnlock, maxLockInfoBytes, "", s.unlock, unlock.called("unlockByVerb")})
	}
	if at := s.spelling.lock; at != "" {
		routes = append(routes, stateRoute{"POST", at, nil, maxLockInfoBytes, "", s.lock, lock},
			stateRoute{"DELETE", at, inUnlock, maxLockInfoBytes, "", s.unlock, unlock})
		if s.spelling.puts {
			routes = append(routes, stateRoute{"PUT", at, nil, maxLockInfoBytes, "", s.lock, lock.called("lockByPut")})
		}
	}
	return routes
}

func (s states) aboutGet() operation {
	o := op("getState", "The exact bytes of a state, as they were written last").
		with(choiceOf("view", "A part of it: the outputs and no resources, which needs `state:outputs`, or all of it with "+
			"sensitive values masked.", "", string(state.OutputsView), string(state.RedactedView)),
			numberOf("version", "Another version than the newest."),
			headerOf("If-None-Match", "Tags of what the caller has: the answer is 304 if that is the newest.")).
		givesState().givesNothing(http.StatusNotModified).headed("ETag", "X-Holdfast-Version", "X-Holdfast-Serial").
		needs(auth.ReadState, auth.ReadOutputs, auth.ReadPinned).anyOther().
		fails(fault.VersionPurged, fault.PinGone, fault.StateCorrupt, fault.StateEncrypted, fault.StateUnsupported)
	if s.spelling.absent == http.StatusNotFound {
		return o.fails(fault.StateNotFound)
	}
	return o.givesNothing(s.spelling.absent)
}

func aboutLock() operation {
	return op("lock", "Acquire the lock; again for the same ID and `Who`").takes(api.LockInfo{}).lenient().
		gives(api.LockInfo{}).
		headed("ETag", "X-Holdfast-Version", "X-Holdfast-Serial", "X-Holdfast-Quota").needs(auth.LockState).anyOther().
		fails(fault.LockInvalid, fault.LockHeld, fault.LockIDUsed, fault.RunFenced, fault.StoreFull, fault.QuotaExceeded)
}

func aboutUnlock() operation {
	o := op("unlock", "Release the lock that the ID in the body or the query holds; with neither, whatever is held").
		with(lockIDOf()).takes(api.LockInfo{}).lenient().gives(api.Done{}).needs(auth.LockState, auth.ForceUnlock).anyOther().
		fails(fault.LockInvalid, fault.LockMismatch, fault.RunFenced, fault.StateNotFound)
	o.Body.Required = false
	return o
}

// writes are in all spellings, as operations are; serials where the other server has them.
func (s states) writes() []stateRoute {
	write := s.aboutWrite()
	routes := []stateRoute{
		{"POST", "", inQuery, s.maxBytes, auth.WriteState, s.put, write},
		{"DELETE", "", inQuery, 0, "", s.delete, s.aboutDelete()},
	}
	if s.spelling.puts {
		routes = append(routes, stateRoute{"PUT", "", inQuery, s.maxBytes, auth.WriteState, s.put,
			write.called("storeStateByPut")})
	}
	if s.spelling.serials {
		routes = append(routes,
			stateRoute{"GET", "/versions/:serial", nil, 0, "", s.serial,
				op("getSerial", "The exact bytes of the newest version with a serial").
					givesState().givesNothing(http.StatusNotModified).headed("ETag", "X-Holdfast-Version",
					"X-Holdfast-Serial").needs(auth.ReadState).anyOther().
					fails(fault.VersionNotFound, fault.StateNotFound, fault.VersionPurged, fault.SerialTooOld, fault.StateCorrupt)},
			stateRoute{"DELETE", "/versions/:serial", nil, 0, "", s.purgeSerial, s.aboutPurgeSerial()})
	}
	return routes
}

func (s states) aboutWrite() operation {
	return op("storeState", "Store the body as the state's next version").
		with(lockIDOf(), flagOf("unlock", "Release the lock with the write."),
			flagOf("restore_purged", "Store also bytes that were purged.")).with(conditionsOf()...).
		with(headerOf("Content-MD5", "The body's MD5 in base64, which is checked.")).
		takesBytes(mediaJSON, stateSchema()).givesAs(s.spelling.stored, api.Stored{}).
		headed("ETag", "X-Holdfast-Version", "X-Holdfast-Serial", "X-Holdfast-Warning",
			"X-Holdfast-Quota").needs(auth.WriteState).anyOther().
		fails(fault.StateInvalid, fault.LockHeld, fault.LockNotHeld, fault.LockRequired, fault.BytesPurged, fault.WriteHeld,
			fault.CandidatesFull,
			fault.ConditionInvalid, fault.ConditionFailed, fault.RunFenced, fault.StoreFull, fault.QuotaExceeded)
}

func (s states) aboutDelete() operation {
	o := op("deleteState", "Take a state away; its versions stay for a time, and it can be brought back").
		with(lockIDOf(), flagOf("unlock", "Means nothing here; clients send it.")).with(conditionsOf()...).
		gives(api.Done{}).needs(auth.WriteState).anyOther().
		fails(fault.LockHeld, fault.LockNotHeld, fault.LockRequired, fault.WriteHeld, fault.ConditionInvalid,
			fault.ConditionFailed, fault.RunFenced, fault.StoreFull, fault.QuotaExceeded)
	if s.spelling.removed == http.StatusNotFound {
		return o.fails(fault.StateNotFound)
	}
	return o
}

func (s states) aboutPurgeSerial() operation {
	o := op("purgeSerial", "Destroy the bytes of the newest version with a serial").givesNothing(http.StatusNoContent).
		needs(auth.PurgeVersions).anyOther().
		fails(fault.VersionNotFound, fault.StateNotFound, fault.SerialTooOld)
	if s.spelling.keepsNewest {
		return o.fails(fault.NewestKept)
	}
	return o
}

// history is what is known of a state beyond its newest bytes.
func (s states) history() []stateRoute {
	bytes := func(id, summary string) operation {
		return op(id, summary).givesState().headed("ETag", "X-Holdfast-Version",
			"X-Holdfast-Serial").needs(auth.ReadState).anyOther().
			fails(fault.StateNotFound, fault.VersionPurged, fault.StateCorrupt)
	}
	diff := func(id, summary string) operation {
		return op(id, summary).with(diffOf()...).gives(api.Diff{}).answers(http.StatusOK,
			openapi.Content{Media: mediaText}).needs(auth.ReadState).
			fails(fault.StateNotFound, fault.VersionPurged, fault.StateEncrypted, fault.StateUnsupported, fault.StateCorrupt)
	}
	order := func(id, summary string) operation {
		return op(id, summary).mayTake(api.Order{}).anyOther().fails(fault.ReasonMissing, fault.StateNotFound)
	}
	changes := []fault.Code{fault.LockHeld, fault.LockNotHeld, fault.LockRequired, fault.BytesPurged, fault.VersionPurged,
		fault.StoreFull, fault.QuotaExceeded, fault.RunFenced}
	return []stateRoute{
		{"GET", "/-/lock", nil, 0, "", s.holder,
			op("getLock", "Who holds the lock; an object without members for nobody").gives(api.LockInfo{}).
				needs(auth.ReadMetadata).anyOther()},
		{"POST", "/-/lock/release", inQuery, maxOrderBytes, "", s.release,
			order("releaseLock", "Release somebody else's lock").with(lockIDOf()).gives(api.Released{}).needs(auth.ForceUnlock).
				fails(fault.LockMismatch, fault.RunFenced)},
		{"POST", "/-/undelete", inQuery, 0, "", s.undelete,
			op("undeleteState", "Bring a deleted state back").with(lockIDOf()).gives(api.Version{}).needs(auth.WriteState).
				anyOther().
				fails(fault.StateNotFound, fault.StateExists, fault.LockHeld, fault.StoreFull, fault.QuotaExceeded)},
		{"GET", "/-/expect", nil, 0, "", s.expected,
			op("getExpectation", "Which change of the state is expected").gives(api.Expected{}).needs(auth.ReadMetadata).
				anyOther().fails(fault.StateNotFound)},
		{"POST", "/-/expect", nil, maxOrderBytes, "", s.expect,
			op("expect", "Announce a change, so that no guard holds it").takes(api.Expect{}).gives(api.Expected{}).
				needs(auth.ExpectChange).fails(fault.StateNotFound, fault.ReasonMissing, fault.StoreFull)},
		{"DELETE", "/-/expect", nil, 0, "", s.unexpect,
			op("unexpect", "Take back what was announced, and say what it was").with(reasonOf()).gives(api.Expected{}).
				needs(auth.ExpectChange).fails(fault.StateNotFound, fault.ReasonMissing)},
		{"POST", "/-/import", inQuery, s.maxBytes, auth.ImportState, s.bring,
			op("importVersion", "Store a version that was kept elsewhere, with the time that it had there").
				with(required(timeOf("time", "When the version was written where it comes from.")),
					numberOf("after", "The version that it comes behind; absent for a state's first."),
					required(textOf("source", "Where it comes from, in 1 to 1,000 characters; it is recorded.")), lockIDOf()).
				takesBytes(mediaJSON, stateSchema()).gives(api.Version{}).needs(auth.ImportState).
				fails(append(changes, fault.StateInvalid, fault.ReasonMissing, fault.ImportTooOld, fault.CandidateStale)...)},
		{"GET", "/-/versions", nil, 0, "", s.versions,
			op("listVersions", "What describes the state's versions, the newest first").
				with(pageBefore("The versions before this one.")...).gives(api.Versions{}).needs(auth.ReadMetadata).
				fails(fault.StateNotFound)},
		{"GET", "/-/versions/:version", nil, 0, "", s.version,
			bytes("getVersion", "The exact bytes of one version").givesNothing(http.StatusNotModified).
				with(headerOf("If-None-Match", "Tags of what the caller has.")).fails(fault.VersionNotFound)},
		{"DELETE", "/-/versions/:version", nil, 0, "", s.purge,
			op("purgeVersion", "Destroy the bytes of one version").with(required(reasonOf()),
				flagOf("copies", "Destroy them in all versions that have them.")).
				gives(api.Purged{}).needs(auth.PurgeVersions).fails(fault.StateNotFound, fault.VersionNotFound,
				fault.ReasonMissing)},
		{"POST", "/-/versions/:version/rollback", inOrder, maxOrderBytes, "", s.rollback,
			order("rollback", "Make an older version's content the newest version").with(conditionsOf()...).
				gives(api.Version{}).needs(auth.WriteState).
				fails(append(changes, fault.VersionNotFound, fault.ConditionFailed, fault.ConditionInvalid)...)},
		{"GET", "/-/versions/:version/diff", nil, 0, "", s.diff,
			diff("diffVersion", "How a version differs from an older one").with(numberOf("against",
				"That older one; else the one before.")).fails(fault.VersionNotFound)},
		{"GET", "/-/outputs", nil, 0, "", s.outputs,
			op("getOutputs", "The outputs of the newest version").with(flagOf("sensitive",
				"Show sensitive ones too.")).gives(api.Outputs{}).headed("X-Holdfast-Version", "X-Holdfast-Serial").
				needs(auth.ReadOutputs).fails(fault.StateNotFound, fault.StateEncrypted, fault.StateUnsupported,
				fault.VersionPurged)},
		{"GET", "/-/outputs/:key", nil, 0, "", s.output,
			op("getOutput", "One output").with(flagOf("raw",
				"The bare text of a string, or any other value's JSON.")).gives(api.Output{}).answers(http.StatusOK,
				openapi.Content{Media: mediaJSON, Schema: anyJSON()}, openapi.Content{Media: mediaText}).
				headed("X-Holdfast-Version", "X-Holdfast-Serial").needs(auth.ReadOutputs).fails(fault.StateNotFound,
				fault.OutputNotFound, fault.StateEncrypted, fault.StateUnsupported, fault.VersionPurged)},
		{"GET", "/-/graph", nil, 0, "", s.graph,
			op("getGraph", "Which resource of a version needs which").with(numberOf("version", "Else the newest.")).
				gives(api.Graph{}).headed("X-Holdfast-Version", "X-Holdfast-Serial").needs(auth.ReadState).
				fails(fault.StateNotFound, fault.VersionNotFound, fault.VersionPurged, fault.StateEncrypted,
					fault.StateUnsupported, fault.StateCorrupt)},
		{"GET", "/-/candidates", nil, 0, "", s.candidates,
			op("listCandidates", "What was kept back or brought: all open ones, and a page of those that were decided on").
				with(pageOf()...).gives(api.Candidates{}).needs(auth.ReadMetadata).
				fails(fault.StateNotFound, fault.CursorInvalid)},
		{"POST", "/-/candidates", nil, s.maxBytes, auth.WriteState, s.addCandidate,
			op("addCandidate", "Keep the body without making it a version").with(reasonOf()).takesBytes(mediaJSON,
				stateSchema()).givesAs(http.StatusCreated, api.Candidate{}).needs(auth.WriteState).
				fails(fault.StateInvalid, fault.ReasonMissing, fault.BytesPurged, fault.CandidatesFull, fault.StateNotFound,
					fault.StoreFull, fault.QuotaExceeded)},
		{"GET", "/-/candidates/:id", nil, 0, "", s.candidate,
			op("getCandidate", "The exact bytes of an open candidate, or what describes one that was decided on").
				answers(http.StatusOK, openapi.Content{Media: mediaJSON, Schema: stateSchema()},
					openapi.Content{Media: mediaJSON, Type: candidateType()}).needs(auth.ReadState).anyOther().
				fails(fault.StateNotFound, fault.CandidateNotFound, fault.StateCorrupt)},
		{"GET", "/-/candidates/:id/diff", nil, 0, "", s.candidateDiff,
			diff("diffCandidate", "How an open candidate differs from the newest version").fails(fault.CandidateNotFound,
				fault.CandidateSettled)},
		{"POST", "/-/candidates/:id/promote", inOrder, maxOrderBytes, "", s.promote,
			order("promoteCandidate", "Make a candidate the newest version").gives(api.Version{}).needs(auth.WriteState).
				fails(append(changes, fault.CandidateNotFound, fault.CandidateSettled, fault.CandidateStale)...)},
		{"POST", "/-/candidates/:id/discard", inQuery, maxOrderBytes, "", s.discard,
			order("discardCandidate",
				"End a candidate; its bytes go").with(lockIDOf()).gives(api.Done{}).needs(auth.WriteState).
				fails(fault.CandidateNotFound, fault.CandidateSettled, fault.RunFenced)},
	}
}

// routeNative is Holdfast's own spelling, and what others have none for.
func routeNative(at section, s states, guard *middleware.Guard) {
	s.spelling = native()
	at = at.tagged(tagStates, fault.StateCorrupt)
	one := at.under(s.spelling.path)
	s.route(one, guard.Operations, s.operations())
	s.route(one, guard.States, s.writes())
	s.route(one.tagged(tagHistory, fault.RouteUnknown), guard.States, s.history())
	all := at.under("/api/v1", guard.States(nil), middleware.Admit(0)).tagged(tagHistory, fault.CursorInvalid)
	all.route("GET", "/states", op("listStates", "The organization's states, by name").
		with(textOf("prefix", "Only those whose name begins so."),
			textOf("contains", "Only those whose name has this in it, capital letters being as good as small ones."),
			flagOf("direct", "Only those with no `/` behind the prefix."), flagOf("held", "Only those with open candidates."),
			choiceOf("deleted", "Those that are deleted instead, or both.", "false", "true", "any")).
		with(pageOf()...).gives(api.States{}).needs(auth.ReadMetadata), s.list)
	all.route("GET", "/folders", op("listFolders", "How the names of states go on, as folders, with how many are in each").
		with(textOf("prefix", "The folder to look into, with a `/` at its end; empty for the outermost.")).
		with(pageOf()...).gives(api.Folders{}).needs(auth.ReadMetadata), s.folders)
	all.route("GET", "/locks",
		op("listLocks", "The states whose lock is held").with(pageOf()...).gives(api.States{}).needs(auth.ReadMetadata),
		s.locks)
	all.route("GET", "/expectations",
		op("listExpectations", "The states of which a change is expected").with(pageOf()...).gives(api.States{}).
			needs(auth.ReadMetadata), s.expectations)
	all.route("GET", "/audit", op("listEvents", "Who did what, the newest first").
		with(textOf("action", "Only this action, such as `state.write`."), textOf("state", "Only about this state."),
			textOf("key", "Only by the key of this ID."),
			timeOf("since", "At or after this time."), timeOf("until", "Before this time.")).
		with(pageBefore("The events before this sequence number.")...).gives(api.Events{}).needs(auth.ReadAudit), s.events)
	all.route("GET", "/audit/chain", op("verifyChain", "Whether the audit log is as it was written").
		with(textOf("after", "Behind this entry, `SEQUENCE:HASH`: `next` of the answer before."),
			textOf("kept", "An entry that was kept elsewhere, `SEQUENCE:HASH`, which has to be in the chain.")).
		with(pageOf()[0]).
		gives(api.AuditChain{}).needs(auth.ReadAudit), s.chain)
}

// routeDialect is another server's spelling.
func routeDialect(at section, s states, spelling dialect, guard *middleware.Guard) {
	s.spelling = spelling
	at = at.tagged(tagDialects, fault.StateCorrupt)
	at.by, at.statuses, at.also = byAnyKey, spelling.refused, spelling.unnamed
	s.route(at, guard.Operations, s.operations())
	s.route(at, guard.States, s.writes())
}
