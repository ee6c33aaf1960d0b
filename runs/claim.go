package runs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// Worker is an executor that was recognised: an agent by its secret, or the server's own.
type Worker struct {
	ID, Name string
	Pool     string      // empty for the server's own
	Orgs     []uuid.UUID // whose runs it may take
	Had      []uuid.UUID // whose runs it may have beside, from when it might take those
	// Serves reports whether it may take runs of an organization's workspace; nil for all.
	Serves func(org uuid.UUID, workspace string) bool
	// Again recognises it once more, as it may have waited since; nil where nothing can have changed.
	Again func(context.Context) (Worker, error)
}

// stillServes reports whether the worker may take runs of an organization's workspace now: a claim waits for up to a
// minute, in which its pool may be taken away, or be lent no more. Its fault is that the worker is none any more.
func (w Worker) stillServes(ctx context.Context, org uuid.UUID, workspace string) (bool, error) {
	if w.Again == nil {
		return true, nil
	}
	now, err := w.Again(ctx)
	return err == nil && slices.Contains(now.Orgs, org) && now.Serves(org, workspace), err
}

// Claim gives the worker a stage of a run, and waits for one for as long as it says. Without
// one the assignment is nil. The same key is given the same stage again, while the worker has
// it: so does a worker that was restarted get its secrets back.
func (s *Service) Claim(ctx context.Context, w Worker, c api.AgentClaim) (*api.Assignment, error) {
	if c.Key == "" || len(c.Key) > maxMessage {
		return nil, fault.New(fault.RunInvalid, "a claim has a key of 1 to %d bytes, so that it can be repeated", maxMessage)
	}
	enough, cancel := context.WithTimeout(ctx, min(time.Duration(c.Wait)*time.Second, maxWait))
	defer cancel()
	for {
		work := s.changed.anyWork()
		run, err := s.claim(ctx, w, c)
		if err == nil && run != nil {
			assigned, err := s.assign(ctx, *run)
			if err != nil || assigned != nil {
				return assigned, err
			}
			continue // it is out of date, and nobody's
		}
		if err != nil {
			return nil, err
		}
		select {
		case <-work:
		case <-time.After(lookAgain):
		case <-enough.Done():
			return nil, nil
		}
	}
}

const (
	maxWait = 50 * time.Second
	// lookAgain is how often somebody who waits looks though nobody has told them to: another
	// node may have made work, or the time of a retry may have come.
	lookAgain = time.Second
	// A claim looks at the first run. Where that is not to be had, as others claim too, it looks at
	// so many, and at so many at most.
	claimReach = 16
	maxReach   = claimReach * 8 * 8
)

// claim returns the run that the worker has by this claim; nil for none.
func (s *Service) claim(ctx context.Context, w Worker, c api.AgentClaim) (*Run, error) {
	if run, err := s.claimedBefore(ctx, w, c.Key); err != nil || run != nil {
		return run, err
	}
	if c.Draining {
		return nil, nil
	}
	find := &search{Service: s, worker: w, seen: map[Ref]bool{}, busy: map[uuid.UUID]bool{}}
	find.by = Executor{Agent: w.ID, Name: w.Name, ClaimKey: c.Key, BootID: c.BootID}
	return find.run(ctx)
}

// search looks for a run that a worker may have. Organizations that have as many at work as they
// may stand in nobody's way, and neither do workspaces that the worker doesn't serve: then it
// looks further.
type search struct {
	*Service
	worker Worker
	by     Executor
	seen   map[Ref]bool
	busy   map[uuid.UUID]bool
}

func (f *search) run(ctx context.Context) (*Run, error) {
	orgs := f.worker.Orgs
	for reach := 1; len(orgs) > 0 && reach <= maxReach; {
		refs, err := f.Store.Claimable(ctx, ClaimQuery{Pool: f.worker.Pool, Orgs: orgs, Now: f.clock(), Limit: reach})
		if err != nil {
			return nil, err
		}
		if run, err := f.first(ctx, refs); err != nil || run != nil {
			return run, err
		}
		left := slices.DeleteFunc(slices.Clone(orgs), func(org uuid.UUID) bool { return f.busy[org] })
		switch {
		case len(left) < len(orgs):
			orgs, reach = left, max(reach, claimReach)
		case len(refs) < reach:
			return nil, nil
		default:
			reach = max(reach*8, claimReach)
		}
	}
	return nil, nil
}

// first claims the first of these runs that is to be had.
func (f *search) first(ctx context.Context, refs []Ref) (*Run, error) {
	for _, ref := range refs {
		if f.seen[ref] || f.busy[ref.Org] {
			continue
		}
		f.seen[ref] = true
		busy, err := f.isBusy(ctx, ref.Org)
		if err != nil {
			return nil, err
		}
		if f.busy[ref.Org] = busy; busy {
			continue
		}
		if run, err := f.claimOne(ctx, f.worker, ref, f.by); err != nil || run != nil {
			return run, err
		}
	}
	return nil, nil
}

// isBusy reports whether an organization has as many runs at work as it may have.
func (s *Service) isBusy(ctx context.Context, org uuid.UUID) (bool, error) {
	has, err := s.Store.Tally(ctx, org)
	return has.Working >= s.Limits.Working, err
}

func (s *Service) claimedBefore(ctx context.Context, w Worker, key string) (*Run, error) {
	had, err := s.Store.Leased(ctx, slices.Concat(w.Orgs, w.Had), w.ID)
	if err != nil {
		return nil, err
	}
	for _, run := range had {
		if run.Executor != nil && run.Executor.ClaimKey == key {
			return &run, nil
		}
	}
	return nil, nil
}

// claimOne claims a run; nil when it is not to be had after all.
func (s *Service) claimOne(ctx context.Context, w Worker, ref Ref, by Executor) (*Run, error) {
	run, err := s.Store.Run(ctx, ref)
	if err != nil || w.Serves != nil && !w.Serves(run.Org, run.Workspace) {
		return nil, ignore(err, fault.RunNotFound)
	}
	if serves, err := w.stillServes(ctx, run.Org, run.Workspace); err != nil || !serves {
		return nil, err
	}
	at, err := s.Workspaces.Workspace(ctx, run.Org, run.Workspace)
	if err != nil {
		return nil, s.unfit(ctx, run, err)
	}
	base, err := s.States.Head(ctx, run.Org, run.Workspace)
	if err != nil {
		return nil, err
	}
	if run.Status != Confirmed && run.Kind == Destroy && at.Protected {
		_, err := s.update(ctx, ref, s.by(Server()).discard("its workspace is protected from being destroyed since"))
		return nil, err
	}
	if run.Follows != "" && run.Kind.Mutates() && run.Status != Confirmed && run.Order.Snapshot != at.Snapshot {
		_, err := s.update(ctx, ref, s.by(Server()).discard("the workspace has another configuration since"))
		return nil, err
	}
	if run.Status != Confirmed && run.Pool != at.Pool {
		_, err := s.update(ctx, ref, moveTo(at.Pool))
		return nil, err
	}
	if run.Status == Confirmed && run.Terms.Revision != at.Terms.Revision {
		s.outdate(ctx, run, base, at.Terms.Revision)
		return nil, nil
	}
	if err := s.samePolicies(ctx, run); err != nil {
		return nil, ignore(err, fault.RunStale)
	}
	if by, err = s.withLogPlace(ctx, by, run); err != nil {
		return nil, err
	}
	claimed, err := s.update(ctx, ref, s.by(Server()).claim(by, base, at.Terms, s.Limits.Lease).ofRevision(run.Revision))
	switch {
	case err == nil && !claimed.Status.Leased():
		return nil, nil // it waits for people again
	case err == nil:
		return &claimed, nil
	case fault.Is(err, fault.RunStale):
		s.outdate(ctx, run, base, at.Terms.Revision)
		return nil, nil
	}
	if _, blocked := errors.AsType[*BlockedError](err); blocked {
		return nil, nil
	}
	return nil, ignore(err, fault.RunStatus)
}

// moveTo has a run wait for the agents of another pool: its variables are not for others.
func moveTo(pool string) Decide {
	return func(r Run) (Change, error) {
		if r.Status == Pending || r.Status == Retrying {
			r.Pool = pool
		}
		return Change{Run: r}, nil
	}
}

// unfit ends a run whose workspace is not there any more; other errors are the caller's.
func (s *Service) unfit(ctx context.Context, run Run, err error) error {
	if fault.From(err).Code.Kind() != fault.NotFound {
		return err
	}
	_, err = s.update(ctx, run.Ref(), s.by(Server()).discard("its workspace is gone"))
	return err
}

// ignore returns nil for an error of this code.
func ignore(err error, code fault.Code) error {
	if fault.Is(err, code) {
		return nil
	}
	return err
}

// assign makes the assignment of a run that was claimed. An apply may write from now on. It is nil
// where an apply turns out not to be of its plan any more.
func (s *Service) assign(ctx context.Context, run Run) (*api.Assignment, error) {
	inputs, all, err := s.inputsOf(ctx, run)
	if err != nil {
		return nil, err
	}
	a := run.assignment()
	if a.Inputs, err = s.inputsDigest(ctx, run, inputs); err != nil {
		return nil, err
	}
	if run.Stage == ApplyStage {
		if run.unlike(a.Inputs) {
			return nil, s.giveUpUnlike(ctx, run, inputs)
		}
		if err := s.reopen(ctx, run); err != nil {
			return nil, err
		}
	}
	if a.Token, err = s.Tokens.Sign(run, false); err != nil {
		return nil, err
	}
	if a.StateToken, err = s.Tokens.Sign(run, true); err != nil {
		return nil, err
	}
	a.Words = s.wordsOf(ctx, run, all)
	s.masks.put(run, all, a.Words, a.Token, a.StateToken)
	a.Variables, a.Environment = inputs.Variables, inputs.Environment
	if run.Stage == ApplyStage {
		a.Carried, err = s.carried(ctx, run)
	}
	return a, err
}

// assignment is what the run itself says of it.
func (r Run) assignment() *api.Assignment {
	a := &api.Assignment{
		Run: r.ID, Workspace: r.Workspace, Org: r.Org.String(), Kind: string(r.Kind), Stage: string(r.Stage),
		Attempt: r.Attempt, Epoch: r.Epoch, Lease: r.LeaseUntil, StateAddress: "/api/v1/state/" + r.Workspace,
		Snapshot: r.Order.Snapshot, Directory: r.Terms.Directory,
		Tool:    api.Tool{Name: r.Terms.Tool, Version: r.Terms.Version},
		Targets: r.Order.Targets, Replace: r.Order.Replace, NoRefresh: r.Order.NoRefresh, RefreshOnly: r.RefreshOnly(),
		Parallelism: r.Terms.Parallelism,
		Timeout:     int(r.Terms.Timeout[r.Stage] / time.Second), Grace: int(r.Terms.Grace[r.Stage] / time.Second),
		MinSandbox: r.Terms.MinSandbox, LogFrom: r.logFrom(), MaxLogBytes: r.logRoom(r.Terms.MaxLogBytes),
		Outputs: r.Terms.Outputs,
	}
	if r.Stage == ApplyStage && r.Pin != nil {
		a.Tool = api.Tool{Name: r.Pin.Tool.Name, Version: r.Pin.Tool.Version, Digest: r.Pin.Tool.Digest,
			System: r.Pin.Tool.System, Calls: r.Pin.Tool.Calls}
	}
	return a
}

// carried are the files of the plan that its apply starts from: those that are pinned, and none
// that came beside them.
func (s *Service) carried(ctx context.Context, run Run) ([]api.Artefact, error) {
	files, err := s.Store.FilesOf(ctx, run.Ref())
	if err != nil {
		return nil, err
	}
	var list []api.Artefact
	for _, f := range files {
		if f.Attempt == run.Planned && pinned(run.Pin, f) {
			list = append(list, f.Wire())
		}
	}
	return list, nil
}

// pinned reports whether a file is one that an apply starts from, as the pin has it.
func pinned(pin *api.Pin, f File) bool {
	switch {
	case pin == nil:
		return false
	case f.Kind == FilePlan:
		return f.Digest == pin.Plan
	case f.Kind == FileLock:
		return f.Digest == pin.LockFile
	case f.Kind == FilePlanFiles:
		return f.Digest == pin.PlanFiles
	}
	return false
}
