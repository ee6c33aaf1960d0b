package csv

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// slowDisk makes a write take so long that others queue up meanwhile.
func slowDisk(d *disk) opener {
	return func(path string) (appendFile, error) {
		f, err := d.opener(path)
		return slowFile{f}, err
	}
}

type slowFile struct{ appendFile }

func (f slowFile) WriteAt(p []byte, offset int64) (int, error) {
	time.Sleep(5 * time.Millisecond)
	return f.appendFile.WriteAt(p, offset)
}

// TestGroupCommit has 200 uploads share a few writes, duplicates among them.
func TestGroupCommit(t *testing.T) {
	d, org := &disk{}, uuid.New()
	s := openIn(t, Options{Dir: t.TempDir(), open: slowDisk(d)})
	upload(t, s, newBatch(org, 1))
	d.writes.Store(0)
	const n = 200
	var wg sync.WaitGroup
	for range n {
		b := newBatch(org, 1)
		other := b
		other.Digest[0]++
		wg.Go(func() { checkTwins(t, s, b, other) })
	}
	wg.Wait()
	if writes := d.writes.Load(); writes > n/4 {
		t.Errorf("%d uploads took %d writes", n, writes)
	} else {
		t.Logf("%d uploads took %d writes", n, writes)
	}
	if got := len(names(t, s, org)); got != n+1 {
		t.Errorf("%d records, want %d", got, n+1)
	}
}

// checkTwins sends an upload three times at once, and its ID for another one: whichever
// comes first is recorded, once.
func checkTwins(t *testing.T, s *Store, b, other inventory.Batch) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	results := map[string]int{}
	for _, b := range []inventory.Batch{b, b, b, other} {
		wg.Go(func() {
			receipt, err := s.Append(t.Context(), b)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case fault.Is(err, fault.IdempotencyMismatch):
				results["mismatch"]++
			case err != nil:
				t.Errorf("Append: %v", err)
			case receipt.Replayed:
				results["replayed"]++
			default:
				results["recorded"]++
			}
		})
	}
	wg.Wait()
	if results["recorded"] != 1 || results["mismatch"] != 1 && results["mismatch"] != 3 {
		t.Errorf("%v", results)
	}
}

// TestQueue fills an organization's queue, and has callers leave it.
func TestQueue(t *testing.T) {
	org := uuid.New()
	s := openIn(t, Options{Dir: t.TempDir()})
	upload(t, s, newBatch(org, 1))
	tn := s.tenants.acquire(org)
	_ = tn.gate.acquire(t.Context()) // nothing begins
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := s.Append(ctx, newBatch(org, 1))
		left <- err
	}()
	waitQueue(tn, 1)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the one that left: %v", err)
	}
	var wg sync.WaitGroup
	for range queueLimit {
		wg.Go(func() {
			if _, err := s.Append(context.Background(), newBatch(org, 1)); err != nil {
				t.Errorf("one that waited: %v", err)
			}
		})
	}
	waitQueue(tn, queueLimit)
	if _, err := s.Append(t.Context(), newBatch(org, 1)); !fault.Is(err, fault.StoreUnavailable) ||
		fault.From(err).RetryAfter == 0 {
		t.Errorf("one too many: %v", err)
	}
	tn.gate.release()
	wg.Wait()
	s.tenants.release(tn)
	if got := len(names(t, s, org)); got != queueLimit+1 {
		t.Errorf("%d records, want %d", got, queueLimit+1)
	}
}

func waitQueue(tn *tenant, n int) {
	for {
		tn.mu.Lock()
		have := len(tn.queue)
		tn.mu.Unlock()
		if have == n {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
