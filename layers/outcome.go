package layers

import (
	"cmp"
	"time"
)

// Outcome is where a run that a layer has begun is, or how it has ended.
type Outcome struct {
	Run  string
	Want Want
	// Commit is what it planned, and Relevant what changed the layer last when it was begun.
	Commit, Relevant string
	// Base is the version of the state that it planned on, and After the one that its apply has left; 0 for none.
	Base, After uint64
	// Whole says that a check is a whole plan, whose changes count too.
	Whole bool
	// Planned is when it had its plan; zero where it has none.
	Planned time.Time
	Changes bool   // that the plan would do something
	Digest  string // of the plan's changes
	// Known is the digest of the drift that was known when the run was begun.
	Known string
	// Found is the drift that a check, or the plan, has found.
	Found DriftFact

	Ended  time.Time // zero while it goes on
	End    End
	Reason string
	GaveUp bool // it was tried by itself as often as it may be
	Waits  bool // a person is to say yes to it
	// Standing is where it is; the End is that of the outcome.
	Standing RunStanding
	Unmade   bool // there is no such run: Run is the key that it would have had
}

// End is how a run has ended, as far as a layer is concerned.
type End string

// The ends.
const (
	EndedWell End = "well" // planned, for what only plans; applied, where there was something to apply
	EndedBad  End = "bad"
	Refused   End = "refused" // somebody said no to it, or cancelled it
	Stale     End = "stale"   // its plan can't be applied any more
)

// After are the facts when the outcome is known. It may be called again with the same outcome, and is the same then.
func (f Facts) After(o Outcome, layer string) Facts {
	if o.Want == WantCheck {
		return f.afterCheck(o, layer)
	}
	if !o.Planned.IsZero() && f.Plan.Run != o.Run {
		f.Plan = PlanFact{Run: o.Run, Commit: o.Commit, At: o.Planned, Changes: o.Changes, Digest: o.Digest, Drift: o.Known,
			State: o.Base}
		f.State.Version = o.Base
		f.Checked, f.Failures = o.Planned, f.Failures.looked()
	}
	if o.Ended.IsZero() {
		return f
	}
	switch o.End {
	case EndedWell:
		if o.After != 0 && f.Plan.Run == o.Run {
			f.Plan.State, f.State = o.After, StateFact{Version: o.After}
		}
		if f.Stale, f.Failures = (Staleness{}), f.Failures.looked(); o.Want != WantPlan {
			f.Failures = Failures{}
		}
		if o.Want != WantPlan && o.Changes && f.Applied.Run != o.Run {
			f.Applied = AppliedFact{Run: o.Run, Plan: f.Plan.Run, Commit: o.Commit, At: o.Ended, Digest: o.Digest}
			f.Drift, f.Plan.Drift = DriftFact{Run: o.Run, At: o.Ended}, ""
		}
	case EndedBad:
		return f.afterFailure(o, layer)
	case Stale:
		return f.afterStale(o, layer)
	case Refused:
		if f.Declined = o.Digest; o.Planned.IsZero() {
			f.Failures = Failures{Count: 1, Run: o.Run, Commit: o.Commit, Reason: o.Reason, Plan: true, Final: true}
		}
	}
	return f
}

func (f Facts) afterCheck(o Outcome, layer string) Facts {
	switch {
	case o.Ended.IsZero():
	case o.End == EndedWell:
		f.Checked, f.Failures = o.Planned, f.Failures.looked()
		found := o.Found
		if found.Run, found.At = o.Run, o.Planned; found.Digest != "" {
			found.Since = o.Planned
			if f.Drift.Digest != "" {
				found.Since = f.Drift.Since
			}
		}
		f.Drift = found
		if o.Whole && found.Digest == f.Plan.Drift { // else another plan is needed anyway
			f = f.planned(o)
		}
	case o.End == EndedBad:
		return f.afterFailure(o, layer)
	default:
		f.Checked = o.Ended // somebody wants none now
	}
	return f
}

// planned are the facts once a whole plan has found the world as the last plan knew it. That one stays, unless the
// whole plan would do something else.
func (f Facts) planned(o Outcome) Facts {
	was := f.Plan.outstanding(f.Applied)
	if was != o.Changes || was && f.Plan.Digest != o.Digest {
		f.Plan = PlanFact{Run: o.Run, Commit: f.Plan.Commit, At: o.Planned, Changes: o.Changes, Digest: o.Digest,
			Drift: f.Plan.Drift}
	}
	f.Plan.State, f.State.Version = o.Base, o.Base
	return f
}

// afterFailure counts a failure once.
func (f Facts) afterFailure(o Outcome, layer string) Facts {
	if f.Failures.Run == o.Run {
		return f
	}
	n, applied := 1, o.Want != WantCheck && o.Want != WantPlan && !o.Planned.IsZero()
	if f.Failures.Commit == f.Relevant.ID {
		n, applied = n+f.Failures.Count, applied || f.Failures.Apply
	}
	f.Failures = Failures{
		Count: n, Run: o.Run, Commit: f.Relevant.ID, Reason: cmp.Or(o.Reason, "the run has failed"), Final: o.GaveUp,
		Unmade:  o.Unmade,
		Plan:    o.Want != WantCheck && o.Planned.IsZero(),
		Apply:   applied,
		RetryAt: o.Ended.Add(Grace(n, Jitter(layer, o.Ended.UnixMicro()))).Truncate(time.Microsecond),
	}
	return f
}

// looked are the failures once the layer was planned or checked well. Those of applies count until an apply goes well.
func (f Failures) looked() Failures {
	if !f.Apply {
		return Failures{}
	}
	f.Plan = false
	return f
}

// afterStale counts, once, a plan that went stale. The first one is made again at once, and those behind it later and
// later. What a newer commit has overtaken does not count.
func (f Facts) afterStale(o Outcome, layer string) Facts {
	if f.Stale.Run == o.Run || o.Relevant != f.Relevant.ID {
		return f
	}
	made := Staleness{Count: 1, Run: o.Run, Commit: f.Relevant.ID, RetryAt: o.Ended}
	if f.Stale.Commit == f.Relevant.ID {
		made.Count += f.Stale.Count
	}
	if n := made.Count - 1; n > 0 {
		made.RetryAt = o.Ended.Add(Grace(n, Jitter(layer, o.Ended.UnixMicro()))).Truncate(time.Microsecond)
	}
	f.Stale = made
	return f
}
