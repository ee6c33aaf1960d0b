package state

import (
	"context"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

// RunRef names a run, and which of its executors is meant.
type RunRef struct {
	ID    string
	Epoch int64
}

// Fence says which run may lock and write a state, in which of its epochs: that one alone,
// and only while it is open. Whoever comes with a key is not bound by it.
type Fence struct {
	Run   string // empty before there was any run
	Epoch int64
	Open  bool
}

// admits reports whether the fence lets a run pass.
func (f Fence) admits(run RunRef) bool {
	return f.Open && f.Run == run.ID && f.Epoch == run.Epoch
}

// Fence sets what the writes of runs are decided by, from the moment that it returns, and
// returns the head that goes with it. A fence is replaced by one of the same run with an
// epoch that is at least as high, or by an open one of another run: whoever runs runs sees
// to it that only one of them may change a state. To close another run's fence does nothing:
// it took the place of the own one before. Its faults are RunFenced, when the run has a
// higher epoch already, NameInvalid and the store's.
//
// It has no caller: only the server itself decides who may write, never a request.
func (s *Service) Fence(ctx context.Context, ref Ref, f Fence) (Head, error) {
	if _, err := ParseName(string(ref.Name)); err != nil {
		return Head{}, err
	}
	return s.store.Update(ctx, ref, nil, s.ownCall(ref).decideFence(f))
}

// HeadOf returns what is known of a state, to the server itself: a run is pinned by it.
func (s *Service) HeadOf(ctx context.Context, ref Ref) (Head, error) {
	if _, err := ParseName(string(ref.Name)); err != nil {
		return Head{}, err
	}
	return s.store.Head(ctx, ref)
}

// ReleaseFor frees the lock that a run holds, in whatever epoch it took it, once it is known
// or decided that its executor does not work any more: the lock's ID is never granted again.
// It returns what was freed; nil when the run holds no lock, because somebody asked before.
// It is recorded as the server's own, with the reason.
func (s *Service) ReleaseFor(ctx context.Context, ref Ref, run, reason string) (*Lock, error) {
	if _, err := ParseName(string(ref.Name)); err != nil {
		return nil, err
	}
	var released *Lock
	if _, err := s.store.Update(ctx, ref, nil, s.ownCall(ref).decideReleaseFor(run, reason, &released)); err != nil {
		return nil, err
	}
	if released != nil {
		s.ended.ofRuns.Add(1)
		s.log.WarnContext(ctx, "a run's lock released", "run", run, "lock_id", released.Info.ID, "reason", reason)
	}
	return released, nil
}

// SeenFor is a sign of life of the run that holds the lock, from its executor's lease: an
// apply may be busy for hours without writing. It does nothing unless the fence admits the
// run and the run holds the lock.
func (s *Service) SeenFor(ctx context.Context, ref Ref, run RunRef) error {
	_, err := s.store.Update(ctx, ref, nil, s.ownCall(ref).decideSeenFor(run))
	return err
}

// ownCall is a call that the server makes for itself.
func (s *Service) ownCall(ref Ref) call {
	return call{actor: audit.Server(), at: s.clock(), policy: s.policies.Policy(ref.Org, string(ref.Name))}
}

// decideFence sets the fence.
func (c call) decideFence(f Fence) Decide {
	return func(h Head) (Change, error) {
		switch now := h.Fence; {
		case f == now, f.Run != now.Run && !f.Open:
			return Change{}, nil
		case f.Run == now.Run && f.Epoch < now.Epoch:
			return Change{}, fault.New(fault.RunFenced, "run %s is at epoch %d on this state, and can't go back to epoch %d",
				f.Run, now.Epoch, f.Epoch)
		}
		return Change{At: c.at, Fence: &f}, nil
	}
}

// decideReleaseFor frees the run's lock, and reports it in *released.
func (c call) decideReleaseFor(run, reason string, released **Lock) Decide {
	return func(h Head) (Change, error) {
		*released = nil // an earlier call may not have counted
		if h.Lock == nil || run == "" || h.Lock.Run.ID != run {
			return Change{}, nil
		}
		*released = h.Lock
		change := Change{At: c.at}
		c.release(&change, h, true, audit.LockForce)
		for i := range change.Events {
			change.Events[i].Reason = reason
		}
		return change, nil
	}
}

// decideSeenFor notes that the lock's holder lives.
func (c call) decideSeenFor(run RunRef) Decide {
	return func(h Head) (Change, error) {
		holds := h.Lock != nil && run.ID != "" && h.Lock.Run.ID == run.ID
		if !holds || !h.Fence.admits(run) {
			return Change{}, nil
		}
		return Change{At: c.at, Seen: true}, nil
	}
}
