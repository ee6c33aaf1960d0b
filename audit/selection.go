package audit

import (
	"fmt"
	"slices"
	"strings"
)

// Selection says which events somebody wants to be told of. The zero Selection has the usual
// ones: those that a person should look at.
type Selection struct {
	patterns []string // empty for the usual ones alone
}

// usual is how a Selection spells the events that are told without one.
const usual = "default"

// ParseSelection reads a list of actions, in which "lock.*" is all actions on locks, "*" all that
// there are, and "default" what is told without a list.
func ParseSelection(list []string) (Selection, error) {
	for _, pattern := range list {
		if pattern != usual && !slices.ContainsFunc(told(), func(a Action) bool { return matches(pattern, a) }) {
			return Selection{},
				fmt.Errorf("there is no event %.40q; there are %s, * and with * at the end, such as lock.*: %s",
					pattern, usual, join(told()))
		}
	}
	return Selection{slices.Clone(list)}, nil
}

// Wants reports whether the event is selected.
func (s Selection) Wants(e Event) bool {
	switch {
	case e.Action == NoticeDrop: // see told
		return false
	case len(s.patterns) == 0:
		return e.notable()
	}
	return slices.ContainsFunc(s.patterns, func(p string) bool {
		return p == usual && e.notable() || matches(p, e.Action)
	})
}

func matches(pattern string, a Action) bool {
	prefix, open := strings.CutSuffix(pattern, "*")
	if open {
		return (prefix == "" || strings.HasSuffix(prefix, ".")) && strings.HasPrefix(string(a), prefix)
	}
	return pattern == string(a)
}

// notable reports whether somebody should look at it. A rollback, a promotion and what was
// announced are no news: somebody gave a reason for them.
func (e Event) notable() bool {
	switch e.Action {
	case CandidateHold, CandidateFence, LockTakeOver, LockForce, QuotaNear, RunWait, RunFail, RunOrphan, RunStale,
		DriftFind, DriftHeal:
		return true
	case StateWrite:
		return e.Note != ""
	}
	return false
}

// told are the actions that can be told: all but that something could not be told, which would
// never come to an end.
func told() []Action {
	return slices.DeleteFunc(Actions(), func(a Action) bool { return a == NoticeDrop })
}

// Actions returns all actions that there are.
func Actions() []Action {
	return []Action{
		StateWrite, StateImport, StateRollback, StateDelete, StateUndelete, StateRewind, StateExpire,
		VersionPurge, VersionsPrune, LockTake, LockRelease, LockForce, LockTakeOver,
		CandidateHold, CandidateFence, CandidatePush, CandidateAccept, CandidateDrop,
		ExpectSet, ExpectUse, ExpectEnd, AccessRefused, StateRead, Upload, Unmask, QuotaNear,
		RunCreate, RunApprove, RunBreakGlass, RunDecide, RunDeny, RunDiscard, RunCancel, RunResolve, RunWait, RunFail,
		RunOrphan,
		RunStale,
		PoolCreate, PoolRotate, PoolRemove, PoolChange, PoolGrant, PoolRevoke, PoolAccept, AgentRegister,
		SessionBegin, SessionEnd, SessionEndAll, LoginFail, KeyMake, KeyRotate, KeyRevoke, OrganizationChange,
		PolicyPush, PolicyRemove,
		LayerCreate, LayerChange, LayerRemove, LayerSync, DriftFind, DriftHeal, DriftExpect, AuditPrune, UploadExpire,
		NoticeDrop,
	}
}

func join(actions []Action) string {
	var names []string
	for _, a := range actions {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}

// Equal reports whether both were read from the same list.
func (s Selection) Equal(other Selection) bool { return slices.Equal(s.patterns, other.patterns) }

// List returns the list that it was read from; nil for the usual events.
func (s Selection) List() []string { return slices.Clone(s.patterns) }
