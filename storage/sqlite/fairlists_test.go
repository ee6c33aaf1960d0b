package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// busyLists are lists that don't end until they are let go.
type busyLists struct {
	running atomic.Int64
	began   chan struct{}
	goOn    chan struct{}
	all     sync.WaitGroup
	once    sync.Once
}

// occupy begins so many lists of an organization.
func (b *busyLists) occupy(t *testing.T, s *Store, org uuid.UUID, lists int) {
	for range lists {
		b.all.Go(func() {
			err := s.list(context.Background(), org, func(context.Context, *reader) error {
				b.running.Add(1)
				b.began <- struct{}{}
				<-b.goOn
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func newBusyLists(t *testing.T) *busyLists {
	b := &busyLists{began: make(chan struct{}, 100), goOn: make(chan struct{})}
	t.Cleanup(b.release)
	return b
}

// release lets all of them end.
func (b *busyLists) release() {
	b.once.Do(func() { close(b.goOn) })
	b.all.Wait()
}

// wantReads makes every call that no list may keep waiting.
func wantReads(t *testing.T, s *Store, ref state.Ref) {
	t.Helper()
	mustPut(t, s, ref, []byte("{}"))
	wantBody(t, s, ref, []byte("{}"))
	head, err := s.Head(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Version(t.Context(), ref, head.Version.Number)
	s.ready = stateengine.NewReadiness()
	err = errors.Join(err, s.Ready(t.Context()), s.Purge(t.Context(), ref, head.Version.Number, audit.Event{}))
	if err != nil {
		t.Error(err)
	}
}

// wantEveryList makes every list of an organization, and the server's own.
func wantEveryList(t *testing.T, s *Store, ref state.Ref) {
	t.Helper()
	_, states := s.States(t.Context(), ref.Org, state.StatesQuery{Limit: 9})
	_, versions := s.Versions(t.Context(), ref, 0, 9)
	_, candidates := s.Candidates(t.Context(), ref, "", 9)
	_, events := s.Events(t.Context(), ref.Org, audit.Query{KeyID: "nobody", Limit: 9})
	_, feed := s.Feed(t.Context(), 0, 9)
	_, all := s.All(t.Context(), state.Ref{}, 9)
	if err := errors.Join(states, versions, candidates, events, feed, all); err != nil {
		t.Error(err)
	}
}

// TestOneOrganizationsLists has one organization ask for a hundred lists that don't end: it
// gets one reader, and everything of another one goes on.
func TestOneOrganizationsLists(t *testing.T) {
	s, _ := opened(t)
	b, other := newBusyLists(t), newRef("other")
	b.occupy(t, s, uuid.New(), 100)
	<-b.began
	wantReads(t, s, other)
	wantEveryList(t, s, other)
	if n := b.running.Load(); n != listsEach {
		t.Errorf("%d lists of one organization run at once, want %d", n, listsEach)
	}
}

// TestEverybodysLists has lists take all the readers that there are for them: who reads
// single states, writes or purges is not kept waiting.
func TestEverybodysLists(t *testing.T) {
	s, _ := opened(t)
	b := newBusyLists(t)
	for range 2 * listerCount {
		b.occupy(t, s, uuid.New(), 2)
	}
	for range listerCount {
		<-b.began
	}
	wantReads(t, s, newRef("other"))
	if n := b.running.Load(); n != listerCount {
		t.Errorf("%d lists run at once, want %d", n, listerCount)
	}
}

// endless never comes to its first row.
const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0"

func askEndless(ctx context.Context, s *Store) error {
	_, err := list(ctx, s, uuid.UUID{1}, endless, nil,
		func(scan stateengine.Scan) (n int, err error) { return n, scan(&n) })
	return err
}

// TestListsAreInterrupted ends lists in the middle of a query: by their callers, and for
// taking too long. The readers are good for more.
func TestListsAreInterrupted(t *testing.T) {
	s, _ := opened(t)
	ref := newRef("after")
	mustPut(t, s, ref, []byte("{}"))
	for range 2 * listerCount {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if err := askEndless(ctx, s); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller who left: %v", err)
		}
		cancel()
	}
	s.patient = time.Millisecond
	for range 2 * listerCount {
		wantFault(t, askEndless(t.Context(), s), fault.Overloaded)
	}
	s.patient = listTime
	for range 2 * listerCount {
		wantEveryList(t, s, ref)
	}
}

// TestLooksAreBounded asks for what hardly any row has: each call looks at so many rows and
// no more, and says where it goes on.
func TestLooksAreBounded(t *testing.T) {
	s, _ := opened(t)
	s.looks = 100
	s.session.listEvery = 2
	org := uuid.UUID{7}
	const n = 1500
	mustPut(t, s, state.Ref{Org: org, Name: "s1490"}, []byte("{}"))
	err := s.transact(t.Context(), server(), func(w *session) error {
		for i := range n {
			event := audit.Event{Org: org, Action: audit.StateWrite, State: "s", Actor: audit.Actor{KeyID: "often"}}
			if i == 5 {
				event.Action, event.Actor.KeyID = audit.StateUndelete, "once"
			}
			if err := errors.Join(w.recordEvent(event),
				w.run("INSERT OR IGNORE INTO states (org, name, deleted_at) VALUES (?, ?, ?)", org.String(),
					fmt.Sprintf("s%04d", i), i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []audit.Query{{KeyID: "once"}, {State: "s", Action: audit.StateUndelete},
		{State: "s", KeyID: "once"}} {
		calls, found := 0, 0
		for q.Limit = 10; calls == 0 || q.Before > 0; calls++ {
			page, err := s.Events(t.Context(), org, q)
			if err != nil {
				t.Fatal(err)
			}
			if looked := max(q.Before, n+1) - page.Next; calls > 0 && page.Next > 0 && q.Before-page.Next > uint64(s.looks) ||
				looked == 0 {
				t.Fatalf("%+v looked at %d events", q, looked)
			}
			found, q.Before = found+len(page.Events), page.Next
		}
		if found != 1 || calls < n/s.looks {
			t.Errorf("%+v found %d events in %d calls", q, found, calls)
		}
	}
	for name, q := range map[string]state.StatesQuery{"there": {Limit: 10},
		"deleted": {Limit: 10, Deleted: state.OnlyDeleted}} {
		calls, found := 0, 0
		for ; calls == 0 || q.After != ""; calls++ {
			page, err := s.States(t.Context(), org, q)
			if err != nil {
				t.Fatal(err)
			}
			found, q.After = found+len(page.States), page.Next
		}
		if want := map[string]int{"there": 1}[name]; found != want || calls < n/s.looks {
			t.Errorf("%s: found %d states in %d calls", name, found, calls)
		}
	}
}

// TestOneOrganizationsBodies has one organization read as many bodies as it is let, and
// never come to their end: what another one reads goes on.
func TestOneOrganizationsBodies(t *testing.T) {
	s, _ := opened(t)
	var all sync.WaitGroup
	held, goOn := make(chan struct{}, 100), make(chan struct{})
	org := uuid.New()
	for range 100 {
		all.Go(func() {
			release, err := s.bodyTurn(context.Background(), org)
			if err != nil {
				t.Error(err)
				return
			}
			held <- struct{}{}
			<-goOn
			release()
		})
	}
	for range bodiesEach {
		<-held
	}
	other := newRef("other")
	wantReads(t, s, other)
	wantEveryList(t, s, other)
	if n := len(held); n != 0 {
		t.Errorf("%d bodies of one organization are read at once, want %d", n+bodiesEach, bodiesEach)
	}
	close(goOn)
	all.Wait()
}

// ending is a context that ends when it was asked so many times whether it has ended. The
// driver asks from a goroutine of its own too.
type ending struct {
	context.Context
	asks atomic.Int64
	end  context.CancelFunc
}

func (e *ending) Done() <-chan struct{} {
	if e.asks.Add(-1) == 0 {
		e.end()
	}
	return e.Context.Done()
}

// TestPagesEndWithTheirTime lets a list's time end everywhere in its course: a page either
// fails with nothing, or ends with what it has and goes on there.
func TestPagesEndWithTheirTime(t *testing.T) {
	s, _ := opened(t)
	s.looks, s.session.listEvery = 40, 2
	org, short := uuid.UUID{7}, map[string]int{}
	var names []state.Name
	for i := range 3 {
		names = append(names, state.Name(fmt.Sprint("s", i, "0")))
		mustPut(t, s, state.Ref{Org: org, Name: names[i]}, []byte("{}"))
	}
	err := s.transact(t.Context(), server(), func(w *session) (err error) {
		for i := range 30 { // states that are not to be listed, and events of others' keys
			name := fmt.Sprintf("s%02d", i)
			err = errors.Join(err, w.run("INSERT OR IGNORE INTO states (org, name) VALUES (?, ?)", org.String(), name),
				w.recordEvent(audit.Event{Org: org, Action: audit.StateWrite, State: name}))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r := <-s.listers
	defer func() { s.listers <- r }()
	within := func(asks int, what string, list func(context.Context) (n int, on bool, err error)) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		limited := &ending{Context: ctx, end: end}
		limited.asks.Store(int64(asks))
		n, on, err := list(limited)
		if err != nil && (n > 0 || on || !errors.Is(err, context.Canceled)) {
			t.Errorf("%s after %d: %d of them and %v", what, asks, n, err)
		}
		if err == nil && ctx.Err() != nil && on {
			short[what]++
		}
	}
	for asks := 1; asks < 40; asks++ {
		var got []state.Name
		within(asks, "states", func(ctx context.Context) (int, bool, error) {
			all := statesOf{r, org, listOf(state.StatesQuery{}), s.bodies.Seals.Listed(ctx, org)}
			page, err := stateengine.States(ctx, all, state.StatesQuery{Limit: 5}, s.looks)
			for _, one := range page.States {
				got = append(got, one.Name)
			}
			if n := len(got); err == nil &&
				(!slices.Equal(got, names[:n]) || page.Next != "" && n < len(names) && page.Next >= names[n]) {
				t.Errorf("after %d: %v, and on behind %q", asks, got, page.Next)
			}
			return len(got), page.Next != "", err
		})
		within(asks, "events", func(ctx context.Context) (int, bool, error) {
			page, err := stateengine.Events(ctx, eventsOf{r, listFor(org, audit.Query{KeyID: "nobody"})}, 0, math.MaxInt64, 5,
				s.looks)
			return len(page.Events), page.Next > 0, err
		})
	}
	if short["states"] == 0 || short["events"] == 0 {
		t.Errorf("pages ended early and went on: %v", short)
	}
}
