// Package sessiontest is the suite that every session.Store passes.
package sessiontest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/session"
)

// RunStore holds a store to the contract. open returns an empty one, by two handles: of two nodes,
// where a store can have them.
func RunStore(t *testing.T, open func(t *testing.T) (one, other session.Store)) {
	for name, law := range Laws() {
		t.Run(name, func(t *testing.T) {
			one, other := open(t)
			if err := law(t.Context(), one, other); err != nil {
				t.Error(err)
			}
		})
	}
}

// Law is a sentence of the contract. It returns how a store breaks it.
type Law func(ctx context.Context, one, other session.Store) error

// Laws are all of them.
func Laws() map[string]Law {
	return map[string]Law{
		"what was added is there, whole": addedIsThere, "holders are bounded": holdersAreBounded,
		"the newest stays":        newestStays,
		"organizations are apart": orgsAreApart, "touch": touch, "remove": remove, "remove all": removeAll, "sweep": sweep,
		"sweep is bounded": sweepIsBounded, "two at once": twoAtOnce,
	}
}

var (
	acme   = uuid.MustParse("11111111-2222-3333-4444-555555555555")
	globex = uuid.MustParse("66666666-7777-8888-9999-aaaaaaaaaaaa")
	start  = time.Date(2026, 11, 22, 12, 0, 0, 123456000, time.UTC)
)

// made is a session whose token has a number.
func made(org uuid.UUID, key string, n int) session.Session {
	at := start.Add(time.Duration(n) * time.Minute)
	return session.Session{
		Hash: session.Hash(sha256.Sum256(fmt.Append(nil, org, key, n))), Login: auth.Login{Org: org, KeyID: key},
		Began: at, Seen: at, Ends: at.Add(8 * time.Hour), Address: "192.0.2.1", Agent: "a browser",
	}
}

func add(ctx context.Context, s session.Store, all ...session.Session) error {
	for _, one := range all {
		if _, err := s.Add(ctx, one, 1000); err != nil {
			return err
		}
	}
	return nil
}

func addedIsThere(ctx context.Context, one, other session.Store) error {
	want := made(acme, "oidc.people", 1)
	want.Login.Subject, want.Login.Rule, want.Agent = "sub é", "f1", `"quoted"`
	if err := add(ctx, one, want); err != nil {
		return err
	}
	for _, s := range []session.Store{one, other} {
		got, found, err := s.Session(ctx, acme, want.Hash)
		if err != nil || !found || got != want {
			return fmt.Errorf("found %t, %v:\n%+v\nwant\n%+v", found, err, got, want)
		}
	}
	return wantAll(ctx, other, want.Holder(), want)
}

// wantAll wants a holder to have these sessions, in this order.
func wantAll(ctx context.Context, s session.Store, of session.Holder, want ...session.Session) error {
	got, err := s.Sessions(ctx, of)
	if err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("%v has %d sessions, %v:\n%+v\nwant\n%+v", of, len(got), err, got, want)
	}
	return nil
}

func holdersAreBounded(ctx context.Context, one, other session.Store) error {
	bystander := made(acme, "b", 0)
	if err := add(ctx, one, bystander); err != nil {
		return err
	}
	var kept []session.Session
	for n := range 40 {
		s := []session.Store{one, other}[n%2]
		next := made(acme, "a", n)
		gone, err := s.Add(ctx, next, 3)
		if err != nil {
			return err
		}
		kept = append([]session.Session{next}, kept...)
		if want := kept[min(len(kept), 3):]; !slices.Equal(gone, want) {
			return fmt.Errorf("after %d: %+v made room, want %+v", n, gone, want)
		}
		kept = kept[:min(len(kept), 3)]
	}
	if err := wantAll(ctx, other, bystander.Holder(), bystander); err != nil {
		return err
	}
	return wantAll(ctx, one, session.Holder{Org: acme, KeyID: "a"}, kept...)
}

// A clock that is behind does not make the new one go.
func newestStays(ctx context.Context, one, _ session.Store) error {
	if err := add(ctx, one, made(acme, "a", 100), made(acme, "a", 101)); err != nil {
		return err
	}
	late := made(acme, "a", 1)
	if _, err := one.Add(ctx, late, 1); err != nil {
		return err
	}
	return wantAll(ctx, one, late.Holder(), late)
}

func orgsAreApart(ctx context.Context, one, other session.Store) error {
	ours, theirs := made(acme, "a", 1), made(globex, "a", 1)
	if err := add(ctx, one, ours, theirs); err != nil {
		return err
	}
	if _, found, err := one.Session(ctx, globex, ours.Hash); found || err != nil {
		return fmt.Errorf("another organization has the session: %v", err)
	}
	if removed, err := one.Remove(ctx, globex, ours.Hash); removed || err != nil {
		return fmt.Errorf("another organization could remove it: %v", err)
	}
	if err := one.Touch(ctx, globex, ours.Hash, start.Add(time.Hour)); err != nil {
		return err
	}
	if n, err := other.RemoveAll(ctx, theirs.Holder()); n != 1 || err != nil {
		return fmt.Errorf("removed %d, %v", n, err)
	}
	return wantAll(ctx, one, ours.Holder(), ours)
}

func touch(ctx context.Context, one, other session.Store) error {
	a, b := made(acme, "a", 1), made(acme, "a", 2)
	if err := add(ctx, one, a, b); err != nil {
		return err
	}
	later := start.Add(time.Hour)
	for _, at := range []time.Time{later, start} { // the second is from a node whose clock is behind
		if err := other.Touch(ctx, acme, a.Hash, at); err != nil {
			return err
		}
	}
	a.Seen = later
	if err := wantAll(ctx, one, a.Holder(), a, b); err != nil {
		return err
	}
	if _, err := one.Remove(ctx, acme, a.Hash); err != nil {
		return err
	}
	if err := other.Touch(ctx, acme, a.Hash, later.Add(time.Hour)); err != nil {
		return err
	}
	return wantAll(ctx, one, b.Holder(), b)
}

func remove(ctx context.Context, one, other session.Store) error {
	a, b := made(acme, "a", 1), made(acme, "a", 2)
	if err := add(ctx, one, a, b); err != nil {
		return err
	}
	if removed, err := one.Remove(ctx, acme, a.Hash); !removed || err != nil {
		return fmt.Errorf("not removed, %v", err)
	}
	if removed, err := other.Remove(ctx, acme, a.Hash); removed || err != nil {
		return fmt.Errorf("removed twice, %v", err)
	}
	if _, found, err := other.Session(ctx, acme, a.Hash); found || err != nil {
		return fmt.Errorf("it is still there, %v", err)
	}
	return wantAll(ctx, other, b.Holder(), b)
}

func removeAll(ctx context.Context, one, other session.Store) error {
	a, person := made(acme, "a", 1), made(acme, "oidc.people", 1)
	person.Login.Subject = "ana"
	second := made(acme, "oidc.people", 2)
	second.Login.Subject = "bob"
	if err := add(ctx, one, a, made(acme, "a", 2), person, second); err != nil {
		return err
	}
	if n, err := other.RemoveAll(ctx, a.Holder()); n != 2 || err != nil {
		return fmt.Errorf("removed %d, %v", n, err)
	}
	if n, err := one.RemoveAll(ctx, person.Holder()); n != 1 || err != nil {
		return fmt.Errorf("removed %d of one person's, %v", n, err)
	}
	if err := wantAll(ctx, one, a.Holder()); err != nil {
		return err
	}
	return wantAll(ctx, one, second.Holder(), second)
}

func sweep(ctx context.Context, one, other session.Store) error {
	idle, over, going := made(acme, "a", 1), made(globex, "a", 2), made(acme, "a", 3)
	over.Seen, over.Ends = start.Add(5*time.Hour), start.Add(5*time.Hour)
	going.Seen = start.Add(4 * time.Hour)
	if err := add(ctx, one, idle, over, going); err != nil {
		return err
	}
	now := start.Add(5 * time.Hour)
	if n, err := other.Sweep(ctx, now, now.Add(-time.Hour), 100); n != 2 || err != nil { // seen an hour ago is not before
		return fmt.Errorf("removed %d, %v; want 2", n, err)
	}
	if n, err := other.Sweep(ctx, now, now.Add(-time.Hour), 100); n != 0 || err != nil {
		return fmt.Errorf("removed %d more, %v", n, err)
	}
	return wantAll(ctx, one, going.Holder(), going)
}

func sweepIsBounded(ctx context.Context, one, _ session.Store) error {
	for n := range 7 {
		if err := add(ctx, one, made(acme, "a", n)); err != nil {
			return err
		}
	}
	for _, want := range []int{3, 3, 1, 0} {
		if n, err := one.Sweep(ctx, start.Add(100*time.Hour), start.Add(99*time.Hour), 3); n != want || err != nil {
			return fmt.Errorf("removed %d, %v; want %d", n, err, want)
		}
	}
	return nil
}

// Those who sign in at once keep to the bound too.
func twoAtOnce(ctx context.Context, one, other session.Store) error {
	var wait sync.WaitGroup
	failed := make([]error, 20)
	for n := range failed {
		wait.Go(func() { _, failed[n] = []session.Store{one, other}[n%2].Add(ctx, made(acme, "a", n), 4) })
	}
	wait.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	all, err := one.Sessions(ctx, session.Holder{Org: acme, KeyID: "a"})
	if err != nil || len(all) != 4 {
		return fmt.Errorf("%d sessions, %v", len(all), err)
	}
	return nil
}
