// Package audit is the record of who did what: one Event for each change that was made,
// and for each that was refused for want of a right. It is kept by the same store and in
// the same transaction as the change itself, so that neither is there without the other.
package audit

import (
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Action is what somebody did, or tried to.
type Action string

// The actions.
const (
	StateWrite      Action = "state.write"       // a version was accepted
	StateImport     Action = "state.import"      // a version that was kept elsewhere was accepted, with its own time
	StateRollback   Action = "state.rollback"    // a version with the content of an older one
	StateDelete     Action = "state.delete"      // the state was taken away
	StateUndelete   Action = "state.undelete"    // and brought back
	StateRewind     Action = "state.rewind"      // the store has lost a change that was acknowledged; Note says which
	StateExpire     Action = "state.expire"      // a deleted state's grace period ended
	VersionPurge    Action = "version.purge"     // a version's bytes were destroyed
	VersionsPrune   Action = "versions.prune"    // retention removed old versions
	LockTake        Action = "lock.take"         // also after a takeover
	LockRelease     Action = "lock.release"      // by who held it
	LockForce       Action = "lock.force"        // by somebody else
	LockTakeOver    Action = "lock.takeover"     // the old holder gave no sign of life
	CandidateHold   Action = "candidate.hold"    // a guard kept a write back
	CandidateFence  Action = "candidate.fence"   // a run wrote that may not, or not any more
	CandidatePush   Action = "candidate.push"    // somebody brought one, such as errored.tfstate
	CandidateAccept Action = "candidate.promote" // it became a version
	CandidateDrop   Action = "candidate.discard" // it will not become one
	ExpectSet       Action = "expect.set"        // somebody announced a change; Note says what, and until when
	ExpectUse       Action = "expect.use"        // a write did what was announced; Note has what a guard would have found
	ExpectEnd       Action = "expect.end"        // somebody took the announcement back
	AccessRefused   Action = "access.refused"    // a right was missing; Note names it
	StateRead       Action = "state.read"        // somebody was given the bytes of a state, a version or a candidate
	Upload          Action = "data.upload"       // somebody sent what they have; the records say what
	Unmask          Action = "sensitive.read"    // sensitive values of a diff were shown
	QuotaNear       Action = "quota.near"        // the organization has most of what it may have stored
	RunCreate       Action = "run.create"        // a run was asked for; Note names it, as in the others
	RunApprove      Action = "run.approve"       // somebody said yes to its plan
	RunBreakGlass   Action = "run.break_glass"   // somebody said yes for all, in an emergency; Note says why
	RunDecide       Action = "run.decide"        // a service outside has decided on its plan, or failed to
	RunDeny         Action = "run.deny"          // somebody said no
	RunDiscard      Action = "run.discard"       // its plan is not wanted
	RunCancel       Action = "run.cancel"        // it was told to stop
	RunResolve      Action = "run.resolve"       // an apply whose executor was lost was ended by somebody
	RunWait         Action = "run.wait"          // its plan waits for people; Note names the run and says why
	RunFail         Action = "run.fail"          // it has failed
	RunOrphan       Action = "run.orphan"        // its executor was lost while it applied: somebody has to look
	RunStale        Action = "run.stale"         // its plan, which somebody may have approved, can't be applied any more
	PoolCreate      Action = "pool.create"       // a pool of agents was made; Note names it, as in the others
	PoolRotate      Action = "pool.rotate"       // it has another token
	PoolRemove      Action = "pool.remove"       // it is gone, with its agents
	PoolChange      Action = "pool.change"       // it serves other workspaces
	PoolGrant       Action = "pool.grant"        // it is lent to another organization; Note names that too
	PoolRevoke      Action = "pool.revoke"       // it is lent to that no more
	PoolAccept      Action = "pool.accept"       // another organization's pool executes runs of this one
	AgentRegister   Action = "agent.register"    // an agent made itself known by a pool's token, or was refused
	// somebody signed in to the page; Note names the session, as in the others
	SessionBegin  Action = "session.begin"
	SessionEnd    Action = "session.end"     // signed out, or ended because of what Note says
	SessionEndAll Action = "session.end_all" // signed out everywhere
	LoginFail     Action = "login.fail"      // credentials were refused; Note says how often, and why
	KeyMake       Action = "key.make"        // a key was made; Note names it and its role, as in the others
	KeyRotate     Action = "key.rotate"      // it took the place of another
	KeyRevoke     Action = "key.revoke"      // it was taken away
	// how an organization's states are kept was changed; Note says from what to what
	OrganizationChange Action = "organization.change"
	LayerCreate        Action = "layer.create"  // a layer was made; Note names it, as in the others
	LayerChange        Action = "layer.change"  // it has other settings
	LayerRemove        Action = "layer.remove"  // it is none any more; its workspace and state stay
	LayerSync          Action = "layer.sync"    // somebody has asked for a plan of it
	DriftFind          Action = "drift.find"    // a check has found what nobody expects; Note says what
	DriftHeal          Action = "drift.heal"    // it is as planned again
	DriftExpect        Action = "drift.expect"  // somebody has said that drift is as it should be, or took that back
	PolicyPush         Action = "policy.push"   // a bundle of policies got a version; Note names it, as in the others
	PolicyRemove       Action = "policy.remove" // it is gone
	AuditPrune         Action = "audit.prune"   // retention removed old entries of this log; Note says up to which
	UploadExpire       Action = "upload.expire" // retention removed records of uploads; Note says how many
	NoticeDrop         Action = "notice.drop"   // a notice could not be delivered; Note says which and why
)

// PurgedBefore is the Note of a VersionPurge of a version whose bytes were purged already.
const PurgedBefore = "purged before"

// Actor is who did it, as far as it is known.
type Actor struct {
	KeyID   string    // of the key, or "oidc.<name>", "cert.<name>", "run.<id>"; "holdfast" for the server itself
	KeyName string    // of the key's own section, or what its label calls it; may be empty
	Subject string    // who a token or certificate says it is; may be empty
	Role    auth.Role // at that time
	Address string    // client address without port
	Request string    // request ID
}

// ActorOf returns who a principal is.
func ActorOf(p auth.Principal) Actor {
	return Actor{KeyID: p.KeyID, KeyName: p.KeyName, Subject: p.Subject, Role: p.Role, Address: p.Address,
		Request: p.Request}
}

// Server is the actor of what no caller asked for, such as retention.
func Server() Actor { return Actor{KeyID: "holdfast"} }

// Event is one thing that was done, or refused. It never holds secrets or state content.
type Event struct {
	Sequence uint64    // grows with each event of a store, in the order of commits; 0 until recorded
	At       time.Time // UTC, microseconds; stores never let it go back
	Org      uuid.UUID
	Actor    Actor
	Action   Action
	State    string // the state's name; empty when it is about none
	Version  uint64 // the version it is about; 0 for none
	LockID   string // the lock it is about, or came with; empty for none
	// Refused is why nothing was done; empty when it was done.
	Refused fault.Code
	// Reason is what the caller gave as one.
	Reason string
	// Note says more in words: a guard's findings, a holder who was displaced.
	Note string
}

// Blank returns what a log keeps of an event whose organization was shredded: that there was one,
// and when.
func (e Event) Blank() Event { return Event{Sequence: e.Sequence, At: e.At} }

// IsBlank reports whether nothing is left of the event.
func (e Event) IsBlank() bool { return e == e.Blank() }

// Bytes is about how many it takes in memory.
func (e *Event) Bytes() int64 {
	a := e.Actor
	return int64(eventBytes + len(a.KeyID) + len(a.KeyName) + len(a.Subject) + len(a.Role) + len(a.Address) +
		len(a.Request) +
		len(e.Action) + len(e.State) + len(e.LockID) + len(e.Refused) + len(e.Reason) + len(e.Note))
}

// eventBytes is what an event takes beside its texts.
const eventBytes = 512

// Refusal is the event of a caller who lacks a right, with the code that they were told;
// state is empty when it is about none.
func Refusal(p auth.Principal, right auth.Right, state string, told fault.Code, at time.Time) Event {
	return Event{
		At: at, Org: p.Org, Actor: ActorOf(p), Action: AccessRefused, State: state,
		Refused: told, Note: string(right),
	}
}

// Page is a part of a list of events, newest first.
type Page struct {
	Events []Event
	// Next continues the list, as Query.Before; 0 at its end. A page may have fewer events
	// than its limit, or none, and still be followed by more.
	Next uint64
}

// Query selects an organization's events, newest first. Zero fields select everything.
type Query struct {
	Action Action
	State  string
	KeyID  string
	Since  time.Time // inclusive
	Until  time.Time // exclusive
	Before uint64    // continue below this Sequence; 0 begins with the newest
	Limit  int       // at most so many; above zero
}

// Matches reports whether an event passes the query's filters; it ignores Limit.
func (q Query) Matches(e Event) bool {
	return (q.Action == "" || q.Action == e.Action) &&
		(q.State == "" || q.State == e.State) &&
		(q.KeyID == "" || q.KeyID == e.Actor.KeyID) &&
		(q.Since.IsZero() || !e.At.Before(q.Since)) &&
		(q.Until.IsZero() || e.At.Before(q.Until)) &&
		(q.Before == 0 || e.Sequence < q.Before)
}
