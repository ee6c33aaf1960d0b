package pulls

import (
	"context"
	"strings"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos/forge"
)

// ActionAllow is that somebody lets a fork's commit be planned; Note names it.
const ActionAllow audit.Action = "pulls.allow"

// claimPatience is how long Allow waits for who looks at the pull request at this moment, and claimPace how often it
// asks.
const (
	claimPatience = 20 * time.Second
	claimPace     = 50 * time.Millisecond
)

// Allow lets a fork's pull request be planned, as `holdfast plan COMMIT` in a comment does: at the one commit, whose
// name is given, or its begin. Faults: PullNotFound, PullsOff, PullMoved, Busy.
func (s *Service) Allow(ctx context.Context, p auth.Principal, ref Ref, commit string) (Pull, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ApproveRun); err != nil {
		return Pull{}, err
	}
	ref.Org = p.Org
	if !isDigest(commit) {
		return Pull{}, fault.New(fault.ParameterInvalid, "a commit is named by 8 to 64 hexadecimal digits")
	}
	if err := s.mayAllow(ctx, p, ref); err != nil {
		return Pull{}, err
	}
	token := s.Token()
	found, hints, err := s.claimNow(ctx, ref, token)
	if err != nil {
		return Pull{}, err
	}
	defer func() {
		now := s.clock()
		_ = s.Store.Finish(context.WithoutCancel(ctx), ref, token, hints, now, now) // else the claim ends by itself
	}()
	switch {
	case found.At.State != forge.Open:
		return Pull{}, fault.New(fault.PullMoved, "the pull request is %s", found.At.State)
	case !strings.HasPrefix(found.At.Head, commit):
		return Pull{}, fault.New(fault.PullMoved, "the pull request is at another commit, %s: look at that", found.At.Head)
	case !found.At.Fork:
		return found.shownTo(p), nil
	}
	found.Allowed = &Allowed{Commit: found.At.Head, By: forge.User{Login: nameOf(p)}, At: s.clock()}
	err = audit.Before(ctx, s.Audit, audit.Event{At: s.clock(), Org: p.Org, Actor: audit.ActorOf(p), Action: ActionAllow,
		Note: found.name() + " at " + found.At.Head}, func() error {
		kept, err := s.Store.Save(ctx, found, token)
		if err == nil && !kept {
			err = fault.New(fault.ChangedMeanwhile, "the pull request is looked at at this moment; try again")
		}
		return err
	})
	return found.shownTo(p), err
}

// mayAllow asks whether there is such a pull request, and whether the caller may have its layers planned.
func (s *Service) mayAllow(ctx context.Context, p auth.Principal, ref Ref) error {
	set, err := s.Store.Settings(ctx, p.Org, ref.Repository)
	if err != nil {
		return err
	}
	if set.Off() {
		return off(ref.Repository)
	}
	found, there, err := s.Store.Pull(ctx, ref)
	if err != nil {
		return err
	}
	if !there {
		return notFound(ref)
	}
	for _, plan := range found.Plans {
		if err := s.Gate.AuthorizeFound(ctx, p, auth.ApproveRun, plan.Layer); err != nil {
			return err
		}
	}
	return nil
}

// claimNow claims a pull request, when nobody else has it.
func (s *Service) claimNow(ctx context.Context, ref Ref, token string) (Pull, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	for {
		if err := s.Hint(ctx, ref); err != nil {
			return Pull{}, 0, err
		}
		now := s.clock()
		p, hints, ok, err := s.Store.Claim(ctx, ref, token, now, now.Add(claimPatience))
		if err != nil || ok {
			return p, hints, err
		}
		select {
		case <-ctx.Done():
			return Pull{}, 0, fault.New(fault.ChangedMeanwhile, "the pull request is looked at at this moment; try again")
		case <-time.After(claimPace):
		}
	}
}

func nameOf(p auth.Principal) string {
	for _, name := range []string{p.Subject, p.KeyName} {
		if name != "" {
			return name
		}
	}
	return p.KeyID
}

func notFound(ref Ref) error {
	return fault.New(fault.PullNotFound, "no pull request %d of %.100q is known here", ref.Number, ref.Repository)
}

func off(repository string) error {
	return fault.New(fault.PullsOff, "the pull requests of %.100q are left alone; its settings can change that", repository)
}
