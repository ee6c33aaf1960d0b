package state

import (
	"fmt"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

// The rules of fences: what a run may do, and what becomes of what it writes all the same.

// admitted returns nil when the fence lets the caller pass: everybody who is no run, and the
// run and epoch that it is open for. Else it is a fault of code RunFenced that says why not.
func (c call) admitted(h Head) error {
	if c.run == nil || h.Fence.admits(*c.run) {
		return nil
	}
	return fault.New(fault.RunFenced, "%s", c.run.excluded(h.Fence))
}

// unmoved returns nil unless somebody has changed the state since the plan was made that the
// run applies: the tools compare lineage and serial alone, and of a first plan not even both. What the run itself
// has written is no such change, unless somebody has deleted that.
func (c call) unmoved(h Head) error {
	var now uint64 // of a state that is there
	if h.Exists() {
		now = h.Version.Number
	}
	own := h.Version.Author.KeyID == c.actor.KeyID
	if c.run == nil || now > 0 && own || now == c.pinned && !own {
		return nil
	}
	return fault.New(fault.RunStale, "the plan of run %s is of version %d, and the state is at version %d", c.run.ID,
		c.pinned, now)
}

// excluded says why a fence does not admit the run.
func (r RunRef) excluded(f Fence) string {
	who := fmt.Sprintf("run %s, epoch %d, may not change this state", r.ID, r.Epoch)
	switch {
	case f.Run == "":
		return who + ": it was never allowed to"
	case f.Run != r.ID:
		return fmt.Sprintf("%s: run %s has taken its place", who, f.Run)
	case f.Epoch != r.Epoch:
		return fmt.Sprintf("%s: the run is at epoch %d, so this executor was taken for lost", who, f.Epoch)
	}
	return who + " any more: its time to write has ended"
}

// keepFenced keeps what a run wrote as a candidate. It is no sign of life of a lock's
// holder: the run may hold the lock still, but is not to use it.
func (c call) keepFenced(h Head, next Version, out *written) (Change, error) {
	next = *successor(h, next)
	next.Warnings, next.Origin = guards(h, next, c.policy.ShrinkPercent), Origin{Reason: c.run.excluded(h.Fence)}
	made, err := c.candidateOf(h, next, Fenced)
	if err != nil {
		return Change{}, err
	}
	out.held = made
	event := c.event(audit.CandidateFence)
	event.Version, event.Note, event.Reason = h.Version.Number, out.held.ID, next.Origin.Reason
	return Change{At: c.at, Candidate: out.held, Events: []audit.Event{event}}, nil
}

// errKept is for a run whose write was kept as a candidate.
func (w written) errKept() error {
	return fault.New(fault.RunFenced,
		"%s; nothing is lost: the body is kept as candidate %s; look at its diff, then promote or discard it",
		fault.From(w.fenced).Message, w.held.ID)
}

// errThere is for a run whose write is the newest version already: there is nothing to keep.
// It is nil for a caller whom the fence admits.
func (w written) errThere(v Version) error {
	if w.fenced == nil {
		return nil
	}
	return fault.New(fault.RunFenced, "%s; nothing is lost: version %d has the very bytes", fault.From(w.fenced).Message,
		v.Number)
}

// errNotKept is err, with which a write failed; for a run whose body could not even be kept
// as a candidate it says so.
func (w written) errNotKept(err error) error {
	if w.fenced == nil || !fault.Is(err, fault.CandidatesFull) {
		return err
	}
	return fault.Wrap(err, fault.CandidatesFull,
		"%s; the body could not be kept as a candidate, because the state has %d open ones: keep errored.tfstate, promote "+
			"or discard a candidate, then push it",
		fault.From(w.fenced).Message, MaxOpenCandidates)
}
