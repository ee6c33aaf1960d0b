package runs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
)

// world is a server with its executors and people, of which any may stop, be late or come twice,
// by a clock that jumps. Everything goes through rules and a store; laws_test.go holds what they
// make of it to what must be so.
type world struct {
	choose  func(what string, n int) int // below n
	machine runs.Machine
	store   runs.Store
	reopen  func(runs.Store) runs.Store // nil where nothing survives

	org       uuid.UUID
	now       time.Time
	made      int
	places    map[string]*workspace
	executors []*executor
	checks    []check
	laws      *laws
}

// workspace is what a run needs to know of one.
type workspace struct {
	head  runs.Base
	terms runs.Terms
}

// executor is an agent that may be lost at any time, and never knows of it.
type executor struct {
	name string
	keys int
	key  string // of a claim whose answer got lost
	ref  runs.Ref
	task *task
}

// task is a stage that an executor has.
type task struct {
	run      runs.Run
	step     int // phases that have begun
	reported int
}

// next returns the key of a new claim.
func (e *executor) next() string {
	e.keys++
	return fmt.Sprint(e.name, "/", e.keys)
}

func (t *task) phases() []runs.Phase {
	if t.run.Stage == runs.ApplyStage {
		return []runs.Phase{runs.PhasePrepare, runs.PhaseInit, runs.PhaseApply, runs.PhaseOutput}
	}
	return []runs.Phase{runs.PhasePrepare, runs.PhaseInit, runs.PhasePlan, runs.PhaseShow}
}

// check is the server's reading of a plan, on its way to the store.
type check struct {
	ref    runs.Ref
	result runs.Result
}

func newWorld(choose func(string, int) int, machine runs.Machine, store runs.Store) *world {
	w := &world{choose: choose, machine: machine, store: store, org: uuid.New(),
		now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), places: map[string]*workspace{}}
	for _, name := range []string{"a", "b"} {
		w.places[name] = &workspace{terms: w.drawTerms()}
	}
	for i := range 3 {
		w.executors = append(w.executors, &executor{name: fmt.Sprint("agent", i)})
	}
	w.laws = newLaws(w)
	return w
}

func draw[T any](w *world, what string, from ...T) T { return from[w.choose(what, len(from))] }

func (w *world) drawTerms() runs.Terms {
	return runs.Terms{
		Revision: 1, MaxAttempts: 1 + w.choose("attempts", 3), Approvals: w.choose("approvals", 3),
		AutoApply:   draw(w, "auto-apply", "never", "always", "no-changes"),
		AllowAuthor: w.choose("allow author", 2) == 0, Carry: w.choose("carry", 3) > 0,
		PlanTTL: draw(w, "plan's time", 0, time.Hour), ApprovalTTL: draw(w, "approval's time", 0, 10*time.Minute),
	}
}

// mostRuns bounds a world: where there are many runs, few get far.
const mostRuns = 8

func people() []runs.Actor {
	return []runs.Actor{{KeyID: "ann"}, {KeyID: "bob"}, {KeyID: "cid"}}
}

func (w *world) by(who runs.Actor) runs.Call { return runs.Call{By: who, At: w.now} }
func (w *world) server() runs.Call           { return w.by(runs.Server()) }

// any returns a run that fits, or false.
func (w *world) any(what string, fits func(runs.Run) bool) (runs.Run, bool) {
	var found []runs.Run
	for _, run := range w.laws.all() {
		if fits(run) {
			found = append(found, run)
		}
	}
	if len(found) == 0 {
		return runs.Run{}, false
	}
	return draw(w, what, found...), true
}

func anyRun(runs.Run) bool { return true }

// steps are what may happen, more often where there is more of it.
func (w *world) steps() []func() {
	return []func(){
		w.create, w.create, w.claim, w.claim, w.claim, w.claim, w.claim, w.renew, w.report, w.stage, w.push, w.push, w.push,
		w.push, w.push, w.push, w.push,
		w.look, w.look, w.look, w.planned, w.planned, w.approve, w.approve, w.approve, w.approve, w.approve, w.deny,
		w.discard, w.cancel,
		w.retry, w.retry, w.resolve, w.resolve, w.sweep, w.sweep, w.sweep, w.write, w.edit, w.edit, w.edit, w.configure,
		w.tick, w.tick, w.tick, w.crash,
	}
}

// step lets one thing happen.
func (w *world) step() { draw(w, "step", w.steps()...)() }

// update has a decision carried out. Now and then its answer gets lost, and it is made again.
func (w *world) update(kind step, ref runs.Ref, decide runs.Decide) (runs.Run, error) {
	run, err := w.store.Update(context.Background(), ref, decide)
	if w.unexpected(err) {
		w.laws.broken("%s: %v", kind.name, err)
	}
	w.laws.look(kind, ref)
	if err != nil || w.choose("repeat", 5) > 0 {
		return run, err
	}
	again, err := w.store.Update(context.Background(), ref, decide)
	w.laws.repeated(kind, run, again, err)
	w.laws.look(kind, ref)
	return again, err
}

// unexpected reports whether an error is none of those that calls may meet.
func (w *world) unexpected(err error) bool {
	if _, blocked := errors.AsType[*runs.BlockedError](err); err == nil || blocked {
		return false
	}
	for _, code := range []fault.Code{fault.RunStatus, fault.RunStale, fault.PinMismatch, fault.ApprovalOwn,
		fault.EpochOld, fault.RunInvalid} {
		if fault.Is(err, code) {
			return false
		}
	}
	return true
}

func (w *world) create() {
	if w.made >= mostRuns {
		return
	}
	name := draw(w, "workspace", "a", "b")
	w.add(runs.Run{
		Workspace: name, Kind: draw(w, "kind", runs.Apply, runs.Apply, runs.Apply, runs.Destroy, runs.Plan, runs.Refresh),
		Trigger: draw(w, "author", people()...), Priority: runs.Priority(w.choose("priority", 2)),
		Order: runs.Order{AutoApprove: w.places[name].terms.Approvals == 0 && w.choose("auto-approve", 4) == 0},
	})
}

func (w *world) add(run runs.Run) {
	w.made++
	run.Org, run.ID, run.Status, run.Attempt, run.CreatedAt = w.org, fmt.Sprintf("01J%023d", w.made), runs.Pending, 1,
		w.now
	run.Terms = w.places[run.Workspace].terms
	_, err := w.store.Create(context.Background(), run, "",
		[]runs.Event{{At: w.now, Type: runs.EventCreated, To: runs.Pending, By: run.Trigger}}, nil)
	if err != nil {
		w.laws.broken("create: %v", err)
	}
	w.laws.look(step{name: "create"}, run.Ref())
}

// claim has an executor ask for work, or again for what it asked for before.
func (w *world) claim() {
	e := w.executor("idle", func(e *executor) bool { return e.task == nil })
	if e == nil {
		return
	}
	if e.key != "" {
		w.claimOne(e, e.ref, e.key)
		return
	}
	refs, err := w.store.Claimable(context.Background(), runs.ClaimQuery{Orgs: []uuid.UUID{w.org}, Now: w.now, Limit: 3})
	if err != nil {
		w.laws.broken("claimable: %v", err)
	}
	if w.choose("anything", 4) == 0 { // somebody who doesn't ask what may be claimed
		if run, ok := w.any("any", anyRun); ok {
			refs = []runs.Ref{run.Ref()}
		}
	}
	for _, ref := range refs {
		if w.claimOne(e, ref, e.next()) {
			return
		}
	}
}

func (w *world) claimOne(e *executor, ref runs.Ref, key string) bool {
	at := w.places[w.laws.run(ref.ID).Workspace]
	run, err := w.update(step{name: "claim", key: key}, ref,
		w.machine.Claim(w.server(), runs.Executor{Agent: e.name, ClaimKey: key}, at.head, at.terms))
	switch {
	case err != nil:
		e.key = ""
	case w.choose("answer lost", 4) == 0:
		e.key, e.ref = key, ref
	default:
		e.key, e.task = "", &task{run: run}
	}
	return err == nil
}

// executor returns one that fits, or nil.
func (w *world) executor(what string, fits func(*executor) bool) *executor {
	var found []*executor
	for _, e := range w.executors {
		if fits(e) {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return draw(w, what, found...)
}

// busy returns an executor that has something to do, or believes so.
func (w *world) busy() *executor {
	return w.executor("busy", func(e *executor) bool { return e.task != nil })
}

// stage has an executor do some of what its stage still needs.
func (w *world) stage() {
	for e := w.busy(); e != nil && e.task != nil && w.laws.fail == nil && w.choose("stops", 10) > 0; {
		w.goOn(e)
	}
}

// renew shows a sign of life, and begins the next phase.
func (w *world) renew() {
	e := w.busy()
	if e != nil {
		w.begin(e)
	}
}

func (w *world) begin(e *executor) {
	t := e.task
	phases := t.phases()
	next := t.step
	if next == t.reported && next < len(phases) && w.choose("begin", 4) > 0 {
		next++
	}
	phase := phases[max(next, 1)-1]
	l := api.LeaseRenewal{Epoch: t.run.Epoch}
	if next > 0 {
		l.Phase = string(phase)
	}
	_, err := w.update(step{name: "renew", epoch: t.run.Epoch, phase: phase}, t.run.Ref(), w.machine.Renew(w.server(), l))
	if err == nil {
		t.step = max(next, t.step)
	} else if w.choose("gives up", 2) == 0 {
		e.task = nil // another one goes on as if nothing had happened
	}
}

// report says how a phase ended.
func (w *world) report() {
	e := w.busy()
	if e != nil && e.task.step > e.task.reported {
		w.end(e)
	}
}

func (w *world) end(e *executor) {
	t := e.task
	phases := t.phases()
	p := api.PhaseReport{
		Epoch: t.run.Epoch, Stage: string(t.run.Stage), Attempt: t.run.Attempt, Phase: string(phases[t.step-1]),
		Outcome: runs.OutcomeSucceeded,
		Last:    t.step == len(phases),
	}
	switch w.choose("outcome", 20) {
	case 0:
		p.Outcome, p.Last = runs.OutcomeFailed, true
		p.Class = string(draw(w, "class", runs.Infrastructure, runs.LockHeld, runs.Config, runs.Provider))
	case 1:
		p.Outcome, p.Last = runs.OutcomeCancelled, true
	}
	at := w.places[t.run.Workspace]
	_, err := w.update(step{name: "report", epoch: t.run.Epoch, class: runs.Class(p.Class)}, t.run.Ref(),
		w.machine.Report(w.server(), p, at.head))
	if err == nil {
		t.reported = t.step
	}
	if p.Last || err != nil && w.choose("gives up", 2) == 0 {
		e.task = nil
	}
}
