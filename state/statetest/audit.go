package statetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// noon is a time as stores keep them.
func noon() time.Time { return time.Date(2026, 5, 6, 12, 0, 0, 123456000, time.UTC) }

// happened is an event by somebody.
func happened(note string) audit.Event {
	return audit.Event{At: noon(), Action: audit.StateWrite, Note: note, Actor: audit.Actor{KeyID: "key"}}
}

func events(note string) []audit.Event { return []audit.Event{happened(note)} }

// purge purges a version, with an event of that name.
func purge(t *testing.T, store state.Store, ref state.Ref, number uint64) {
	t.Helper()
	if err := store.Purge(t.Context(), ref, number, happened("purge")); err != nil {
		t.Fatalf("Purge(%d): %v", number, err)
	}
}

// wantEvents wants so many events of an organization.
func wantEvents(t *testing.T, store state.Store, org uuid.UUID, q audit.Query, n int) []audit.Event {
	t.Helper()
	got, err := listEvents(t.Context(), store, org, q)
	if err != nil || len(got) != n {
		t.Fatalf("Events(%+v): %d events, want %d: %v", q, len(got), n, err)
	}
	return got
}

// checkEventFields takes every field of an event on a round trip, in each way that events
// come about.
func checkEventFields(t *testing.T, store state.Store) {
	ref := newRef("fields")
	full := audit.Event{
		At: noon(), Org: ref.Org, State: string(ref.Name), Action: audit.LockForce, Version: 12, LockID: "lock\x00'",
		Refused: fault.RightMissing,
		Reason:  "because \x00 % \xff", Note: "ann@büro", Actor: audit.Actor{
			KeyID: "k'1", KeyName: "ci\x00", Subject: "repo:a/b", Role: auth.Owner, Address: "2001:db8::1", Request: "r-é",
		},
	}
	bare := full
	bare.Org, bare.State, bare.At = uuid.New(), "not/this", noon().Add(time.Hour) // the Update's own count
	update(t, store, ref, nil, always(state.Change{At: noon(), Events: []audit.Event{bare}}))
	err := store.Record(t.Context(), full)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range wantEvents(t, store, ref.Org, audit.Query{Limit: 9}, 2) {
		want := full
		want.Sequence = got.Sequence
		suite.Equal(t, "event", want, got)
		wantUTC(t, got.At)
	}
	wantHead(t, store, ref, state.Head{})
	if page, err := store.All(t.Context(), state.Ref{}, 9); err != nil || len(page) != 0 {
		t.Errorf("events alone made a state: %v, %v", page, err)
	}
}

// checkEventsAtomic wants an event with each change that was made, and none with one that
// wasn't.
func checkEventsAtomic(t *testing.T, store state.Store) {
	ref, body := newRef("atomic"), stateBody(1, "")
	wrong := describe(body)
	wrong.Number = 9
	refused := map[string]state.Decide{
		"refused": func(state.Head) (state.Change, error) {
			return state.Change{Events: events("no")}, errors.New("refused")
		},
		"wrong version": always(state.Change{Version: &wrong, Events: events("no")}),
		"no candidate":  always(state.Change{Settle: settle("x", state.Discarded), Events: events("no")}),
	}
	for name, decide := range refused {
		if _, err := store.Update(t.Context(), ref, body, decide); err == nil {
			t.Errorf("%s: the Update succeeded", name)
		}
	}
	wantEvents(t, store, ref.Org, audit.Query{Limit: 9}, 0)
	both := state.Change{At: noon(), Lock: newLock(t, "a"), Events: append(events("one"), events("two")...)}
	update(t, store, ref, nil, always(both))
	got := wantEvents(t, store, ref.Org, audit.Query{Limit: 9}, 2)
	if got[0].Note != "two" || got[1].Note != "one" {
		t.Errorf("the events came in the order %q, %q", got[1].Note, got[0].Note)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Record(ended, happened("ended")); !errors.Is(err, context.Canceled) {
		t.Errorf("Record with an ended context: %v", err)
	}
}

// checkEventOrder makes events in every way, under a clock that goes back, and reads them
// as a feed.
func checkEventOrder(t *testing.T, store state.Store) {
	ref := newRef("order")
	at := noon()
	step := func() audit.Event {
		at = at.Add(-time.Minute)
		event := happened("step")
		event.At, event.Org = at, ref.Org
		return event
	}
	for i := range uint64(3) {
		body := stateBody(i, "") // one that was not purged
		_, err := store.Update(t.Context(), ref, body, func(h state.Head) (state.Change, error) {
			event := step()
			change, err := accept(describe(body))(h)
			change.At, change.Events = event.At, []audit.Event{event}
			return change, err
		})
		n, pruned := store.Prune(t.Context(), ref, state.Pruning{Below: 1, Limit: 9}, step()) // nothing, and no event
		if err := errors.Join(err, pruned, store.Record(t.Context(), step()),
			store.Purge(t.Context(), ref, 1, step())); err != nil || n != 0 {
			t.Fatal(n, err)
		}
	}
	if n, err := store.Prune(t.Context(), ref, state.Pruning{Below: 2, Limit: 9}, step()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	update(t, store, ref, nil, always(state.Change{At: at, Delete: true}))
	expunge(t, store, ref, at.Add(time.Minute))
	feed, err := store.Feed(t.Context(), 0, 100)
	if err != nil || len(feed) != 3*3+2 {
		t.Fatalf("Feed: %d events, %v", len(feed), err)
	}
	for i, event := range feed {
		if event.Sequence != feed[0].Sequence+uint64(i) || i > 0 && event.At.Before(feed[i-1].At) {
			t.Errorf("event %d has the sequence %d and the time %v", i, event.Sequence, event.At)
		}
	}
	for i := range feed {
		page, err := store.Feed(t.Context(), feed[i].Sequence, 2)
		if err != nil {
			t.Fatal(err)
		}
		suite.Equal(t, "Feed", append([]audit.Event{}, feed[i+1:min(i+3, len(feed))]...), append([]audit.Event{}, page...))
	}
	for _, after := range []uint64{math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
		if page, err := store.Feed(t.Context(), after, 9); err != nil || len(page) != 0 {
			t.Errorf("Feed after %d: %d events, %v", after, len(page), err)
		}
	}
}

// checkEventQueries compares every filter, alone and with others, with what audit.Query
// says of itself.
func checkEventQueries(t *testing.T, store state.Store) {
	org, neighbour := uuid.New(), uuid.New()
	actions := []audit.Action{audit.StateWrite, audit.LockTake, audit.VersionPurge, audit.AccessRefused}
	for i := range 60 {
		event := happened(fmt.Sprint(i))
		event.Org, event.At = org, noon().Add(time.Duration(i/3)*time.Second)
		event.Action, event.Actor.KeyID = actions[i*7%len(actions)], fmt.Sprint("key", i%3)
		event.State = []string{"", "a", "a/b"}[i%5%3]
		if i%10 == 0 {
			event.Org = neighbour
		}
		if err := store.Record(t.Context(), event); err != nil {
			t.Fatal(err)
		}
	}
	all := wantEvents(t, store, org, audit.Query{Limit: 1000}, 54)
	for _, q := range eventQueries(all) {
		for _, q.Limit = range []int{1, 7, 1000} {
			want := slices.DeleteFunc(slices.Clone(all), func(e audit.Event) bool { return !q.Matches(e) })
			got, err := listEvents(t.Context(), store, org, q)
			if err != nil {
				t.Fatal(err)
			}
			suite.Equal(t, fmt.Sprintf("Events(%+v)", q), append([]audit.Event{}, want[:min(len(want), q.Limit)]...),
				append([]audit.Event{}, got...))
		}
	}
}

// eventQueries combines the filters.
func eventQueries(all []audit.Event) []audit.Query {
	var queries []audit.Query
	middle := all[len(all)/2]
	times := []time.Time{{}, noon(), noon().Add(-time.Hour), noon().Add(time.Hour), middle.At, middle.At.Add(1),
		middle.At.Add(-1), noon().Add(7 * time.Second)}
	for _, action := range []audit.Action{"", audit.StateWrite, audit.VersionPurge, "none"} {
		for _, name := range []string{"", "a", "a/b", "none"} {
			for _, keyID := range []string{"", "key1", "none"} {
				q := audit.Query{Action: action, State: name, KeyID: keyID}
				queries = append(queries, q)
				q.Before = middle.Sequence
				queries = append(queries, q)
			}
		}
	}
	for _, since := range times {
		for _, until := range times {
			queries = append(queries, audit.Query{Since: since, Until: until},
				audit.Query{Since: since, Until: until, State: "a", Before: middle.Sequence + 2})
		}
	}
	for _, before := range []uint64{1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
		queries = append(queries, audit.Query{Before: before})
	}
	return queries
}

// checkFeedGapless follows the feed while many write: it misses nothing, and every event
// of an acknowledged change is there.
func checkFeedGapless(t *testing.T, store state.Store) {
	const writers, writes = 4, 30
	suite.Together(t, writers+1, func(ctx context.Context, worker int) error {
		if worker == writers {
			return follow(ctx, store, writers*writes)
		}
		ref, body := newRef("feed"), stateBody(uint64(worker), "")
		for range writes {
			if _, err := store.Update(ctx, ref, body, func(h state.Head) (state.Change, error) {
				change, err := accept(describe(body))(h)
				change.At, change.Events = noon(), events("write")
				change.Events[0].Version = h.Version.Number + 1
				return change, err
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

func follow(ctx context.Context, store state.Store, events int) error {
	var after uint64
	versions := map[uuid.UUID]uint64{}
	for seen := 0; seen < events; {
		page, err := store.Feed(ctx, after, 7)
		if err != nil {
			return err
		}
		for _, event := range page {
			if event.Sequence != after+1 || event.Version != versions[event.Org]+1 {
				return fmt.Errorf("event %d of version %d follows event %d of version %d", event.Sequence, event.Version, after,
					versions[event.Org])
			}
			after, versions[event.Org] = event.Sequence, event.Version
			seen++
		}
	}
	return ctx.Err()
}
