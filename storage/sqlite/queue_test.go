package sqlite

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// TestContextBeforeBegin ends an update's context while it is queued.
func TestContextBeforeBegin(t *testing.T) {
	s, _ := opened(t)
	answer, ref := make(chan error), newRef("left")
	release := hold(t, s, ref.Org)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := s.Update(ctx, ref, []byte("{}"), accept(describe([]byte("{}"))))
		answer <- err
	}()
	waitQueued(t, s, 1)
	cancel()
	if err := <-answer; !errors.Is(err, context.Canceled) { // while the writer is still held
		t.Errorf("error %v, want context.Canceled", err)
	}
	if n := s.writer.Waiting(); n != 0 {
		t.Errorf("%d jobs are queued, with their bodies, after their callers have left", n)
	}
	release()
	if head, err := s.Head(t.Context(), ref); err != nil || head != (state.Head{}) {
		t.Errorf("head %+v (%v), want none", head, err)
	}
}

// TestLongQueue has very many wait: that respects the context of each.
func TestLongQueue(t *testing.T) {
	s, _ := opened(t)
	full, late := newRef("full"), newRef("late")
	release := hold(t, s, full.Org, late.Org)
	var wg sync.WaitGroup
	for range 3 * batchJobs {
		wg.Go(func() { _, _ = s.Update(context.Background(), full, nil, always(state.Change{})) })
	}
	waitQueued(t, s, 3*batchJobs)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Update(ctx, late, nil, always(state.Change{})); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want context.DeadlineExceeded", err)
	}
	release()
	wg.Wait()
}

// TestCloseUnderLoad wants every call answered, and what was acknowledged kept.
func TestCloseUnderLoad(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	var wg sync.WaitGroup
	refs, acknowledged := make([]state.Ref, 16), make([]uint64, 16)
	for i := range refs {
		refs[i] = newRef("load")
		wg.Go(func() {
			for {
				head, err := put(s, refs[i], []byte("{}"))
				if err != nil {
					if !fault.Is(err, fault.StoreUnavailable) {
						t.Errorf("error %v, want one with %s", err, fault.StoreUnavailable)
					}
					return
				}
				acknowledged[i] = head.Version.Number
			}
		})
	}
	time.Sleep(100 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	s = open(t, dir)
	defer s.Close()
	for i, ref := range refs {
		if head, err := s.Head(t.Context(), ref); err != nil || head.Version.Number != acknowledged[i] {
			t.Errorf("version %d (%v), want %d", head.Version.Number, err, acknowledged[i])
		}
	}
}

// TestProbeLeavesQueue gives up probes of a disk that hangs: they don't pile up.
func TestProbeLeavesQueue(t *testing.T) {
	s, _ := opened(t)
	defer hold(t, s)()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if err := s.probeWrite(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
	}
	if n := s.writer.Waiting(); n != 0 {
		t.Errorf("%d probes are queued, want none", n)
	}
}
