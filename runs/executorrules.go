package runs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// claim gives the run's next stage to an executor. base is the state's newest version, and terms
// are the workspace's, as they are now. The same call repeated is given the same again. A plan that is confirmed by
// people who may not say yes any more is not given: it waits for others.
func (c call) claim(by Executor, base Base, terms Terms, lease time.Duration) Decide {
	return func(r Run) (Change, error) {
		switch {
		case r.Status.Leased() && r.has(by):
			return nothing(r)
		case !r.Status.Claimable() || r.NotBefore.After(c.at):
			return Change{}, misplaced(r, "claimed")
		case r.Status == Confirmed && !r.Base.same(base):
			return Change{}, fault.New(fault.RunStale, "the state has changed since the plan was made")
		case r.Status == Confirmed && r.Terms.Revision != terms.Revision:
			return Change{}, fault.New(fault.RunStale,
				"the workspace's settings or variables have changed since the plan was made")
		case r.Status == Confirmed && r.overdue(c.at):
			return Change{}, fault.New(fault.RunStale, "the plan or its approval has waited for longer than it counts")
		}
		if fallen := c.fallen(r); r.Status == Confirmed && len(fallen) > 0 {
			return c.reopen(r, fallen)
		}
		m := c.change(r)
		m.take(by, lease)
		if r.Status == Confirmed {
			m.run.Stage, m.run.AppliedAt = ApplyStage, c.at
			return m.to(Applying, "").because(EventClaimed, "to apply, by "+by.label()).done()
		}
		m.run.Stage, m.run.Base, m.run.Terms = PlanStage, base, terms
		return m.to(Preparing, "").because(EventClaimed, "to plan, by "+by.label()).done()
	}
}

// overdue reports whether the run's Due time has come.
func (r Run) overdue(now time.Time) bool {
	due := r.Due()
	return !due.IsZero() && !due.After(now)
}

// has reports whether this very claim has got the run.
func (r Run) has(by Executor) bool {
	return r.Executor != nil && r.Executor.Agent == by.Agent && r.Executor.ClaimKey == by.ClaimKey
}

// same reports whether two are the same version of the state.
func (b Base) same(other Base) bool { return b.Version == other.Version && b.Digest == other.Digest }

func (e Executor) label() string {
	if e.Name == "" {
		return e.Agent
	}
	return e.Name
}

// take makes by the executor, with an epoch of its own.
func (m *moving) take(by Executor, lease time.Duration) {
	r := &m.run
	by.Seen, by.Since = m.at, m.at
	r.Executor, r.LeaseUntil, r.Phase, r.Touched, r.InFlight = &by, m.at.Add(lease), "", false, nil
	r.Epoch++
	r.Reports = nil // those of an earlier epoch are refused
	r.NotBefore = time.Time{}
	if r.StartedAt.IsZero() {
		r.StartedAt = m.at
	}
}

// current refuses who has lost the run.
func (r Run) current(epoch int64) error {
	if epoch == r.Epoch && (r.Status.Leased() || r.Status == Orphaned) {
		return nil
	}
	return fault.New(fault.EpochOld, "this executor has the run no more: it is %s, at epoch %d", r.Status, r.Epoch)
}

// renew is an executor's sign of life. One that was taken for lost while it applied, and about
// which nobody has decided since, has the run again. A phase apply that begins is on record
// before the tool starts.
func (c call) renew(l api.LeaseRenewal, lease time.Duration) Decide {
	return func(r Run) (Change, error) {
		if err := r.current(l.Epoch); err != nil {
			return Change{}, err
		}
		m := c.change(r)
		m.resume()
		m.seen(l, lease)
		// Only forward: a renewal that comes late says nothing new.
		if phase := Phase(l.Phase); phase.step() > r.Phase.step() {
			m.begin(phase)
		}
		return m.done()
	}
}

// resume takes the run back from the lost.
func (m *moving) resume() {
	if m.run.Status == Orphaned {
		status := Applying
		if m.run.Stage == PlanStage {
			status = Preparing
		}
		m.to(status, "").because(EventResumed, "its executor has come back")
	}
}

func (m *moving) seen(l api.LeaseRenewal, lease time.Duration) {
	r := &m.run
	r.LeaseUntil = m.at.Add(lease)
	if r.Executor == nil {
		return
	}
	r.Executor.Seen, r.InFlight = m.at, fitting(slices.Clone(l.InFlight), maxInFlightBytes, shortInFlight)
	if l.PID != 0 {
		r.Executor.BootID, r.Executor.PID, r.Executor.StartTime = l.BootID, l.PID, l.StartTime
	}
	if l.Sandbox != nil {
		r.Executor.Sandbox = l.Sandbox
	}
}

// begin notes that a phase has begun.
func (m *moving) begin(phase Phase) {
	m.run.Phase = phase
	m.run.Touched = m.run.Touched || phase == PhaseApply && m.run.Stage == ApplyStage
	if m.run.Stage == PlanStage && m.run.Status == Preparing && phase == PhasePlan {
		m.to(Planning, "")
	}
	m.because(EventPhase, string(phase)+" begins")
}

// report says how a phase has ended, and what follows. head is the state's newest version.
func (c call) report(p api.PhaseReport, head Base) Decide {
	return func(r Run) (Change, error) {
		key := p.Stage + "/" + strconv.Itoa(p.Attempt) + "/" + strconv.FormatInt(p.Epoch, 10) + "/" + p.Phase
		if slices.Contains(r.Reports, key) {
			return nothing(r)
		}
		if err := r.current(p.Epoch); err != nil {
			return Change{}, err
		}
		if p.Stage != string(r.Stage) || p.Attempt != r.Attempt {
			return Change{}, fault.New(fault.RunInvalid, "the run is in its stage %s, attempt %d, not in %.32q, attempt %d",
				r.Stage, r.Attempt, p.Stage, p.Attempt)
		}
		m := c.change(r)
		m.resume()
		m.note(p, key)
		switch {
		case p.Outcome == OutcomeCancelled || p.Outcome != OutcomeSucceeded && r.Cancel != nil:
			m.stopped(head.Version)
		case p.Outcome != OutcomeSucceeded:
			m.failed(p, head)
		case p.Last && r.Stage == PlanStage:
			m.to(Checking, "").because(EventPhase, "the plan is made")
		case p.Last:
			m.applied(head.Version)
		}
		return m.done()
	}
}

// The outcomes of a phase.
const (
	OutcomeSucceeded = "succeeded"
	OutcomeFailed    = "failed"
	OutcomeCancelled = "cancelled"
)

// What a run keeps of what executors say: all of it is in one row of the store.
const (
	maxDiagnostics     = 100
	maxDiagnosticBytes = 128 << 10
	maxInFlightBytes   = 32 << 10
	maxPhases          = 200
	maxDetailed        = 20 // phases whose slowest resources are named
)

// fitting returns the first of a list, shortened, that take so many bytes.
func fitting[T any](all []T, room int, short func(T) T) []T {
	for i := range all {
		one := short(all[i])
		raw, err := json.Marshal(one)
		if room -= len(raw); err != nil || room < 0 {
			return all[:i:i]
		}
		all[i] = one
	}
	return all
}

func shortInFlight(f api.InFlight) api.InFlight {
	f.Address, f.Action = cut(f.Address, maxAddress), cut(f.Action, maxWord)
	return f
}

func shortDiagnostic(d api.Diagnostic) api.Diagnostic {
	const detail = 8 << 10
	d.Severity, d.Summary, d.Detail = cut(d.Severity, maxWord), cut(d.Summary, maxMessage), cut(d.Detail, detail)
	d.Address, d.File = cut(d.Address, maxAddress), cut(d.File, maxAddress)
	return d
}

// cut shortens a text.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// maxSlowest is how many actions on resources are named of a phase, and how long an address is
// that is kept whole there.
const maxSlowest, maxSlowestAddress = 5, 200

// workOf is what is kept of what an executor says that a phase did.
func workOf(w api.Work) api.Work {
	w.Resources, w.PerSecond = max(w.Resources, 0), max(w.PerSecond, 0)
	w.Slowest = slices.Clone(w.Slowest[:min(len(w.Slowest), maxSlowest)])
	for i := range w.Slowest {
		w.Slowest[i].Address, w.Slowest[i].Action = cut(w.Slowest[i].Address, maxSlowestAddress),
			cut(w.Slowest[i].Action, maxSlowestAddress)
	}
	return w
}

func (m *moving) note(p api.PhaseReport, key string) {
	r := &m.run
	r.Phase = Phase(p.Phase)
	r.Reports = append(r.Reports, key)
	r.Phases = append(r.Phases,
		api.PhaseTime{Phase: p.Phase, Attempt: p.Attempt, Seconds: p.Seconds, Outcome: p.Outcome, Work: workOf(p.Work)})
	code := p.ExitCode
	r.ExitCode = &code
	r.Phases = r.Phases[max(len(r.Phases)-maxPhases, 0):]
	for i := range max(len(r.Phases)-maxDetailed, 0) {
		r.Phases[i].Slowest = nil
	}
	room := max(maxDiagnostics-len(r.Diagnostics), 0)
	r.Diagnostics = fitting(append(r.Diagnostics, p.Found[:min(room, len(p.Found))]...), maxDiagnosticBytes,
		shortDiagnostic)
	r.InFlight = fitting(slices.Clone(p.InFlight), maxInFlightBytes, shortInFlight)
	if p.Sandbox != nil && r.Executor != nil {
		r.Executor.Sandbox = p.Sandbox
	}
	if p.Tool != nil && r.Executor != nil {
		r.Executor.Tool = p.Tool
	}
	m.because(EventPhase, p.Phase+" "+p.Outcome)
}

// stopped ends a run that was to end.
func (m *moving) stopped(after uint64) {
	if m.run.Touched {
		m.run.After = after
		text := "cancelled; " + interruptedAt(after, m.run.InFlight)
		if m.run.Cancel != nil && m.run.Cancel.Level == Hard || len(m.run.InFlight) > 0 {
			text += "; to compare the state with what there is: holdfast run plan " + m.run.Workspace + " --refresh-only"
		}
		m.to(Cancelled, text)
	} else {
		m.to(Cancelled, "cancelled before anything was changed")
	}
	m.because(EventEnded, m.run.Reason)
}

// failed ends the run, or has it try again where that can help and harms nothing.
func (m *moving) failed(p api.PhaseReport, head Base) {
	r := &m.run
	reason := p.Phase + " failed"
	if p.Message != "" {
		reason += ": " + p.Message
	}
	// Who has done something had the lock.
	locked := Class(p.Class) == LockHeld && len(p.InFlight) == 0 && p.Work.Resources <= 0
	switch {
	case locked && m.movedOn(head):
		r.Epoch++
		m.outdated(m.sinceHead(head))
	case locked:
		m.yield(reason, m.waitFor(p, 1))
	case r.Touched:
		m.brokeOff(p, reason, head)
	case Class(p.Class) == Infrastructure && r.Attempt < r.Terms.MaxAttempts:
		m.yield(reason, m.waitFor(p, r.Attempt))
		r.Attempt++
	default:
		r.GaveUp = Class(p.Class) == Infrastructure
		m.to(Failed, reason).because(EventEnded, reason)
	}
}

// movedOn reports whether somebody else has changed the state since the plan that is applied.
func (m *moving) movedOn(head Base) bool {
	own := head.By != nil && head.By.KeyID == auth.RunKeyID(m.run.ID)
	return m.run.Stage == ApplyStage && !own && !m.run.Base.same(head)
}

// sinceHead says what made the plan stale: what is on record, or else the state's newest version.
func (m *moving) sinceHead(head Base) api.Stale {
	if m.run.Stale != nil {
		return *m.run.Stale
	}
	return api.Stale{Since: m.at, Because: ByState, Version: head.Version, By: head.By}
}

// yield gives the run back, to be claimed once more: the plan is kept if there is one.
func (m *moving) yield(reason string, delay time.Duration) {
	m.run.Epoch++
	m.run.NotBefore = m.at.Add(delay)
	if m.run.Stage == ApplyStage {
		m.to(Confirmed, reason)
	} else {
		m.to(Retrying, reason)
	}
	m.because(EventRetry, reason)
}

// applied ends an apply that went well.
func (m *moving) applied(after uint64) {
	m.run.After, m.run.InFlight, m.run.Stale = after, nil, nil
	m.to(Succeeded, "").because(EventEnded, fmt.Sprintf("applied, version %d", after))
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

func nameOf(a api.Actor) string {
	switch {
	case a.Subject != "":
		return a.Subject
	case a.KeyName != "":
		return a.KeyName
	}
	return a.KeyID
}
