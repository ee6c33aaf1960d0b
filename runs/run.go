package runs

import (
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Ref addresses a run. No operation of a Store ever looks at, or changes, a run of another
// organization than Ref.Org.
type Ref struct {
	Org uuid.UUID
	ID  string
}

// Run is all that is known of a run short of its log and its files. Its JSON is how stores keep
// it.
type Run struct {
	Org       uuid.UUID
	ID        string // a ULID: sorts by time of creation
	Revision  int64  // grows with each change; the store's
	Workspace string // also the state's name
	Kind      Kind
	Status    Status
	Stage     Stage
	Phase     Phase
	// MovedAt is when the run came to its status, stage, phase and attempt; zero on an old record.
	MovedAt time.Time `json:",omitzero"`
	Reason  string    // why it is where it is, for people

	// Elsewhere says that somebody makes the run on a machine of theirs: what is here is the record of it.
	Elsewhere bool `json:",omitempty"`
	Order     Order
	Trigger   Actor
	RetryOf   string
	// Follows is the run that this one was made behind, by the server itself.
	Follows string
	// Tries are the runs before this one that the server has tried the same by.
	Tries int
	// Pool is the agents' that may run it; empty for the server's own executor.
	Pool     string
	Priority Priority
	// Terms are the workspace's settings that the run began with.
	Terms Terms

	Attempt   int       // from 1
	NotBefore time.Time // of a claim
	Base      Base      // what the plan is made on
	Pin       *api.Pin
	// Planned is the attempt that made the plan: an apply that is tried again has another one,
	// and the plan's files.
	Planned int
	Counts  *api.RunCounts
	// Removes is how many managed instances the plan takes out of the state, those that it replaces too.
	Removes   int `json:",omitempty"`
	Stale     *api.Stale
	Approvals []api.Approval
	// Gates is why the plan waits for somebody who may approve, by the workspace's gates.
	Gates []api.GateReason `json:",omitempty"`
	// Confirm is why the plan waits for somebody who may apply though nobody would be asked; empty for nothing.
	Confirm string `json:",omitempty"`
	// Outside is how far a service outside has decided on the plan; nil where none is asked.
	Outside *Outside `json:",omitempty"`
	// Earlier are approvals of a plan before: they count again if the changes are equal.
	Earlier *Earlier
	// Follow is what the server makes behind this run by itself, now that it has ended.
	Follow *Follow
	// GaveUp says that the run failed in the last attempt: nothing is tried by itself from then on.
	GaveUp bool
	// GiveUpAt is when an apply whose executor was lost is waited for no more; zero for never.
	GiveUpAt time.Time
	Cancel   *api.Cancel

	Executor    *Executor // who has it, or had it last
	Epoch       int64     // of the executor; grows when one is given up
	LeaseUntil  time.Time // zero while nobody has it
	ExitCode    *int
	After       uint64 // the state's version that the apply left behind
	Touched     bool   // the tool's apply was begun: what it did is in question when it is lost
	InFlight    []api.InFlight
	Diagnostics []api.Diagnostic
	Phases      []api.PhaseTime
	Reports     []string // phases that were reported, as stage/attempt/phase: a repeated report finds itself

	CreatedAt, StartedAt, PlannedAt, DecidedAt, AppliedAt, FinishedAt time.Time
	// Stripped says that the files of a run that ended are gone.
	Stripped bool
	// LogBytes are those kept of its logs, over all streams.
	LogBytes int64
}

// Ref returns the run's address.
func (r Run) Ref() Ref { return Ref{r.Org, r.ID} }

// Holds reports whether the run has its workspace's slot: only one run that mutates has, from
// its first claim to its end. A run elsewhere has only a record here, and keeps nobody out.
func (r Run) Holds() bool {
	return r.Kind.Mutates() && r.Status != Pending && !r.Status.Ended() && !r.Elsewhere
}

// InTheWay reports whether the run keeps others from being made that are to be alone in its workspace. What
// only looks for drift, which the server does by itself, keeps nobody.
func (r Run) InTheWay() bool { return !r.Status.Ended() && r.Kind != Drift && !r.Elsewhere }

// RefreshOnly reports whether the run's plan takes over into the state what there is, and changes nothing else.
func (r Run) RefreshOnly() bool { return r.Kind == Refresh || r.Kind == Drift && !r.Order.Whole }

// Drifted reports whether a run that looked for drift has found some. What a whole plan would change is no drift, nor
// are outputs that the state lacks: no resource was changed outside.
func (r Run) Drifted() bool {
	return r.Counts != nil && (r.Counts.Drift > 0 || r.RefreshOnly() && changesResources(*r.Counts))
}

// EndsDrift reports whether nothing that was changed outside before the run is left: it has taken all of it over, or
// has undone it.
func (r Run) EndsDrift() bool {
	return r.Status == Succeeded && r.Kind.Mutates() && len(r.Order.Targets) == 0 && !r.Order.NoRefresh && !r.Elsewhere
}

// changesResources reports whether a plan does more than change outputs.
func changesResources(c api.RunCounts) bool {
	return c.Add+c.Change+c.Destroy+c.Import+c.Forget+c.Move > 0
}

// InProgress is the fault of a run that is to be alone where this one goes on.
func (r Run) InProgress() error {
	f := fault.New(fault.RunInProgress, "A run is already in progress for this project")
	f.Details = []fault.Detail{{Pointer: "run", Rule: r.ID}, {Pointer: "status", Rule: string(r.Status)}}
	return f
}

// Due is when somebody must look at the run again though nobody asks; zero for never.
func (r Run) Due() time.Time {
	switch {
	case r.Status.Leased():
		return r.LeaseUntil
	case r.Status.Ended() && r.Follow != nil && !r.Follow.Done:
		return r.FinishedAt
	case r.Status.Ended() && !r.Stripped:
		return after(r.FinishedAt, r.Terms.KeepFiles)
	case r.Status == Orphaned:
		return r.GiveUpAt
	case r.Status == AwaitingApproval && r.Outside.isAsked():
		return sooner(r.expiry(), r.Outside.Next)
	}
	return r.expiry()
}

// expiry is when a plan that waits counts no more; zero for never.
func (r Run) expiry() time.Time {
	switch r.Status {
	case AwaitingApproval:
		return after(r.PlannedAt, r.Terms.PlanTTL)
	case Confirmed:
		return sooner(after(r.PlannedAt, r.Terms.PlanTTL), after(r.DecidedAt, r.Terms.ApprovalTTL))
	}
	return time.Time{}
}

// expired reports whether a plan that waits counts no more.
func (r Run) expired(now time.Time) bool {
	at := r.expiry()
	return !at.IsZero() && !at.After(now)
}

// after is the end of a time to live that began then; zero without one.
func after(begin time.Time, ttl time.Duration) time.Time {
	if begin.IsZero() || ttl <= 0 {
		return time.Time{}
	}
	return begin.Add(ttl)
}

// sooner is the earlier of two times, of which a zero one is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Order is what somebody asked for.
type Order struct {
	Snapshot         string
	Message          string
	Targets, Replace []string
	NoRefresh        bool
	AutoApprove      bool
	Reconcile        string `json:",omitempty"` // a UUID
	// PlanRun is the run of kind plan that whoever asked has seen before; empty for none.
	PlanRun string `json:",omitempty"`
	// Wait has the plan wait for a person in any case; Most is how many resources it may change without one, 0 for any
	// number. They are of runs that the server makes by itself.
	Wait bool `json:",omitempty"`
	Most int  `json:",omitempty"`
	// Whole has a run of kind Drift plan everything, where others only refresh: it finds changed data sources too.
	Whole bool `json:",omitempty"`
	// Pull is the pull request that the run was made for; nil for none.
	Pull *PullOrder `json:",omitempty"`
	// Alone has the run made only where no other run of its workspace goes on.
	Alone bool `json:"-"`
}

// PullOrder is what a run of a pull request has beside others.
type PullOrder struct {
	Repository string
	Number     int64
	Commit     string
	// Withhold keeps the sensitive variables and the outputs of other states from the run: what it executes is somebody
	// else's.
	Withhold bool `json:",omitempty"`
}

// Terms are what a workspace wants of its runs, as they were when the run was made.
type Terms struct {
	Revision    int64 // of the workspace's settings and variables
	Tool        string
	Version     string // constraint
	Directory   string
	Parallelism int
	Timeout     map[Stage]time.Duration
	Grace       map[Stage]time.Duration
	Outputs     []string
	Reads       []string `json:",omitempty"` // patterns of the states whose outputs it may read
	AutoApply   string   // never, no-changes or always
	Approvals   int
	AllowAuthor bool          // may approve, too
	Carry       bool          // approvals carry over to equal changes
	PlanTTL     time.Duration // how long a plan may be applied
	ApprovalTTL time.Duration // how long an approval counts
	MinSandbox  string
	MaxLogBytes int64
	MaxAttempts int
	KeepFiles   time.Duration // of the run, when it has ended
	Gates       Gates         `json:",omitzero"`
	// ApprovalsFor is how many approvals a plan needs that is held, by what holds it.
	ApprovalsFor map[string]int `json:",omitempty"`
	Approvers    Approvers      `json:",omitempty"`
}

// Base is the state's version that a plan is made on.
type Base struct {
	Version uint64 // 0 for a state that was absent
	Lineage string
	Serial  uint64
	Digest  string // SHA-256, hexadecimal
	// Resources is how many managed instances it has; below zero where that is not known.
	Resources int `json:",omitempty"`
	// By is who wrote it, where that was asked for.
	By *api.Actor `json:"-"`
}

// Actor is who did something to a run.
type Actor struct {
	KeyID, KeyName, Subject string
	Role                    auth.Role
	Request                 string
}

// ActorOf returns who a principal is.
func ActorOf(p auth.Principal) Actor {
	return Actor{p.KeyID, p.KeyName, p.Subject, p.Role, p.Request}
}

// Server is the actor of what nobody asked for.
func Server() Actor { return Actor{KeyID: audit.Server().KeyID} }

// Is reports whether two are the same person or machine.
func (a Actor) Is(b Actor) bool {
	return a.KeyID == b.KeyID && a.Subject == b.Subject
}

// Wire is the actor in an answer.
func (a Actor) Wire() api.Actor {
	return api.Actor{KeyID: a.KeyID, KeyName: a.KeyName, Subject: a.Subject}
}

// Executor is who has a run, and the evidence that it gave of its command.
type Executor struct {
	Agent, Name string
	ClaimKey    string    // of the call by which it got the run
	Since       time.Time // when that was; zero on an old record
	Seen        time.Time
	BootID      string
	PID         int
	StartTime   uint64
	// LogFrom is where, in the log of the stage and attempt, its own part of it begins: behind what
	// executors before have written, whose try of the same attempt ended without using that up.
	LogFrom int64
	Sandbox *api.Sandbox
	Tool    *api.Tool // that it planned with
}

// Earlier are the approvals of a plan that is not to be applied any more.
type Earlier struct {
	Run       string
	Changes   string // digest of that plan's changes
	Approvals []api.Approval
	// Revision is of the workspace's settings and variables that it was made with.
	Revision int64
	// Planned is the attempt that made that plan, where it was applied in part. What this run
	// changes is approved then as far as that plan changes it too. 0 where nothing was applied.
	Planned int
	// Gates are those that held that plan.
	Gates []string `json:",omitempty"`
	// Confirmed says that a yes to that plan took nobody who may approve.
	Confirmed bool `json:",omitempty"`
}

// Follow is a run that is made behind another one.
type Follow struct {
	ID        string
	Kind      Kind // Drift, or the same again
	NotBefore time.Time
	Done      bool // it was made, or can't be
}

// Event is one thing that happened to a run.
type Event struct {
	Sequence int64 // from 1 within a run; the store's
	At       time.Time
	Type     EventType
	From, To Status
	Epoch    int64
	By       Actor
	Note     string
	// Audit is what the audit log is to have of it; nil for nothing. A Store keeps it beside, in the same
	// transaction, until it is delivered, and returns no event with it.
	Audit *audit.Event `json:"-"`
}

// EventType is what happened.
type EventType string

// The types of events.
const (
	EventCreated   EventType = "created"
	EventClaimed   EventType = "claimed"
	EventPhase     EventType = "phase" // one began or ended
	EventPlanned   EventType = "planned"
	EventApproved  EventType = "approved"
	EventDenied    EventType = "denied"
	EventConfirmed EventType = "confirmed"
	EventReopened  EventType = "reopened" // it takes people again, as those who had confirmed it may not any more
	EventStale     EventType = "stale"
	EventCancel    EventType = "cancel"
	EventLost      EventType = "lost"
	EventResumed   EventType = "resumed"
	EventResolved  EventType = "resolved"
	EventRetry     EventType = "retry"
	EventEnded     EventType = "ended"
)

// Change is what a decision wants recorded.
type Change struct {
	Run    Run // the whole run as it is to be
	Events []Event
}

// Decide looks at a run and says what becomes of it. It has no effects of its own: a Store may
// call it more than once, and only the last call counts. A Change without events changes
// nothing but the run; with an unchanged run and no events nothing is recorded.
type Decide func(Run) (Change, error)
