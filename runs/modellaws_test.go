package runs_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/runs"
)

// step is what has just been done.
type step struct {
	name  string
	key   string // of a claim
	epoch int64  // of an executor's call
	phase runs.Phase
	class runs.Class
}

// laws hold the runs of a world to what must be so, by what was seen of them before.
type laws struct {
	w       *world
	seen    map[string]runs.Run
	events  map[string][]runs.Event
	yes     map[string]map[string]bool  // by digest of a pin: who has said yes to it
	gates   map[string][]api.GateReason // by digest of a pin: what holds the plan
	planned map[string]int64            // epoch of a run's last claim to plan
	claims  map[string]string           // key of the claim by run and epoch
	touched map[string]bool             // whose tool's apply was begun
	ordered map[string]runs.Order
	fail    error // the first that was broken
}

func newLaws(w *world) *laws {
	return &laws{
		w: w, seen: map[string]runs.Run{}, events: map[string][]runs.Event{}, yes: map[string]map[string]bool{},
		gates:   map[string][]api.GateReason{},
		planned: map[string]int64{}, claims: map[string]string{}, touched: map[string]bool{},
		ordered: map[string]runs.Order{},
	}
}

func (l *laws) broken(format string, args ...any) {
	if l.fail == nil {
		l.fail = fmt.Errorf(format, args...)
	}
}

// says notes that somebody says yes to a plan.
func (l *laws) says(who runs.Actor, digest string) {
	if l.yes[digest] == nil {
		l.yes[digest] = map[string]bool{}
	}
	l.yes[digest][who.KeyID] = true
}

func (l *laws) run(id string) runs.Run { return l.seen[id] }

func (l *laws) all() []runs.Run {
	var all []runs.Run
	for i := range l.w.made {
		if run, ok := l.seen[fmt.Sprintf("01J%023d", i+1)]; ok {
			all = append(all, run)
		}
	}
	return all
}

// look looks at the run that a step was to change.
func (l *laws) look(s step, ref runs.Ref) {
	run, err := l.w.store.Run(context.Background(), ref)
	if err != nil {
		l.broken("%s: %v", s.name, err)
		return
	}
	was, known := l.seen[run.ID]
	if !known {
		l.ordered[run.ID] = run.Order
	}
	if was.Status.Ended() && !reflect.DeepEqual(was, run) {
		l.broken("%s: the run was %s, and is changed", s.name, was.Status)
	}
	l.seen[run.ID] = run
	if was.Revision != run.Revision {
		l.changed(s, was, run)
	}
}

// lookAtAll wants all runs to be as they were last seen.
func (l *laws) lookAtAll() {
	page, err := l.w.store.List(context.Background(), runs.Query{Org: l.w.org, Limit: 100})
	if err != nil || len(page.Runs) != l.w.made {
		l.broken("%d runs of %d, %v", len(page.Runs), l.w.made, err)
		return
	}
	for _, run := range page.Runs {
		if !reflect.DeepEqual(run, l.seen[run.ID]) {
			l.broken("run %s was changed, and by nobody", run.ID)
		}
	}
}

// alone wants one run of a workspace at most to have its slot.
func (l *laws) alone(workspace string) {
	holder := ""
	for _, run := range l.seen {
		if run.Workspace != workspace || !run.Holds() {
			continue
		}
		if holder != "" {
			l.broken("the runs %s and %s both have the slot of %s", holder, run.ID, workspace)
		}
		holder = run.ID
	}
}

// changed looks at one run that a step has changed.
func (l *laws) changed(s step, was, run runs.Run) {
	if run.Epoch < was.Epoch {
		l.broken("%s: the epoch goes from %d to %d", s.name, was.Epoch, run.Epoch)
	}
	switch s.name {
	case "renew", "report":
		if was.Epoch != s.epoch {
			l.broken("a %s of epoch %d changes a run of epoch %d", s.name, s.epoch, was.Epoch)
		}
	}
	l.alone(run.Workspace)
	l.touch(s, was, run)
	if was.Status.Claimable() && run.Status.Leased() || s.name == "claim" {
		l.claimed(s, run)
	}
	if was.Status == runs.Confirmed && run.Status == runs.Applying {
		l.applies(s, was, run)
	}
	l.explained(s, run)
}

// touch follows applies that may have changed something: nobody else may decide on one than its
// executor and a person who resolves it.
func (l *laws) touch(s step, was, run runs.Run) {
	if l.touched[run.ID] && was.Holds() && run.Status != runs.Applying && run.Status != runs.Orphaned &&
		s.name != "report" && s.name != "resolve" {
		l.broken("%s: an apply that was begun is %s", s.name, run.Status)
	}
	if l.touched[run.ID] && run.Status.Claimable() && s.class != runs.LockHeld {
		l.broken("%s: an apply that was begun is to be begun again", s.name)
	}
	if !run.Holds() || s.name == "claim" || run.Status.Claimable() {
		l.touched[run.ID] = false
	}
	if s.name == "renew" && s.phase == runs.PhaseApply && run.Status == runs.Applying && run.Phase == runs.PhaseApply {
		l.touched[run.ID] = true
	}
}

// claimed wants an epoch of its own for each claim.
func (l *laws) claimed(s step, run runs.Run) {
	at := fmt.Sprint(run.ID, "/", run.Epoch)
	if had, ok := l.claims[at]; ok && had != s.key {
		l.broken("the claims %s and %s both have run %s at epoch %d", had, s.key, run.ID, run.Epoch)
	}
	l.claims[at] = s.key
	if run.Stage == runs.PlanStage {
		l.planned[run.ID] = run.Epoch
	}
}

// applies wants a plan that may be applied now.
func (l *laws) applies(s step, was, run runs.Run) {
	at := l.w.places[run.Workspace]
	switch {
	case !run.Kind.Mutates():
		l.broken("a run of kind %s applies", run.Kind)
	case run.Pin == nil:
		l.broken("a run without a plan applies")
	case run.Pin.State.Version != at.head.Version || run.Base != at.head:
		l.broken("a plan of version %d is applied to version %d", run.Pin.State.Version, at.head.Version)
	case run.Terms.Revision != at.terms.Revision:
		l.broken("a plan of revision %d of the settings is applied at %d", run.Terms.Revision, at.terms.Revision)
	case !was.Due().IsZero() && !was.Due().After(l.w.now):
		l.broken("a plan is applied at %v that counted until %v", l.w.now, was.Due())
	case run.Cancel != nil:
		l.broken("a run is applied that %s has cancelled", run.Cancel.By.KeyID)
	case run.Pin.Digest != fmt.Sprintf("%s/%d/%s", run.ID, l.planned[run.ID], run.Pin.Changes):
		l.broken("the pin %s is not that of the last plan, of epoch %d", run.Pin.Digest, l.planned[run.ID])
	}
	if run.Pin != nil && !l.approved(run) {
		l.broken("run %s is applied, and nobody has said yes to %s: it has %v", run.ID, run.Pin.Digest, run.Approvals)
	}
}

// approved counts who has said yes to the run's pin, or, where that is enough, to equal changes.
func (l *laws) approved(run runs.Run) bool {
	counts, terms, gates := run.Counts, run.Terms, l.gates[run.Pin.Digest]
	only := counts.Add+counts.Change+counts.Destroy == 0
	if terms.Approvals == 0 && len(gates) == 0 &&
		(l.ordered[run.ID].AutoApprove || terms.AutoApply == "always" || terms.AutoApply == "no-changes" && only) {
		return true
	}
	who := map[string]bool{}
	for digest, people := range l.yes {
		equal := len(digest) > 0 && digest[len(digest)-1:] == run.Pin.Changes && l.sameWorkspace(digest, run)
		// Gates are listed in order, so whoever approved one that more of them held has seen these.
		if digest != run.Pin.Digest && !(terms.Carry && equal && len(l.gates[digest]) >= len(gates)) {
			continue
		}
		for person := range people {
			if terms.AllowAuthor || terms.Approvals == 0 && len(gates) == 0 || person != run.Trigger.KeyID {
				who[person] = true
			}
		}
	}
	return len(who) >= max(terms.Approvals, 1)
}

// sameWorkspace reports whether a pin is of a run of the same workspace.
func (l *laws) sameWorkspace(digest string, run runs.Run) bool {
	return len(digest) > 26 && l.seen[digest[:26]].Workspace == run.Workspace
}

// explained wants the events to lead from the beginning to where the run is.
func (l *laws) explained(s step, run runs.Run) {
	events, err := l.w.store.Events(context.Background(), run.Ref(), 0, 10000)
	if err != nil || len(events) == 0 {
		l.broken("run %s has %d events, %v", run.ID, len(events), err)
		return
	}
	had := l.events[run.ID]
	if len(events) < len(had) || len(had) > 0 && !slices.Equal(events[:len(had)], had) {
		l.broken("%s: events of run %s were changed", s.name, run.ID)
	}
	l.events[run.ID] = events
	at, epoch := runs.Status(""), int64(0)
	for _, e := range events {
		if e.From != at || e.Epoch < epoch {
			l.broken("%s: event %d of run %s leads from %q at epoch %d, and the one before to %q at %d", s.name, e.Sequence,
				run.ID, e.From, e.Epoch, at, epoch)
		}
		at, epoch = e.To, e.Epoch
	}
	if at != run.Status {
		l.broken("%s: the events of run %s lead to %q, and it is %s", s.name, run.ID, at, run.Status)
	}
}

// repeated wants the same answer for a call that comes twice, and that nothing is done again.
func (l *laws) repeated(s step, first, again runs.Run, err error) {
	if err != nil {
		l.broken("%s, repeated: %v", s.name, err)
		return
	}
	events, err := l.w.store.Events(context.Background(), first.Ref(), int64(len(l.events[first.ID])), 10)
	if err != nil || len(events) > 0 || first.Status != again.Status || first.Epoch != again.Epoch ||
		first.Attempt != again.Attempt {
		l.broken("%s, repeated: %s at epoch %d, then %s at %d, and %d more events, %v", s.name, first.Status, first.Epoch,
			again.Status, again.Epoch, len(events), err)
	}
}
