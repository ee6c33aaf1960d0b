package runs

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/runs/plainlog"
)

// Service is the door to runs: every operation names its caller, and touches that caller's
// organization only.
type Service struct {
	Deps
	changed    *watchers
	attendance *attendance
	ended      *ended
	masks      *masks
	tails      *lru.Cache[LogRef, logTail] // the ends of logs that grow
	plain      *plainlog.Lines             // of logs that are shown to who sees no values
	asking     *turns.Turns                // among services outside that are asked
	asked      sync.WaitGroup              // those that are
}

// maxTails is how many ends of logs are remembered; each takes some 100 KiB at most, and what is
// open of it.
const maxTails = 128

// Deps is what a Service stands on.
type Deps struct {
	// Executes reports whether the server itself executes an organization's runs; nil where nobody knows.
	Executes   func(org uuid.UUID) bool
	Store      Store
	Workspaces Workspaces
	States     States
	Seals      Seals
	Tokens     Tokens
	Tools      Tools // nil for what is not known before a run begins
	// Insights says which plans wait for a person by the gates; nil has all wait where there is a gate.
	Insights Insights
	// Deciders are the services outside that organizations have asked; nil for none.
	Deciders Deciders
	// Standing says whose approvals count still; nil for everybody's.
	Standing Standing
	// Callers are the keys of an organization, and the rules that let people in, which are good now; nil where nobody
	// knows them.
	Callers func(org uuid.UUID) []auth.Principal
	// Access is what notices and the audit log go by; nil for auth.AccessFull.
	Access Access
	Gate   *audit.Gate
	Audit  audit.Recorder
	// Deliver puts into the audit log what a Store keeps of events for it; nil where somebody else does.
	Deliver func(ctx context.Context, org uuid.UUID)
	Limits  Limits
	Memory  *budget.Budget // nil for no bound
	// Changed hears of organizations of which a run has changed; nil for nobody. It is quick.
	Changed func(org uuid.UUID)
	// Scarce reports whether the disk of logs and files has its reserve left only; nil for never.
	Scarce func() bool
	Now    func() time.Time
	Log    *slog.Logger
}

// Limits are what an organization may have of runs. Zero fields are the defaults.
type Limits struct {
	Waiting, Working int           // runs
	Stored           int           // runs, with those that ended: the oldest of these make room
	Lease            time.Duration // for how long an executor is believed without a sign of life
	Orphans          time.Duration // for how long a lost apply is waited for; 0 for as long as it takes
	PlanBytes        int64         // the largest plan file
	FileBytes        int64         // the largest other file
	LogBytes         int64         // of a log
	StoredBytes      int64         // of all logs and files: above it, no run begins
	KeepRuns         time.Duration // that ended
}

// withDefaults fills what is not given.
func (l Limits) withDefaults() Limits {
	or := func(n *int64, usual int64) {
		if *n == 0 {
			*n = usual
		}
	}
	if l.Waiting == 0 {
		l.Waiting = 1000
	}
	if l.Working == 0 {
		l.Working = 20
	}
	if l.Stored == 0 {
		l.Stored = 100_000
	}
	if l.Lease == 0 {
		l.Lease = 45 * time.Second
	}
	or(&l.PlanBytes, 64<<20)
	or(&l.FileBytes, 256<<20)
	or(&l.LogBytes, 1<<30)
	or(&l.StoredBytes, 20<<30)
	or((*int64)(&l.KeepRuns), int64(365*24*time.Hour))
	return l
}

// NewService returns a service on what it stands on.
func NewService(d Deps) *Service {
	d.Limits = d.Limits.withDefaults()
	tails, _ := lru.New[LogRef, logTail](maxTails) // it fails for a size below 1
	return &Service{Deps: d, changed: newWatchers(), attendance: &attendance{}, ended: newEnded(), masks: newMasks(),
		tails: tails, plain: plainlog.NewLines(), asking: turns.New(maxAsking, maxOwnAsking)}
}

func (s *Service) clock() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// by is a call of somebody's.
func (s *Service) by(actor Actor) call {
	at := s.clock()
	return call{by: actor, at: at, jitter: 0.5 + rand.Float64(), next: newID(at), standing: s.Standing}
}

// find returns a run that the caller has a right on.
func (s *Service) find(ctx context.Context, p auth.Principal, right auth.Right, id string) (Run, error) {
	if err := s.Gate.Authorize(ctx, p, right); err != nil {
		return Run{}, err
	}
	run, err := s.Store.Run(ctx, Ref{p.Org, id})
	if err != nil {
		return Run{}, err
	}
	if err := s.Gate.AuthorizeFound(ctx, p, right, run.Workspace); err != nil {
		return Run{}, err
	}
	return run, nil
}

// update has a decision carried out, and tells whoever waits for the run, and people what they
// should know.
func (s *Service) update(ctx context.Context, ref Ref, decide Decide) (Run, error) {
	var was Status
	var onRecord bool
	run, err := s.Store.Update(ctx, ref, func(r Run) (Change, error) {
		was = r.Status
		change, err := decide(r)
		onRecord = slices.ContainsFunc(change.Events, func(e Event) bool { return e.Audit != nil })
		return change, err
	})
	if err == nil && onRecord {
		s.deliver(ctx, ref.Org)
	}
	if err == nil {
		s.changed.tell(ref)
		if s.Changed != nil {
			s.Changed(ref.Org)
		}
		if run.Status != was {
			s.changed.tellWork() // it may be claimed, or another one now that it is not at work
		}
		s.ended.note(was, run.Status)
		s.notice(ctx, was, run)
	}
	return run, err
}

func (s *Service) deliver(ctx context.Context, org uuid.UUID) {
	if s.Deliver != nil {
		s.Deliver(ctx, org)
	}
}

// entry is what the audit log has of what somebody did with a run. The run has its own event of it too.
func (s *Service) entry(by audit.Actor, action audit.Action, run Run, reason string) *audit.Event {
	return &audit.Event{At: s.clock(), Org: run.Org, Actor: by, Action: action, State: run.Workspace, Reason: reason,
		Note: "run " + run.ID}
}

// onRecord is a decision with an entry of the audit log, in the same transaction. What changes nothing has none.
func onRecord(e *audit.Event, decide Decide) Decide {
	return func(r Run) (Change, error) {
		change, err := decide(r)
		if n := len(change.Events); err == nil && n > 0 {
			change.Events = slices.Clone(change.Events)
			change.Events[n-1].Audit = e
		}
		return change, err
	}
}

// poolOnRecord makes a change of a pool that is on record.
func (s *Service) poolOnRecord(ctx context.Context, p auth.Principal, action audit.Action, pool string,
	change func() error) error {
	return audit.Before(ctx, s.Audit, audit.Event{At: s.clock(), Org: p.Org, Actor: audit.ActorOf(p), Action: action,
		Note: "pool " + pool}, change)
}

func (s *Service) keep(ctx context.Context, event audit.Event) {
	if err := s.Audit.Record(context.WithoutCancel(ctx), event); err != nil {
		s.Log.ErrorContext(ctx, "an action on a run is not in the audit log", "action", event.Action, "what", event.Note,
			"error", err)
	}
}
