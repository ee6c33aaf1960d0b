package linear_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/linear"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

var org = uuid.MustParse("11111111-2222-3333-4444-555555555555")

type onlyKey struct{}

func (onlyKey) Verify(context.Context, auth.Credentials, auth.Client) (auth.Principal, error) {
	return auth.Principal{Org: org, KeyID: "k", Grant: auth.Grant{Role: auth.Owner}}, nil
}

// node serves the store, and returns a client of it.
func node(t *testing.T, store state.Store) *client.Client {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	router, err := handlers.NewRouter(handlers.Deps{
		States: state.NewService(store, state.DefaultPolicies{}, time.Now, log), Verifier: onlyKey{},
		Log: log, Now: time.Now, Version: "test", MaxStateBytes: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	return client.New(client.Options{Address: server.URL, Org: org, Key: "key"})
}

// workload has twelve clients of three nodes, each of which has a store of its own above the
// one that they share.
func workload(t *testing.T, calls int, above func(state.Store) state.Store) linear.Workload {
	t.Helper()
	shared := memory.New(64 << 20)
	t.Cleanup(func() { _ = shared.Close() })
	w := linear.Workload{Clients: 12, Hot: 2, Length: 200, Calls: calls, Patience: 10 * time.Second,
		Seed: uint64(time.Now().UnixNano())}
	for range 3 {
		w.Nodes = append(w.Nodes, node(t, above(shared)))
	}
	t.Logf("seed %d", w.Seed)
	return w
}

const patience = time.Minute // for one state's history

// glance is for one state's history where another workload may show the same.
const glance = 10 * time.Second

// A store that keeps its promises passes, also when answers get lost.
func TestRightStores(t *testing.T) {
	for name, above := range map[string]func(state.Store) state.Store{
		"as it is":      func(s state.Store) state.Store { return s },
		"loses answers": func(s state.Store) state.Store { return &forgetful{Store: s} },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "as it is" {
				suite.Deep(t)
			}
			h := workload(t, 3000, above).Run(t.Context())
			calls, lost := h.Size()
			t.Logf("%d calls, of which %d without an answer", calls, lost)
			for _, failed := range h.Check(patience, t.TempDir()) {
				t.Error(failed)
			}
			if name == "loses answers" && lost == 0 {
				t.Error("no answer got lost: the test shows less than it should")
			}
		})
	}
}

// A store that is broken is found out, and drawn.
func TestBrokenStores(t *testing.T) {
	suite.Deep(t)
	for name, above := range map[string]func(state.Store) state.Store{
		"checks, then writes":              checksThenWrites,
		"serves an old version":            newStale,
		"tries a lost commit again":        func(s state.Store) state.Store { return &twice{Store: s} },
		"loses what it has acknowledged":   func(s state.Store) state.Store { return &lossy{Store: s} },
		"sees the head of a moment ago":    func(s state.Store) state.Store { return &dated{Store: s} },
		"grants a lock that is held":       func(s state.Store) state.Store { return &generous{Store: s} },
		"lets a late write of others pass": func(s state.Store) state.Store { return &unfenced{Store: s} },
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 { // what it breaks depends on who comes when
				failed := workload(t, 2000, above).Run(t.Context()).Check(glance, t.TempDir())
				for _, f := range failed {
					if !f.Decided {
						continue
					}
					if picture, err := os.ReadFile(f.Picture); err != nil || len(picture) == 0 {
						t.Errorf("the picture: %d bytes, %v", len(picture), err)
					}
					return
				}
			}
			t.Error("nobody noticed")
		})
	}
}

// bent is an Update of a broken store.
type bent struct {
	next   state.Store
	ref    state.Ref
	body   []byte
	decide state.Decide
}

func (b bent) update(ctx context.Context, decide state.Decide) (state.Head, error) {
	return b.next.Update(ctx, b.ref, b.body, decide)
}

// again records a change that was decided before, on whatever the head is by now.
func (b bent) again(ctx context.Context, change state.Change) (state.Head, error) {
	return b.update(ctx, func(h state.Head) (state.Change, error) {
		forced := change
		if forced.Version != nil {
			version := *forced.Version
			version.Number = h.Version.Number + 1
			forced.Version = &version
		}
		return forced, nil
	})
}

// forgetful says of some changes that it does not know, as a store does whose commit was cut off.
type forgetful struct {
	state.Store
	calls atomic.Int64
}

var errLost = fault.New(fault.StoreUnavailable, "the commit was cut off")

func (s *forgetful) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	switch s.calls.Add(1) % 10 {
	case 0:
		return state.Head{}, errLost
	case 5:
		if _, err := s.Store.Update(ctx, ref, body, decide); err != nil {
			return state.Head{}, err
		}
		return state.Head{}, errLost
	}
	return s.Store.Update(ctx, ref, body, decide)
}

// checking decides on a head that others may change before the write.
type checking struct{ state.Store }

func checksThenWrites(s state.Store) state.Store { return checking{s} }

func (s checking) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	head, err := s.Head(ctx, ref)
	if err != nil {
		return state.Head{}, err
	}
	change, err := decide(head)
	if err != nil {
		return state.Head{}, err
	}
	time.Sleep(time.Millisecond)
	after, err := bent{s.Store, ref, body, nil}.again(ctx, change)
	if err == nil && change.Version != nil {
		after.Version = *change.Version
	}
	return after, err
}

// stale is a map of newest versions that hears nothing of what other nodes write.
type stale struct {
	state.Store
	mu   sync.Mutex
	seen map[state.Ref]state.Snapshot
}

func newStale(s state.Store) state.Store {
	return &stale{Store: s, seen: map[state.Ref]state.Snapshot{}}
}

func (s *stale) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	s.mu.Lock()
	kept, ok := s.seen[ref]
	s.mu.Unlock()
	if ok {
		return kept, nil
	}
	snapshot, err := s.Store.Current(ctx, ref)
	if err == nil {
		s.mu.Lock()
		s.seen[ref] = snapshot
		s.mu.Unlock()
	}
	return snapshot, err
}

func (s *stale) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	head, err := s.Store.Update(ctx, ref, body, decide)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, ref)
	return head, err
}

// twice takes some commits for lost and makes them again, without a look at what became of them.
type twice struct {
	state.Store
	calls atomic.Int64
}

func (s *twice) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	var made state.Change
	head, err := s.Store.Update(ctx, ref, body, func(h state.Head) (state.Change, error) {
		change, err := decide(h)
		made = change
		return change, err
	})
	if err != nil || made.Version == nil || s.calls.Add(1)%5 != 0 {
		return head, err
	}
	return bent{s.Store, ref, body, nil}.again(ctx, made)
}

// lossy acknowledges some changes that it does not record.
type lossy struct {
	state.Store
	calls atomic.Int64
}

func (s *lossy) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	if s.calls.Add(1)%20 != 0 {
		return s.Store.Update(ctx, ref, body, decide)
	}
	head, err := s.Head(ctx, ref)
	if err != nil {
		return head, err
	}
	change, err := decide(head)
	if err != nil {
		return head, err
	}
	return head.After(change, len(body))
}

// dated answers what holds the lock from a look a moment ago.
type dated struct {
	state.Store
	mu   sync.Mutex
	seen map[state.Ref]state.Head
}

func (s *dated) Head(ctx context.Context, ref state.Ref) (state.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, ok := s.seen[ref]
	head, err := s.Store.Head(ctx, ref)
	if s.seen == nil {
		s.seen = map[state.Ref]state.Head{}
	}
	s.seen[ref] = head
	if ok {
		return before, nil
	}
	return head, err
}

// generous overlooks a lock now and then.
type generous struct {
	state.Store
	calls atomic.Int64
}

func (s *generous) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	return s.Store.Update(ctx, ref, body, func(h state.Head) (state.Change, error) {
		if s.calls.Add(1)%15 == 0 {
			h.Lock = nil
		}
		return decide(h)
	})
}

// unfenced sends some writes a second time, long after they were answered.
type unfenced struct {
	state.Store
	calls atomic.Int64
}

func (s *unfenced) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	var made state.Change
	head, err := s.Store.Update(ctx, ref, body, func(h state.Head) (state.Change, error) {
		change, err := decide(h)
		made = change
		return change, err
	})
	if err == nil && made.Version != nil && s.calls.Add(1)%7 == 0 {
		late := context.WithoutCancel(ctx)
		time.AfterFunc(5*time.Millisecond, func() { _, _ = bent{s.Store, ref, body, nil}.again(late, made) })
	}
	return head, err
}
