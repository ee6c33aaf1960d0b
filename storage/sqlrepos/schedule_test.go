package sqlrepos_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/repos"
)

func (s repositories) due(at time.Time, limit int) []repos.Repository {
	s.t.Helper()
	due, err := s.Due(s.t.Context(), at, limit)
	s.must(err)
	return due
}

// claim claims a repository, and wants that to succeed or not.
func (s repositories) claim(r repos.Repository, token string, now, until time.Time, wanted bool) (hints int64) {
	s.t.Helper()
	hints, ok, err := s.Claim(s.t.Context(), r.Org, r.ID, token, now, until)
	if err != nil || ok != wanted {
		s.t.Fatalf("claimed: %v, want %v, %v", ok, wanted, err)
	}
	return hints
}

// wantDue wants the only repository to be due at a time, and not before.
func (s repositories) wantDue(at time.Time) {
	s.t.Helper()
	want(s.t, "due before", len(s.due(at.Add(-time.Microsecond), 10)), 0)
	want(s.t, "due then", len(s.due(at, 10)), 1)
}

func TestConcurrentClaims(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		r := s.put(uuid.New(), example("infra"))
		want(t, "due before their time", len(s.due(begin().Add(-time.Second), 10)), 0)
		if due := s.due(begin(), 10); len(due) != 1 || due[0].ID != r.ID {
			t.Errorf("due are %v", due)
		}
		var got atomic.Int64
		suite.Together(t, 8, func(ctx context.Context, _ int) error {
			_, ok, err := s.Claim(ctx, r.Org, r.ID, uuid.NewString(), begin(), begin().Add(time.Minute))
			if ok {
				got.Add(1)
			}
			return err
		})
		want(t, "claims", got.Load(), int64(1))
		want(t, "due while it is claimed", len(s.due(begin().Add(time.Second), 10)), 0)
		s.must(s.Release(t.Context()))
		want(t, "due when all claims are ended", len(s.due(begin().Add(time.Second), 10)), 1)
		s.claim(r, "again", begin().Add(time.Second), begin().Add(time.Minute), true)
	})
}

func TestHintsDuringAClaim(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		ctx, r := t.Context(), s.put(uuid.New(), example("infra"))
		next, soon := begin().Add(time.Hour), begin().Add(time.Minute)
		fetch := func(at time.Time, hinted bool) {
			t.Helper()
			token := uuid.NewString()
			hints := s.claim(r, token, at, at.Add(10*time.Minute), true)
			if hinted {
				s.must(s.Hint(ctx, r.Org, r.ID, at))
			}
			s.must(s.Finish(ctx, repos.Finished{Org: r.Org, ID: r.ID, Began: at, Token: token, Hints: hints,
				Next: next, Soon: soon, Status: repos.Status{Tried: at, Heads: map[string]string{"main": "1"}}}))
		}
		fetch(begin(), false)
		s.wantDue(next)
		hinted := begin().Add(2 * time.Second)
		s.must(s.Hint(ctx, r.Org, r.ID, hinted))
		s.wantDue(hinted)
		fetch(hinted, true)
		s.wantDue(soon)
		now := s.get(r.Org, "infra")
		want(t, "heads", now.Status.Heads, map[string]string{"main": "1"})
		want(t, "revision", now.Revision, int64(1))
	})
}

func TestLostClaim(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		ctx, r := t.Context(), s.put(uuid.New(), example("infra"))
		first, second := uuid.NewString(), uuid.NewString()
		until := begin().Add(time.Minute)
		s.claim(r, first, begin(), until, true)
		s.claim(r, second, until, until.Add(time.Minute), true) // the time of the first one is over
		// The first one has no claim to extend, until it gets another.
		s.must(s.Extend(ctx, r.Org, r.ID, first, until.Add(time.Hour)))
		s.claim(r, first, until.Add(time.Minute), until.Add(2*time.Minute), true)
		s.must(s.Extend(ctx, r.Org, r.ID, first, until.Add(time.Hour)))
		want(t, "due while a claim is extended", len(s.due(until.Add(50*time.Minute), 10)), 0)
		s.must(s.Finish(ctx, repos.Finished{Org: r.Org, ID: r.ID, Began: begin(), Token: second,
			Next: begin().Add(time.Hour)})) // too late
		s.claim(r, uuid.NewString(), until.Add(time.Second), until.Add(time.Minute), false)
	})
}

// One of each organization is due before the second of any.
func TestDueOfSeveralOrganizations(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		many, one := uuid.New(), uuid.New()
		for i := range 5 {
			s.put(many, example(fmt.Sprint("r", i)))
		}
		late := example("late")
		late.UpdatedAt = begin().Add(time.Second)
		s.put(one, late)
		if due := s.due(begin().Add(time.Minute), 2); len(due) != 2 || due[0].Org != many || due[1].Org != one {
			t.Errorf("due are %v", due)
		}
	})
}

func TestNewestFetchCounts(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		r := s.put(uuid.New(), example("infra"))
		for _, f := range []repos.Finished{{Began: begin().Add(2 * time.Second), Status: repos.Status{Bytes: 2}},
			{Began: begin().Add(time.Second), Status: repos.Status{Bytes: 1}}} {
			f.Org, f.ID = r.Org, r.ID
			s.must(s.Finish(t.Context(), f))
		}
		want(t, "status", s.get(r.Org, "infra").Status.Bytes, int64(2))
	})
}
