package runs

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
)

// Standing says who may still do what they did.
type Standing interface {
	// MayStill reports whether somebody has a right on a workspace by what is in force now. That a key was good until a
	// time which is past takes nothing back; that it was revoked, or made to be good for less, does.
	MayStill(org uuid.UUID, who api.Actor, right auth.Right, workspace string) bool
}

// stands reports whether whoever said yes to the run's plan may do so still.
func (c call) stands(r Run, a api.Approval) bool {
	may := func(right auth.Right) bool {
		return c.standing == nil || c.standing.MayStill(r.Org, a.By, right, r.Workspace)
	}
	switch {
	case a.BreakGlass:
		return may(auth.BreakGlass)
	case r.wantsApproval():
		return may(auth.ApproveRun)
	}
	return may(auth.ApproveRun) || may(auth.ApplyRun)
}

// counting is the run with those of its approvals that count still.
func (c call) counting(r Run) Run {
	r.Approvals = slices.DeleteFunc(slices.Clone(r.Approvals), func(a api.Approval) bool {
		return a.Approved && (r.Terms.over(a, c.at) || !c.stands(r, a))
	})
	return r
}

// over reports whether an approval has counted for as long as one does.
func (t Terms) over(a api.Approval, now time.Time) bool {
	end := after(a.At, t.ApprovalTTL)
	return !end.IsZero() && !end.After(now)
}

// fallen are those yeses to a confirmed plan without which it would not have been confirmed, and whose people may not
// say yes any more; nil where it is confirmed without them.
func (c call) fallen(r Run) (fallen []api.Approval) {
	left := r
	left.Approvals = slices.DeleteFunc(slices.Clone(r.Approvals), func(a api.Approval) bool {
		gone := a.Approved && !c.stands(r, a)
		if gone {
			fallen = append(fallen, a)
		}
		return gone
	})
	overridden := r.Outside != nil && r.Outside.State == OutsideOverridden && !left.glassBroken()
	if !overridden && (left.enough() || r.needsNobody() && !r.isPart()) { // the rest of a plan may go beyond that
		return nil
	}
	return fallen
}

// reopen has a confirmed plan wait for people again, without these yeses.
func (c call) reopen(r Run, fallen []api.Approval) (Change, error) {
	var names []string
	for _, a := range fallen {
		names = append(names, nameOf(a.By))
	}
	m := c.change(r)
	m.run.Approvals = slices.DeleteFunc(m.run.Approvals, func(a api.Approval) bool { return slices.Contains(fallen, a) })
	m.run.DecidedAt = time.Time{}
	if o := m.run.Outside; o != nil {
		o.People = !m.run.needsNobody() || m.run.isPart()
		if o.State == OutsideOverridden && !m.run.glassBroken() {
			o.State, o.Next = OutsideAsked, c.at
		}
	}
	return m.to(AwaitingApproval, m.run.waitsFor()+"; whoever had approved it may not any more: "+
		strings.Join(names, ", ")).because(EventReopened, m.run.Reason).done()
}
