package state

import (
	"cmp"
	"context"
	"time"

	"github.com/holdfast/holdfast/audit"
)

// How much one step of a sweep takes at once: others write between the steps.
const (
	sweepPage  = 200 // states looked at
	sweepPiece = 100 // versions removed
)

// Sweep removes what the organizations' policies no longer keep: old versions, and states
// whose grace period after a deletion is over. One of these with open candidates stays until
// somebody has decided on them, which the log asks for. Sweep works in small pieces, can be
// stopped at any point by ctx, and goes on next time with whatever is left. A state that can't
// be swept keeps no other from it; the first such error is returned.
func (s *Service) Sweep(ctx context.Context) error {
	if err := s.expunge(ctx, Ref{}, time.Time{}); err != nil { // what a crash left of the last sweep
		return err
	}
	var after Ref
	var first error
	left := undecided{}
	defer func() { left.log(ctx, s.log) }()
	for {
		page, err := s.store.All(ctx, after, sweepPage)
		if err != nil || len(page) == 0 {
			return cmp.Or(first, err)
		}
		for _, one := range page {
			err := s.sweep(ctx, one, left)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			first = cmp.Or(first, err)
		}
		after = page[len(page)-1].Ref
	}
}

func (s *Service) sweep(ctx context.Context, one Located, left undecided) error {
	policy, now := s.policies.Policy(one.Ref.Org, string(one.Ref.Name)), s.clock()
	if one.Head.Deleted && policy.Grace > 0 && now.Sub(one.Head.DeletedAt) >= policy.Grace {
		open, err := s.store.Candidates(ctx, one.Ref, "", 0)
		if err != nil {
			return err
		}
		if len(open) == 0 {
			return s.expunge(ctx, one.Ref, now.Add(-policy.Grace))
		}
		left.add(one.Ref, len(open))
	}
	return s.trim(ctx, one, policy, now)
}

// trim removes a state's old versions.
func (s *Service) trim(ctx context.Context, one Located, policy Policy, now time.Time) error {
	var p Pruning
	if keep := uint64(policy.KeepVersions); keep > 0 && one.Head.Version.Number > keep {
		p.Below = one.Head.Version.Number - keep + 1
	}
	if policy.KeepFor > 0 {
		p.Before = now.Add(-policy.KeepFor)
	}
	if p == (Pruning{}) {
		return nil
	}
	p.Limit, p.Now = sweepPiece, now
	if newest := one.Head.Version.CreatedAt; newest.After(now) {
		p.Now = newest // now may be what is wrong, and then what was written lately only looks ahead
	}
	return s.prune(ctx, one.Ref, p)
}

func (s *Service) prune(ctx context.Context, ref Ref, p Pruning) error {
	for {
		removed, err := s.store.Prune(ctx, ref, p, s.serverEvent(ref, audit.VersionsPrune))
		if err != nil || removed < p.Limit {
			return err
		}
	}
}

func (s *Service) expunge(ctx context.Context, ref Ref, before time.Time) error {
	for {
		done, err := s.store.Expunge(ctx, ref, before, sweepPiece, s.serverEvent(ref, audit.StateExpire))
		if err != nil || done {
			return err
		}
	}
}

func (s *Service) serverEvent(ref Ref, action audit.Action) audit.Event {
	return audit.Event{At: s.clock(), Org: ref.Org, Actor: audit.Server(), Action: action, State: string(ref.Name)}
}
