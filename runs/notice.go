package runs

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/audit"
)

// notices are the actions, of nobody but the server, that people are told about.
func notices() map[Status]audit.Action {
	return map[Status]audit.Action{
		AwaitingApproval: audit.RunWait, Failed: audit.RunFail, Orphaned: audit.RunOrphan, Outdated: audit.RunStale,
	}
}

// noticeOf is what people are told of a run that was in another status; empty for nothing.
func noticeOf(was Status, run Run) audit.Action {
	switch {
	case run.Status == was, run.Status == AwaitingApproval && run.Outside.isAsked() &&
		(!run.Outside.People || run.enough()):
		return "" // or nobody but a service is waited for
	case run.Status == Retrying && was == Confirmed && run.Stage == "" && run.Stale != nil:
		return audit.RunStale // what was approved is planned anew
	}
	return notices()[run.Status]
}

// notice puts into the audit log what people are to be told, where notices are taken from.
func (s *Service) notice(ctx context.Context, was Status, run Run) {
	action := noticeOf(was, run)
	if action == "" {
		return
	}
	note := s.noteOf(run)
	if action == audit.RunWait {
		note = run.asking(note)
	}
	s.keep(ctx, audit.Event{
		At: s.clock(), Org: run.Org, Actor: audit.Server(), Action: action, State: run.Workspace, Version: run.Base.Version,
		Note: "run " + run.ID + ": " + cut(note, maxNote),
	})
}

// asking says who wants what of those who are to approve, and what it waits for.
func (r Run) asking(waits string) string {
	text := nameOf(r.Trigger.Wire()) + " wants to " + string(r.Kind)
	if c := r.Counts; c != nil {
		text += fmt.Sprintf(": +%d ~%d -%d", c.Add, c.Change, c.Destroy)
	}
	if text += "; " + waits; r.Order.Message != "" {
		text += ": \"" + r.Order.Message + "\""
	}
	return text
}

// maxNote is how much of a run's reason a notice has.
const maxNote = 500 // bytes
