package runs_test

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/runs"
)

// look has the server read a plan. What it found may get lost, or come late.
func (w *world) look() {
	run, ok := w.any("check", func(r runs.Run) bool { return r.Status == runs.Checking })
	if !ok {
		return
	}
	w.read(run)
	if w.choose("at once", 3) > 0 {
		w.store1(len(w.checks) - 1)
	}
}

// read finds out what a plan would change.

func (w *world) read(run runs.Run) {
	changes := draw(w, "changes", "x", "x", "x", "y", "")
	pin := &api.Pin{Digest: fmt.Sprintf("%s/%d/%s", run.ID, run.Epoch, changes), Changes: changes}
	pin.State.Version = run.Base.Version
	at := w.places[run.Workspace]
	w.checks = append(w.checks, check{run.Ref(), runs.Result{
		Pin: pin, Counts: api.RunCounts{Any: changes != "", Add: len(changes) * w.choose("resources", 2), Outputs: 1},
		Now: at.head, Revision: at.terms.Revision, Epoch: run.Epoch, Gates: w.gatesOf(pin.Digest),
	}})
}

// gatesOf is what holds a plan: the same whenever it is looked at.
func (w *world) gatesOf(digest string) []api.GateReason {
	gates, known := w.laws.gates[digest]
	if !known {
		gates = draw(w, "gates", nil, nil, nil, []api.GateReason{{Gate: runs.GateFindings}},
			[]api.GateReason{{Gate: runs.GateFindings}, {Gate: runs.GateCost}})
		w.laws.gates[digest] = gates
	}
	return gates
}

func (w *world) planned() {
	if len(w.checks) > 0 {
		w.store1(w.choose("checked", len(w.checks)))
	}
}

// store1 stores one of the checks.
func (w *world) store1(i int) {
	c := w.checks[i]
	w.checks = append(w.checks[:i:i], w.checks[i+1:]...)
	_, _ = w.update(step{name: "planned"}, c.ref, w.machine.Planned(w.server(), c.result))
}

// decision is what somebody decides on: the plan as it is, or one that was there before.
func (w *world) decision(run runs.Run) api.Decision {
	if run.Pin != nil && w.choose("digest", 4) > 0 {
		return api.Decision{Digest: run.Pin.Digest}
	}
	other, ok := w.any("other plan", func(r runs.Run) bool { return r.Pin != nil })
	if !ok {
		return api.Decision{Digest: "none"}
	}
	return api.Decision{Digest: other.Pin.Digest}
}

func waitsForPeople(r runs.Run) bool { return r.Status == runs.AwaitingApproval }

func (w *world) approve() {
	run, ok := w.any("approve", waitsForPeople)
	if !ok || w.choose("any", 6) == 0 {
		if run, ok = w.any("approve any", anyRun); !ok {
			return
		}
	}
	w.approveAs(draw(w, "who", people()...), run, w.decision(run).Digest)
}

func (w *world) approveAs(who runs.Actor, run runs.Run, digest string) {
	at := w.places[run.Workspace]
	w.laws.says(who, digest)
	_, _ = w.update(step{name: "approve"}, run.Ref(),
		w.machine.Approve(w.by(who), api.Decision{Digest: digest}, at.head, at.terms.Revision))
}

func (w *world) deny() {
	run, ok := w.any("deny", waitsForPeople)
	if ok && w.choose("really", 3) == 0 {
		_, _ = w.update(step{name: "deny"}, run.Ref(), w.machine.Deny(w.by(draw(w, "who", people()...)), w.decision(run)))
	}
}

func (w *world) discard() {
	run, ok := w.any("discard", anyRun)
	if ok && w.choose("really", 6) == 0 {
		_, _ = w.update(step{name: "discard"}, run.Ref(), w.machine.Discard(w.by(people()[0])))
	}
}

func (w *world) cancel() {
	run, ok := w.any("cancel", anyRun)
	if ok && w.choose("really", 4) == 0 {
		_, _ = w.update(step{name: "cancel"}, run.Ref(),
			w.machine.Cancel(w.by(people()[0]), draw(w, "level", runs.Soft, runs.Soft, runs.Hard)))
	}
}

func (w *world) retry() {
	if was, ok := w.any("retry", func(r runs.Run) bool { return r.Status.Ended() }); ok {
		w.retryOf(was)
	}
}

// retryOf makes a run as Service.Retry does.
func (w *world) retryOf(was runs.Run) {
	if w.made >= mostRuns {
		return
	}
	next := runs.Run{Workspace: was.Workspace, Kind: was.Kind, Trigger: draw(w, "who", people()...), RetryOf: was.ID}
	if was.Status == runs.Outdated && was.Pin != nil {
		next.Earlier = &runs.Earlier{Run: was.ID, Changes: was.Pin.Changes, Approvals: was.Approvals}
		for _, gate := range was.Gates {
			next.Earlier.Gates = append(next.Earlier.Gates, gate.Gate)
		}
	}
	w.add(next)
}

func (w *world) resolve() {
	run, ok := w.any("resolve", func(r runs.Run) bool { return r.Status == runs.Orphaned })
	if ok && w.choose("really", 2) == 0 {
		_, _ = w.update(step{name: "resolve"}, run.Ref(), w.machine.Resolve(w.by(people()[0]), w.places[run.Workspace].head))
	}
}

// sweep does what Service.Sweep does.
func (w *world) sweep() {
	due, err := w.store.Due(context.Background(), w.now, runs.Mark{}, 100)
	if err != nil {
		w.laws.broken("due: %v", err)
	}
	for _, mark := range due {
		ref := mark.Ref
		if ref.Org != w.org {
			continue
		}
		if w.laws.run(ref.ID).Status.Leased() {
			_, _ = w.update(step{name: "lose"}, ref, w.machine.Lose(w.server()))
		} else {
			_, _ = w.update(step{name: "expire"}, ref, w.machine.Expire(w.server()))
		}
	}
}

// write is an executor's write to the state. The state's fence lets it through while the run is
// the one that applies.
func (w *world) write() {
	e := w.busy()
	if e == nil || e.task.run.Stage != runs.ApplyStage || e.task.step < 3 {
		return
	}
	run := w.laws.run(e.task.run.ID)
	if run.Status == runs.Applying && run.Epoch == e.task.run.Epoch {
		w.move(run.Workspace, run.ID)
	}
}

// edit is a person's write to the state, when nobody has its lock.
func (w *world) edit() {
	name := draw(w, "workspace", "a", "b")
	_, locked := w.any("holder", func(r runs.Run) bool {
		return r.Workspace == name && (r.Status == runs.Applying || r.Status == runs.Orphaned)
	})
	if !locked && w.choose("really", 2) == 0 {
		w.move(name, "")
	}
}

// move makes a new version of a state, of which the plans may be told.
func (w *world) move(name, by string) {
	at := w.places[name]
	at.head.Version++
	at.head.Digest = fmt.Sprint(name, at.head.Version)
	w.tell(name, by, api.Stale{Since: w.now, Because: runs.ByState, Version: at.head.Version})
}

// configure changes a workspace's settings.
func (w *world) configure() {
	if w.choose("really", 3) == 0 {
		w.reconfigure(draw(w, "workspace", "a", "b"))
	}
}

func (w *world) reconfigure(name string) {
	revision := w.places[name].terms.Revision
	w.places[name].terms = w.drawTerms()
	w.places[name].terms.Revision = revision + 1
	w.tell(name, "", api.Stale{Since: w.now, Because: runs.BySettings})
}

// tell marks plans stale, unless the server dies before.
func (w *world) tell(name, by string, why api.Stale) {
	if w.choose("told", 3) == 0 {
		return
	}
	open, err := w.store.Open(context.Background(), w.org, name)
	if err != nil {
		w.laws.broken("open: %v", err)
	}
	for _, run := range open {
		if run.ID != by {
			_, _ = w.update(step{name: "stale"}, run.Ref(), w.machine.Stale(w.server(), why))
		}
	}
}

// tick lets time pass, or jump in either direction.
func (w *world) tick() {
	w.now = w.now.Add(draw(w, "time", time.Second, 5*time.Second, 20*time.Second, time.Minute, time.Minute, 15*time.Minute,
		2*time.Hour, -10*time.Second, -time.Hour))
}

// crash kills an executor, or the server with what it has not stored.
func (w *world) crash() {
	if e := draw(w, "executor", w.executors...); w.choose("executor dies", 2) == 0 {
		e.task, e.key = nil, ""
		return
	}
	w.checks = nil
	if w.reopen != nil {
		w.store = w.reopen(w.store)
		w.laws.lookAtAll()
	}
}
