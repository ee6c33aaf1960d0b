package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// hold keeps the writer busy until the returned function is called: what is queued
// meanwhile becomes one batch. The organizations have their data keys by then.
func hold(t *testing.T, s *Store, orgs ...uuid.UUID) (release func()) {
	t.Helper()
	for _, org := range orgs {
		if _, err := s.bodies.Seals.Sealer().Of(t.Context(), org); err != nil {
			t.Fatal(err)
		}
	}
	busy, gate := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- s.submit(context.Background(), server(), 0, func(*session) error {
			close(busy)
			<-gate
			return nil
		})
	}()
	<-busy
	return func() {
		close(gate)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func newOrgs(n int) []uuid.UUID {
	orgs := make([]uuid.UUID, n)
	for i := range orgs {
		orgs[i] = uuid.New()
	}
	return orgs
}

// waitQueued waits until n jobs stand in the queue.
func waitQueued(t *testing.T, s *Store, n int) {
	t.Helper()
	for range 1000 {
		if s.writer.Waiting() >= n {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%d jobs are queued, want %d", s.writer.Waiting(), n)
}

// TestGroupCommit wants all that queues up to share a commit.
func TestGroupCommit(t *testing.T) {
	s, _ := opened(t)
	orgs := newOrgs(200)
	release := hold(t, s, orgs...)
	before := s.writer.Commits()
	var wg sync.WaitGroup
	for i, org := range orgs {
		wg.Go(func() {
			if _, err := put(s, state.Ref{Org: org, Name: state.Name(fmt.Sprint(i))}, []byte("{}")); err != nil {
				t.Error(err)
			}
		})
	}
	waitQueued(t, s, 200)
	release()
	wg.Wait()
	if commits := s.writer.Commits() - before; commits != 2 {
		t.Errorf("%d commits, want that of the job that held the writer and one for 200 updates", commits)
	}
}

// TestBadJob puts jobs that fail, in every way there is, among good ones.
func TestBadJob(t *testing.T) {
	bad := map[string]func(*session) error{
		"constraint": func(t *session) error {
			_, err := t.rowsOf(state.Ref{}).AddVersion(1<<40, describe(nil),
				stateengine.Stored{Encoding: stateengine.EncodingRaw, Bytes: []byte{}})
			return err
		},
		"connection": func(t *session) error {
			// Half of its work is done when the connection breaks.
			if _, err := t.rowsOf(state.Ref{}).insert(&t.addState, "half", "half"); err != nil {
				return err
			}
			return driver.ErrBadConn
		},
	}
	for name, run := range bad {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t)
			orgs := newOrgs(20)
			release := hold(t, s, orgs...)
			var wg sync.WaitGroup
			refs := make([]state.Ref, len(orgs))
			for i, org := range orgs {
				refs[i] = state.Ref{Org: org, Name: "good"}
				wg.Go(func() {
					if _, err := put(s, refs[i], []byte("{}")); err != nil {
						t.Errorf("a good update beside a bad one: %v", err)
					}
				})
				if i == len(refs)/2 {
					wg.Go(func() {
						if err := s.submit(context.Background(), server(), 0, run); err == nil {
							t.Error("the bad job has no error")
						}
					})
				}
			}
			waitQueued(t, s, len(refs)+1)
			release()
			wg.Wait()
			for _, ref := range refs {
				wantBody(t, s, ref, []byte("{}"))
			}
			var states int
			row := s.session.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM states")
			if err := row.Scan(&states); err != nil || states != len(refs) {
				t.Errorf("%d states (%v), want %d", states, err, len(refs))
			}
		})
	}
}

// TestPanickingDecision fails one update, not the writer.
func TestPanickingDecision(t *testing.T) {
	s, _ := opened(t)
	ref := newRef("panic")
	mustPut(t, s, ref, []byte("{}"))
	_, err := s.Update(t.Context(), ref, nil, func(state.Head) (state.Change, error) { panic("oh") })
	if err == nil || fault.From(err).Code != fault.InternalError || !strings.Contains(err.Error(), "oh") {
		t.Errorf("error %v, want an internal one that tells of the panic", err)
	}
	mustPut(t, s, ref, []byte("{}"))
}

// TestRefusalAfterCommit wants a refusal that rests on a change of the same batch to be
// answered only once that change is certain.
func TestRefusalAfterCommit(t *testing.T) {
	s, _ := opened(t)
	ref := newRef("refused")
	refused := errors.New("already there")
	release := hold(t, s, ref.Org)
	answers := make(chan error, 2)
	go func() {
		_, err := put(s, ref, []byte("{}"))
		answers <- err
	}()
	waitQueued(t, s, 1)
	before := s.writer.Commits()
	go func() {
		_, err := s.Update(context.Background(), ref, nil, func(h state.Head) (state.Change, error) {
			if h.Exists() {
				return state.Change{}, refused
			}
			return state.Change{}, nil
		})
		if s.writer.Commits() == before {
			t.Error("the refusal came before the commit")
		}
		answers <- err
	}()
	waitQueued(t, s, 2)
	release()
	if err := errors.Join(<-answers, <-answers); !errors.Is(err, refused) {
		t.Errorf("errors %v, want the refusal", err)
	}
}
