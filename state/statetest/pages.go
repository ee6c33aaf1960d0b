package statetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// listStates reads up to q.Limit states, in as many pages as the store makes of them.
func listStates(ctx context.Context, store state.Store, org uuid.UUID,
	q state.StatesQuery) (listed []state.Listed, err error) {
	for limit := q.Limit; len(listed) < limit; {
		q.Limit = limit - len(listed)
		page, err := store.States(ctx, org, q)
		if err != nil || page.Next == "" && len(page.States) <= q.Limit {
			return append(listed, page.States...), err
		}
		if err := goesOn(q, page); err != nil {
			return nil, err
		}
		listed, q.After = append(listed, page.States...), page.Next
	}
	return listed, nil
}

// goesOn refuses a page that leads nowhere, back, or past what it shows.
func goesOn(q state.StatesQuery, page state.Page) error {
	n := len(page.States)
	if n > q.Limit || page.Next <= q.After || n > 0 && page.Next < page.States[n-1].Name {
		return fmt.Errorf("States(%+v) has %d states and goes on behind %q", q, n, page.Next)
	}
	return nil
}

// listEvents reads up to q.Limit events, in as many pages as the store makes of them.
func listEvents(ctx context.Context, store state.Store, org uuid.UUID,
	q audit.Query) (events []audit.Event, err error) {
	for limit := q.Limit; len(events) < limit; {
		q.Limit = limit - len(events)
		page, err := store.Events(ctx, org, q)
		if err != nil || page.Next == 0 && len(page.Events) <= q.Limit {
			return append(events, page.Events...), err
		}
		if err := goesDown(q, page); err != nil {
			return nil, err
		}
		events, q.Before = append(events, page.Events...), page.Next
	}
	return events, nil
}

// goesDown is goesOn for events.
func goesDown(q audit.Query, page audit.Page) error {
	n := len(page.Events)
	if n > q.Limit || q.Before > 0 && page.Next >= q.Before || n > 0 && page.Next > page.Events[n-1].Sequence {
		return fmt.Errorf("Events(%+v) has %d events and goes on below %d", q, n, page.Next)
	}
	return nil
}

// checkListsEnd calls every list in a context that has ended: each says so, and shows
// nothing.
func checkListsEnd(t *testing.T, store state.Store) {
	ref := newRef("listed")
	put(t, store, ref, stateBody(1, ""))
	if err := store.Record(t.Context(), happened("one")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, list := range map[string]func() (int, error){
		"States": func() (int, error) {
			page, err := store.States(ctx, ref.Org, state.StatesQuery{Limit: 9})
			return len(page.States), err
		},
		"Names": func() (int, error) {
			l, _, err := store.Names(ctx, ref.Org, "", "", 9)
			return len(l), err
		},
		"Versions":   func() (int, error) { l, err := store.Versions(ctx, ref, 0, 9); return len(l), err },
		"Candidates": func() (int, error) { l, err := store.Candidates(ctx, ref, "", 9); return len(l), err },
		"Events": func() (int, error) {
			page, err := store.Events(ctx, ref.Org, audit.Query{Limit: 9})
			return len(page.Events), err
		},
		"Feed": func() (int, error) { l, err := store.Feed(ctx, 0, 9); return len(l), err },
		"All":  func() (int, error) { l, err := store.All(ctx, state.Ref{}, 9); return len(l), err },
	} {
		if n, err := list(); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d of them, error %v, want context.Canceled", name, n, err)
		}
	}
}

// checkPageBytes lists states whose locks have large infos, one of them more than a page: no
// page takes more than it may, and all states are on one.
func checkPageBytes(t *testing.T, store state.Store) {
	org, want := uuid.New(), []state.Name{}
	for i, size := range []int{60 << 10, 100, 60 << 10, 60 << 10, 900 << 10, 60 << 10, 60 << 10, 60 << 10, 60 << 10,
		60 << 10, 60 << 10, 60 << 10} {
		name := state.Name(fmt.Sprintf("s%02d", i))
		lock := &state.Lock{Info: parseLock(t, fmt.Sprintf(`{"ID":"i","Info":"%s"}`, strings.Repeat("x", size))),
			Since: noon(), Seen: noon()}
		put(t, store, state.Ref{Org: org, Name: name}, stateBody(1, ""))
		update(t, store, state.Ref{Org: org, Name: name}, nil, always(state.Change{Lock: lock}))
		want = append(want, name)
	}
	for _, q := range []state.StatesQuery{{Limit: 100}, {Limit: 100, Locked: true}, {Limit: 3}} {
		var got []state.Name
		for more := true; more; more = q.After != "" {
			page, err := store.States(t.Context(), org, q)
			if err == nil && page.Next != "" {
				err = goesOn(q, page)
			}
			if err != nil {
				t.Fatal(err)
			}
			var takes int64
			for _, one := range page.States {
				got, takes = append(got, one.Name), takes+one.Bytes()
			}
			if n := len(page.States); n > 1 && takes > state.PageBytes {
				t.Errorf("States(%+v): %d states take %d bytes", q, n, takes)
			}
			q.After = page.Next
		}
		suite.Equal(t, fmt.Sprintf("States(%+v)", q), want, got)
	}
}
