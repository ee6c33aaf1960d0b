// Package repostest holds the conformance suite of repos.Store.
package repostest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos"
)

// RunStore holds a repos.Store to its contract. open returns a new, empty one, which it closes with the test.
func RunStore(t *testing.T, open func(t *testing.T) repos.Store) {
	for _, law := range laws() {
		t.Run(law.name, func(t *testing.T) {
			if err := law.check(t.Context(), open(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

type law struct {
	name  string
	check func(context.Context, repos.Store) error
}

func laws() []law {
	return []law{
		{"Kept", kept},
		{"RefusedChange", refusedChange},
		{"Isolation", isolation},
		{"Pages", pages},
		{"OneClaims", oneClaims},
		{"HintsSinceClaim", hintsSinceClaim},
		{"LostClaim", lostClaim},
		{"OneOfEach", oneOfEach},
		{"NewestFetchCounts", newestFetchCounts},
		{"DeliveriesOnce", deliveriesOnce},
		{"DeliveriesBounded", deliveriesBounded},
		{"Removed", removed},
		{"EndedContext", endedContext},
	}
}

func begin() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 123000, time.UTC) }

func example(name string) repos.Repository {
	return repos.Repository{Name: name, ID: uuid.New(), Sealed: []byte{0, 1, 255}, CreatedAt: begin(), UpdatedAt: begin(),
		Settings:  repos.Settings{URL: "https://example.com/ü.git", Branches: []string{"main", "release/*"}, Poll: time.Hour},
		UpdatedBy: repos.Actor{KeyID: "k", Subject: "ada"}}
}

func put(ctx context.Context, s repos.Store, org uuid.UUID, r repos.Repository) (repos.Repository, error) {
	return s.Update(ctx, org, r.Name, func(*repos.Repository, int) (repos.Change, error) {
		return repos.Change{Put: &r}, nil
	})
}

func want(what string, got, wanted any) error {
	if !reflect.DeepEqual(got, wanted) {
		return fmt.Errorf("%s: %+v, not %+v", what, got, wanted)
	}
	return nil
}

func wantCode(what string, err error, code fault.Code) error {
	if !fault.Is(err, code) {
		return fmt.Errorf("%s: %v, not %s", what, err, code)
	}
	return nil
}

func kept(ctx context.Context, s repos.Store) error {
	org, r := uuid.New(), example("infra")
	made, err := put(ctx, s, org, r)
	if err != nil {
		return err
	}
	r.Org, r.Revision = org, 1
	one, errOne := s.Repository(ctx, org, "infra")
	byID, errID := s.ByID(ctx, r.ID)
	r.Settings.API, r.Sealed = "https://example.com/api", []byte("other")
	changed, errChange := put(ctx, s, org, r)
	r2 := made
	r2.Settings.API, r2.Sealed, r2.Revision = r.Settings.API, r.Sealed, 2
	return errors.Join(errOne, errID, errChange, want("made", one, made), want("by ID", byID, made),
		want("changed", changed, r2), want("ID", made.ID, r.ID), want("revision", made.Revision, int64(1)))
}

func refusedChange(ctx context.Context, s repos.Store) error {
	org, no := uuid.New(), errors.New("no")
	_, err := s.Update(ctx, org, "x", func(is *repos.Repository, count int) (repos.Change, error) {
		if is != nil || count != 0 {
			return repos.Change{}, fmt.Errorf("there is %v of %d", is, count)
		}
		r := example("x")
		return repos.Change{Put: &r}, no
	})
	_, absent := s.Repository(ctx, org, "x")
	return errors.Join(want("error", errors.Is(err, no), true), wantCode("absent", absent, fault.RepositoryNotFound))
}

func isolation(ctx context.Context, s repos.Store) error {
	org, other := uuid.New(), uuid.New()
	r, err := put(ctx, s, org, example("infra"))
	if err != nil {
		return err
	}
	_, absent := s.Repository(ctx, other, "infra")
	all, errAll := s.Repositories(ctx, other, "", 10)
	_, ok, errClaim := s.Claim(ctx, other, r.ID, uuid.NewString(), begin(), begin().Add(time.Hour))
	errHint := s.Hint(ctx, other, r.ID, begin().Add(-time.Hour))
	errFinish := s.Finish(ctx, repos.Finished{Org: other, ID: r.ID, Began: begin(), Status: repos.Status{Failures: 3}})
	_, errBegin := s.BeginDelivery(ctx, other, r.ID, []string{"a"}, begin(), begin(), 10)
	known, errKnown := s.BeginDelivery(ctx, org, r.ID, []string{"a"}, begin(), begin(), 10)
	_, errDelete := s.Update(ctx, other, "infra", func(*repos.Repository, int) (repos.Change, error) {
		return repos.Change{Delete: true}, nil
	})
	now, errNow := s.Repository(ctx, org, "infra")
	return errors.Join(wantCode("another's", absent, fault.RepositoryNotFound), errAll, errClaim, errHint, errFinish,
		errBegin, errKnown, errDelete, errNow, want("list", len(all), 0), want("claim", ok, false),
		want("delivery", known, repos.DeliveryNew),
		want("repository", now, r))
}

func pages(ctx context.Context, s repos.Store) error {
	org := uuid.New()
	for _, name := range []string{"b", "B", "a", "c"} {
		if _, err := put(ctx, s, org, example(name)); err != nil {
			return err
		}
	}
	first, err := s.Repositories(ctx, org, "", 3)
	rest, errRest := s.Repositories(ctx, org, "b", 3)
	names := func(all []repos.Repository) (names []string) {
		for _, r := range all {
			names = append(names, r.Name)
		}
		return names
	}
	return errors.Join(err, errRest, want("first", names(first), []string{"B", "a", "b"}),
		want("rest", names(rest), []string{"c"}))
}

func oneClaims(ctx context.Context, s repos.Store) error {
	org := uuid.New()
	r, err := put(ctx, s, org, example("infra"))
	if err != nil {
		return err
	}
	early, err := s.Due(ctx, begin().Add(-time.Second), 10)
	if err != nil || len(early) > 0 {
		return fmt.Errorf("%d are due before their time: %w", len(early), err)
	}
	due, err := s.Due(ctx, begin(), 10)
	if err != nil || len(due) != 1 || due[0].ID != r.ID {
		return fmt.Errorf("due are %v: %w", due, err)
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	got := 0
	for range 8 {
		all.Go(func() {
			_, ok, err := s.Claim(ctx, org, r.ID, uuid.NewString(), begin(), begin().Add(time.Minute))
			mu.Lock()
			defer mu.Unlock()
			if ok && err == nil {
				got++
			}
		})
	}
	all.Wait()
	due, err = s.Due(ctx, begin().Add(time.Second), 10)
	if err := errors.Join(err, want("claims", got, 1), want("due while it is claimed", len(due), 0)); err != nil {
		return err
	}
	if err := s.Release(ctx); err != nil {
		return err
	}
	due, err = s.Due(ctx, begin().Add(time.Second), 10)
	_, again, errAgain := s.Claim(ctx, org, r.ID, "again", begin().Add(time.Second), begin().Add(time.Minute))
	return errors.Join(err, errAgain, want("due when all claims are ended", len(due), 1),
		want("claimed again", again, true))
}

// times returns when the repository is due: between two times a second apart.
func isDue(ctx context.Context, s repos.Store, at time.Time) error {
	before, err := s.Due(ctx, at.Add(-time.Microsecond), 10)
	then, errThen := s.Due(ctx, at, 10)
	return errors.Join(err, errThen, want("due before", len(before), 0), want("due then", len(then), 1))
}

func hintsSinceClaim(ctx context.Context, s repos.Store) error {
	org := uuid.New()
	r, err := put(ctx, s, org, example("infra"))
	if err != nil {
		return err
	}
	next, soon := begin().Add(time.Hour), begin().Add(time.Minute)
	for _, hinted := range []bool{false, true} {
		at := begin()
		if hinted {
			if err := s.Hint(ctx, org, r.ID, begin().Add(2*time.Second)); err != nil {
				return err
			}
			if err := isDue(ctx, s, begin().Add(2*time.Second)); err != nil {
				return fmt.Errorf("after a hint: %w", err)
			}
			at = begin().Add(2 * time.Second)
		}
		token := uuid.NewString()
		hints, ok, err := s.Claim(ctx, org, r.ID, token, at, at.Add(10*time.Minute))
		if err != nil || !ok {
			return fmt.Errorf("claim: %v, %w", ok, err)
		}
		if hinted {
			if err := s.Hint(ctx, org, r.ID, at); err != nil {
				return err
			}
		}
		err = s.Finish(ctx, repos.Finished{Org: org, ID: r.ID, Began: at, Token: token, Hints: hints, Next: next, Soon: soon,
			Status: repos.Status{Tried: at, Heads: map[string]string{"main": "1"}}})
		if err != nil {
			return err
		}
		if err := isDue(ctx, s, map[bool]time.Time{false: next, true: soon}[hinted]); err != nil {
			return fmt.Errorf("hinted %v: %w", hinted, err)
		}
	}
	now, err := s.Repository(ctx, org, "infra")
	return errors.Join(err, want("heads", now.Status.Heads, map[string]string{"main": "1"}),
		want("revision", now.Revision, int64(1)))
}

func lostClaim(ctx context.Context, s repos.Store) error {
	org := uuid.New()
	r, err := put(ctx, s, org, example("infra"))
	if err != nil {
		return err
	}
	first, second := uuid.NewString(), uuid.NewString()
	until := begin().Add(time.Minute)
	_, ok, err := s.Claim(ctx, org, r.ID, first, begin(), until)
	if err != nil || !ok {
		return fmt.Errorf("claim: %v, %w", ok, err)
	}
	_, ok, err = s.Claim(ctx, org, r.ID, second, until, until.Add(time.Minute))
	if err != nil || !ok {
		return fmt.Errorf("a claim whose time is over: %v, %w", ok, err)
	}
	if err := s.Extend(ctx, org, r.ID, first, until.Add(time.Hour)); err != nil {
		return err
	}
	if _, ok, err = s.Claim(ctx, org, r.ID, first, until.Add(time.Minute), until.Add(2*time.Minute)); err != nil || !ok {
		return fmt.Errorf("a claim that was extended by whom it isn't: %v, %w", ok, err)
	}
	if err := s.Extend(ctx, org, r.ID, first, until.Add(time.Hour)); err != nil {
		return err
	}
	due, err := s.Due(ctx, until.Add(50*time.Minute), 10)
	if err != nil || len(due) > 0 {
		return fmt.Errorf("due while a claim is extended: %d, %w", len(due), err)
	}
	first, second = second, first
	late := repos.Finished{Org: org, ID: r.ID, Began: begin(), Token: first, Next: begin().Add(time.Hour)}
	if err := s.Finish(ctx, late); err != nil {
		return err
	}
	_, ok, err = s.Claim(ctx, org, r.ID, uuid.NewString(), until.Add(time.Second), until.Add(time.Minute))
	return errors.Join(err, want("claimed beside the second", ok, false))
}

func oneOfEach(ctx context.Context, s repos.Store) error {
	many, one := uuid.New(), uuid.New()
	for i := range 5 {
		if _, err := put(ctx, s, many, example(fmt.Sprint("r", i))); err != nil {
			return err
		}
	}
	late := example("late")
	late.UpdatedAt = begin().Add(time.Second)
	if _, err := put(ctx, s, one, late); err != nil {
		return err
	}
	due, err := s.Due(ctx, begin().Add(time.Minute), 2)
	if err != nil || len(due) != 2 || due[0].Org != many || due[1].Org != one {
		return fmt.Errorf("due are %v: %w", due, err)
	}
	return nil
}

func newestFetchCounts(ctx context.Context, s repos.Store) error {
	org := uuid.New()
	r, err := put(ctx, s, org, example("infra"))
	if err != nil {
		return err
	}
	for _, f := range []repos.Finished{{Began: begin().Add(2 * time.Second), Status: repos.Status{Bytes: 2}},
		{Began: begin().Add(time.Second), Status: repos.Status{Bytes: 1}}} {
		f.Org, f.ID = org, r.ID
		if err := s.Finish(ctx, f); err != nil {
			return err
		}
	}
	now, err := s.Repository(ctx, org, "infra")
	return errors.Join(err, want("status", now.Status.Bytes, int64(2)))
}

func deliveriesOnce(ctx context.Context, s repos.Store) error {
	org, id := uuid.New(), uuid.New()
	begun := func(at time.Time, keys ...string) error {
		known, err := s.BeginDelivery(ctx, org, id, keys, at, at.Add(-time.Minute), 100)
		return errors.Join(err, want("delivery", known, repos.DeliveryNew))
	}
	again := func(at time.Time, is repos.Delivery, keys ...string) error {
		known, err := s.BeginDelivery(ctx, org, id, keys, at, at.Add(-time.Minute), 100)
		return errors.Join(err, want(fmt.Sprint(keys), known, is))
	}
	return errors.Join(
		begun(begin(), "id:1", "body:1"),
		again(begin(), repos.DeliveryBegun, "id:1", "body:2"),
		again(begin(), repos.DeliveryBegun, "id:2", "body:1"),
		begun(begin().Add(2*time.Minute), "id:1", "body:1"), // whoever began has died
		s.EndDelivery(ctx, org, id, []string{"id:1", "body:1"}, true),
		again(begin().Add(time.Hour), repos.DeliveryDone, "id:1"),
		again(begin().Add(time.Hour), repos.DeliveryDone, "id:3", "body:1"),
		begun(begin(), "id:4"),
		s.EndDelivery(ctx, org, id, []string{"id:4"}, false),
		begun(begin(), "id:4"),
	)
}

func deliveriesBounded(ctx context.Context, s repos.Store) error {
	org, id, other := uuid.New(), uuid.New(), uuid.New()
	for i := range 5 {
		at := begin().Add(time.Duration(i) * time.Second)
		if _, err := s.BeginDelivery(ctx, org, id, []string{fmt.Sprint(i)}, at, begin(), 5); err != nil {
			return err
		}
	}
	_, full := s.BeginDelivery(ctx, org, id, []string{"5"}, begin(), begin(), 5)
	_, errOther := s.BeginDelivery(ctx, org, other, []string{"5"}, begin(), begin(), 5)
	removed, err := s.ForgetDeliveries(ctx, begin().Add(3*time.Second), 10)
	_, room := s.BeginDelivery(ctx, org, id, []string{"5"}, begin(), begin(), 5)
	return errors.Join(wantCode("one too many", full, fault.WebhooksFull), errOther, err, room,
		want("forgotten", removed, 4))
}

func removed(ctx context.Context, s repos.Store) error {
	org := uuid.New()
	r, err := put(ctx, s, org, example("infra"))
	if err != nil {
		return err
	}
	if _, err := s.BeginDelivery(ctx, org, r.ID, []string{"a"}, begin(), begin(), 5); err != nil {
		return err
	}
	_, err = s.Update(ctx, org, "infra", func(is *repos.Repository, _ int) (repos.Change, error) {
		return repos.Change{Delete: is != nil}, nil
	})
	_, absent := s.Repository(ctx, org, "infra")
	_, absentID := s.ByID(ctx, r.ID)
	forgotten, errForget := s.ForgetDeliveries(ctx, begin().Add(time.Hour), 10)
	return errors.Join(err, wantCode("by name", absent, fault.RepositoryNotFound),
		wantCode("by ID", absentID, fault.RepositoryNotFound), errForget, want("deliveries left", forgotten, 0))
}

func endedContext(ctx context.Context, s repos.Store) error {
	ended, end := context.WithCancel(ctx)
	end()
	org := uuid.New()
	if _, err := put(ended, s, org, example("infra")); err == nil {
		return errors.New("a change was made in a context that has ended")
	}
	_, absent := s.Repository(ctx, org, "infra")
	return wantCode("absent", absent, fault.RepositoryNotFound)
}
