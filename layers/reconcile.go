package layers

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

// The reconciler looks at layers whose time has come. What it decides is a pure function of what is stored, and it is
// stored before it is done: whoever finds it, after a kill or on another node, does it under the same key, and so once.

const (
	// batch is how many layers one Sweep looks at.
	batch = 200
	// follow is how often a run that goes on is looked at.
	follow = 2 * time.Second
	// aside is how long a layer whose repository, workspace or runs can't be had is left alone.
	aside = time.Minute
	// turn is how long a check waits that would be more than its share.
	turn = 15 * time.Second
	// share is how long one Sweep may take over the layers of an organization, so that a repository whose host never
	// answers is in nobody else's way. What is left stays due.
	share = time.Minute
	// together is how many organizations' layers are looked at at once.
	together = 8
	// quiet is how long a layer is not looked at at most: whoever was to say that there is something new may have died.
	quiet = time.Hour
)

// Sweep looks at the layers whose time has come. It may be called by several nodes at once.
func (s *Service) Sweep(ctx context.Context) error {
	due, err := s.Store.Due(ctx, s.clock(), batch)
	if err != nil {
		return err
	}
	byOrg := map[uuid.UUID][]Ref{}
	for _, ref := range due {
		byOrg[ref.Org] = append(byOrg[ref.Org], ref)
	}
	var working sync.WaitGroup
	places := make(chan struct{}, together)
	for _, refs := range byOrg {
		places <- struct{}{}
		working.Go(func() {
			s.steps(ctx, refs)
			<-places
		})
	}
	working.Wait()
	return ctx.Err()
}

// steps does what is next for layers of one organization, for as long as its share of time lasts.
func (s *Service) steps(ctx context.Context, refs []Ref) {
	within, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	for _, ref := range refs {
		if within.Err() != nil {
			return
		}
		if err := s.Step(within, ref); err != nil {
			s.leave(ctx, ref, err)
		}
	}
}

// StateMoved has a layer looked at now, because its state is another one. No such layer is fine.
func (s *Service) StateMoved(ctx context.Context, ref Ref) error {
	l, err := s.Store.Layer(ctx, ref)
	if err != nil || l.Run != nil { // its own run is followed already
		return ignoreGone(err)
	}
	_, err = s.Store.Update(ctx, ref, func(l *Layer) (Change, error) {
		if l == nil || l.Run != nil {
			return Change{}, nil
		}
		l.Due = s.clock()
		return Change{Put: l}, nil
	})
	return err
}

// Pushed has the layers of a repository looked at now, because it may have new commits.
func (s *Service) Pushed(ctx context.Context, repository Ref) error {
	_, err := s.Store.Wake(ctx, repository.Org, repository.Name, s.clock())
	return err
}

// leave lets a layer alone for a while whose step has failed: it hurts no other one.
func (s *Service) leave(ctx context.Context, ref Ref, why error) {
	if ctx.Err() != nil {
		return
	}
	s.Log.WarnContext(ctx, "a layer can't be looked at", "layer", ref.Name, "error", why)
	_, err := s.Store.Update(ctx, ref, func(l *Layer) (Change, error) {
		if l == nil {
			return Change{}, nil
		}
		l.Says, l.Due = "it can't be looked at: "+fault.From(why).Message, s.clock().Add(aside)
		return Change{Put: l}, nil
	})
	if err != nil {
		s.Log.ErrorContext(ctx, "a layer that can't be looked at is not left alone", "layer", ref.Name, "error", err)
	}
}

// Step does what is next for a layer.
func (s *Service) Step(ctx context.Context, ref Ref) error {
	l, err := s.Store.Layer(ctx, ref)
	if fault.Is(err, fault.LayerNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if l.Run == nil && len(l.Notices) > 0 { // whoever was to tell it has died
		if err := s.tell(ctx, ref); err != nil {
			return err
		}
		if l, err = s.Store.Layer(ctx, ref); err != nil {
			return ignoreGone(err)
		}
	}
	if l.Run == nil {
		if l, err = s.decide(ctx, l); err != nil || l.Run == nil {
			return err
		}
	}
	if l.Run.ID == "" {
		return s.begin(ctx, l)
	}
	if err := s.follow(ctx, l); err != nil {
		return err
	}
	return s.tell(ctx, ref)
}

// decide looks at the branch, and records what is to be done.
func (s *Service) decide(ctx context.Context, seen Layer) (Layer, error) {
	n, trouble := s.look(ctx, seen)
	if trouble != nil && seen.Facts.Branch.ID == "" {
		return Layer{}, trouble // nothing is known of it yet
	}
	checking, err := s.Store.Checking(ctx, seen.Org)
	if err != nil {
		return Layer{}, err
	}
	standing, err := s.Runs.State(ctx, seen.Ref)
	if err != nil {
		return Layer{}, err
	}
	return s.Store.Update(ctx, seen.Ref, func(l *Layer) (Change, error) {
		if l == nil || l.Run != nil || l.Revision != seen.Revision {
			return Change{}, nil // another node was faster: it is due again
		}
		now := s.clock()
		l.Facts.State = standing
		if trouble == nil {
			l.hear(n)
		}
		action := l.judge(now)
		if trouble != nil {
			l.Says += "; the repository can't be read: " + fault.From(trouble).Message
			action.Again = sooner(action.Again, now.Add(aside))
		}
		if errors.Is(trouble, ErrNoBranch) {
			action.Run = "" // what the branch had is nobody's wish any more
		}
		l.Due = sooner(action.Again, now.Add(quiet))
		switch {
		case action.Run == "":
		case action.Run == WantCheck && checking >= s.Runs.Share():
			l.Says, l.Due = "it waits for its turn: other layers are checked for drift", now.Add(turn)
		default:
			l.start(action, now)
			l.Due = now
		}
		return Change{Put: l}, nil
	})
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// hear notes what the branch has.
func (l *Layer) hear(n news) {
	l.Facts.Trouble = n.trouble
	if n.head.ID == l.Facts.Branch.ID {
		return
	}
	l.Facts.Branch = n.head
	if n.relevant.ID != "" {
		l.Facts.Relevant, l.Facts.Declined, l.Facts.Gone = n.relevant, "", n.gone
	}
	l.Facts.Why = n.why
	l.Commits = append(n.commits, l.Commits...)
	l.keep()
}

// start records a run that is to be made.
func (l *Layer) start(a Action, now time.Time) {
	l.Sequence++
	commit := l.Facts.Branch.ID
	if a.Run == WantCheck {
		commit = l.Facts.Plan.Commit // drift is what differs from what was planned
	}
	l.Run = &Begun{
		Key: keyOf(l.Ref, l.Sequence, l.CreatedAt), Want: a.Run, Commit: commit, Why: a.Why, At: now,
		Known: l.Facts.Drift.Digest, Relevant: l.Facts.Relevant.ID,
		Whole:      a.Run == WantCheck && !l.Settings.Drift.RefreshOnly,
		MaxChanges: cmp.Or(l.Settings.MaxChanges, DefaultMaxChanges),
	}
	l.Facts.Sync = SyncFact{}
}

// begin makes the run that was decided on: its configuration first, then the run, then the note of its ID. Each may be
// done again.
func (s *Service) begin(ctx context.Context, l Layer) error {
	b, err := *l.Run, error(nil)
	has := l.Brought
	order := Order{
		Org: l.Org, Workspace: l.Name, Key: b.Key, Message: b.Why, Want: b.Want, Commit: b.Want != WantCheck,
		MaxChanges: b.MaxChanges, Whole: b.Whole,
	}
	run := ""
	if order.Snapshot = has.Snapshot; has.Commit == b.Commit && has.Path == l.Settings.Path {
		run, err = s.Runs.Begin(ctx, order)
	}
	if run == "" && (err == nil || fault.Is(err, fault.SnapshotNotFound)) {
		if order.Snapshot, err = s.bring(ctx, l); err == nil {
			run, err = s.Runs.Begin(ctx, order)
		}
	}
	if hopeless(err) {
		return s.unmade(ctx, l, fault.From(err).Message)
	}
	if err != nil {
		return err
	}
	_, err = s.Store.Update(ctx, l.Ref, func(l *Layer) (Change, error) {
		if l == nil || l.Run == nil || l.Run.Key != b.Key || l.Run.ID != "" {
			return Change{}, nil
		}
		l.Run.ID, l.Run.Snapshot = run, order.Snapshot
		l.Brought = Brought{b.Commit, l.Settings.Path, order.Snapshot}
		l.Says, l.Due = "run "+run+": "+b.Why, s.clock().Add(follow)
		return Change{Put: l}, nil
	})
	return err
}

// hopeless reports whether no run can be made of a commit, however often that is tried: it is gone, or what it has
// can't be a configuration.
func hopeless(err error) bool {
	failed, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return false
	}
	switch failed.Code.Kind() {
	case fault.Invalid, fault.TooLarge, fault.Unprocessable:
		return true
	}
	return failed.Code == fault.CommitNotFound
}

// unmade counts a run that can't be made as one that has failed: the next one may be of another commit.
func (s *Service) unmade(ctx context.Context, seen Layer, why string) error {
	b := *seen.Run
	_, err := s.Store.Update(ctx, seen.Ref, func(l *Layer) (Change, error) {
		if l == nil || l.Run == nil || l.Run.Key != b.Key || l.Run.ID != "" {
			return Change{}, nil
		}
		now := s.clock()
		l.heard(Outcome{Run: b.Key, Want: b.Want, Commit: b.Commit, Known: b.Known, Ended: now, End: EndedBad, Reason: why,
			Unmade: true}, CheckResult{}, now)
		return Change{Put: l}, nil
	})
	return err
}

func (s *Service) bring(ctx context.Context, l Layer) (string, error) {
	folders, files, err := s.reads(ctx, l, l.Run.Commit)
	if err != nil {
		return "", err
	}
	message := "commit " + l.Run.Commit + " of " + l.Settings.Repository
	return s.Workspaces.Bring(ctx, l.Org, l.Name, message, func(w io.Writer) error {
		return s.Repositories.Archive(ctx, l.Org, l.Settings.Repository, l.Run.Commit, folders, files, w)
	})
}

// follow notes where the layer's run is.
func (s *Service) follow(ctx context.Context, seen Layer) error {
	b := *seen.Run
	out, err := s.outcome(ctx, seen)
	if err != nil {
		return err
	}
	out.Want, out.Commit, out.Relevant, out.Known, out.Whole = b.Want, b.Commit, b.Relevant, b.Known, b.Whole
	var found CheckResult
	if b.Want == WantCheck && out.End == EndedWell {
		if found, err = s.Runs.Found(ctx, seen.Org, out.Run); err != nil {
			return err
		}
	}
	_, err = s.Store.Update(ctx, seen.Ref, func(l *Layer) (Change, error) {
		if l == nil || l.Run == nil || l.Run.Key != b.Key {
			return Change{}, nil
		}
		tally := l.heard(out, found, s.clock())
		return Change{Put: l, Tally: tally}, nil
	})
	return err
}

// outcome is where the layer's run is, when it was ended where a newer commit wants that.
func (s *Service) outcome(ctx context.Context, l Layer) (out Outcome, err error) {
	for ended := false; ; {
		out, err = s.Runs.Outcome(ctx, l.Org, l.Run.ID)
		if fault.Is(err, fault.RunNotFound) { // it was removed
			return Outcome{Run: l.Run.ID, Ended: s.clock(), End: Stale}, nil
		}
		if err != nil || !out.Waits || ended {
			return out, err
		}
		if ended, err = s.overtake(ctx, l, out.Run); err != nil || !ended {
			return out, err
		}
	}
}

// heard notes what became of the layer's run, and returns what that adds to the numbers of a day; nil for nothing.
func (l *Layer) heard(out Outcome, found CheckResult, now time.Time) (tally *Tally) {
	if out.Want == WantCheck && out.End == EndedWell {
		report := Compare(found.Outside, l.Settings.Ignore, l.Expected, l.Drifted, out.Run, out.Planned)
		tally = l.checked(report, out.Run, out.Planned).tally(out.Ended)
		tally.Checks, tally.Found = 1, min(tally.Drifted, 1)
		out.Found.Digest, out.Found.Count = DriftDigest(report)
		out.Changes = out.Changes && !l.excuses(found.Planned, out.Planned)
	}
	applied := l.Facts.Applied.Run
	l.Facts = l.Facts.After(out, l.Name)
	l.Run.Standing = out.Standing
	l.Run.Standing.End = out.End
	if l.Facts.Applied.Run != applied {
		if point := l.checked(nil, out.Run, now); point.Healed > 0 { // what was different is as planned
			tally = point.tally(out.Ended)
		}
	}
	if l.judge(now); out.Ended.IsZero() {
		l.Says = "run " + out.Run + ": " + cmp.Or(out.Reason, l.Run.Why)
		l.Due = now.Add(follow)
		return tally
	}
	l.Last, l.Run, l.Due = l.Run, nil, now
	return tally
}

// tell puts what people are to be told into the audit log, where notices are taken from. What is told is taken off
// the layer: it may come twice when the process dies between, but never not.
func (s *Service) tell(ctx context.Context, ref Ref) error {
	l, err := s.Store.Layer(ctx, ref)
	if err != nil || len(l.Notices) == 0 {
		return ignoreGone(err)
	}
	for _, n := range l.Notices {
		action := audit.DriftFind
		if n.Healed {
			action = audit.DriftHeal
		}
		if !s.record(ctx, audit.Event{At: s.clock(), Org: ref.Org, Actor: audit.Server(), Action: action, State: ref.Name,
			Note: "run " + n.Run + ": " + n.Text}) {
			return nil // it is tried again
		}
	}
	told := len(l.Notices)
	_, err = s.Store.Update(ctx, ref, func(l *Layer) (Change, error) {
		if l == nil || len(l.Notices) < told {
			return Change{}, nil
		}
		l.Notices = l.Notices[told:]
		return Change{Put: l}, nil
	})
	return err
}

func ignoreGone(err error) error {
	if fault.Is(err, fault.LayerNotFound) {
		return nil
	}
	return err
}
