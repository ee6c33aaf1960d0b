package runs_test

import (
	"time"

	"github.com/holdfast/holdfast/runs"
)

// push brings one run on by some of the steps that lead it to its end: by chance alone, few runs
// get there.
func (w *world) push() {
	run, ok := w.any("push", func(r runs.Run) bool { return !r.Status.Ended() && r.Status != runs.Orphaned })
	if !ok {
		return
	}
	for range 1 + w.choose("steps", 12) {
		if w.laws.fail != nil || !w.pushOnce(w.laws.run(run.ID)) {
			return
		}
	}
}

// pushOnce does what the run waits for, unless it is somebody else's turn.
func (w *world) pushOnce(run runs.Run) bool {
	switch {
	case run.Status == runs.Confirmed && w.choose("state moves", 6) == 0:
		w.move(run.Workspace, "")
		return true
	case run.Status == runs.Confirmed && w.choose("settings move", 8) == 0:
		w.reconfigure(run.Workspace)
		return true
	case run.Status == runs.Confirmed && w.choose("grows old", 8) == 0:
		w.now = w.now.Add(3 * time.Hour)
		if w.choose("swept", 2) == 0 {
			return true
		}
		w.sweep()
		if old := w.laws.run(run.ID); old.Status == runs.Outdated {
			w.retryOf(old)
		}
		return false
	case run.Status == runs.Applying && w.choose("silence", 8) == 0:
		w.now = w.now.Add(time.Minute)
		w.sweep()
		return false
	case run.Status.Leased() && w.choose("cancelled", 25) == 0:
		_, _ = w.update(step{name: "cancel"}, run.Ref(), w.machine.Cancel(w.by(people()[0]), runs.Soft))
		return true
	case run.Status.Claimable():
		e := w.executor("idle", func(e *executor) bool { return e.task == nil && e.key == "" })
		if e == nil {
			return false
		}
		if run.NotBefore.After(w.now) {
			w.now = run.NotBefore
		}
		return w.claimOne(e, run.Ref(), e.next())
	case run.Status == runs.Checking && w.choose("slowly", 5) == 0:
		w.read(run)
		w.now = w.now.Add(time.Minute)
		w.sweep()
		return true
	case run.Status == runs.Checking && len(w.checks) > 0 && w.choose("first come", 2) == 0:
		w.planned()
		return true
	case run.Status == runs.Checking:
		w.read(run)
		w.store1(len(w.checks) - 1)
		return true
	case run.Status == runs.AwaitingApproval:
		w.approveAs(draw(w, "who", people()...), run, run.Pin.Digest)
		return true
	}
	e := w.executor("has it", func(e *executor) bool { return e.task != nil && e.task.run.ID == run.ID })
	if e == nil || run.Status.Ended() || run.Status == runs.Orphaned {
		return false
	}
	w.goOn(e)
	return true
}

// goOn has an executor begin a phase, or say how the one that goes on has ended.
func (w *world) goOn(e *executor) {
	if e.task.step == e.task.reported {
		w.begin(e)
	} else {
		w.end(e)
	}
}
