package sqluploads

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// load is what uploaders did until stop was closed.
type load struct {
	wg      sync.WaitGroup
	stop    chan struct{}
	refused atomic.Int64
	mu      sync.Mutex
	sent    map[uuid.UUID]map[string]int
}

func (l *load) run(t *testing.T, store inventory.Store, org uuid.UUID) {
	for i := 0; ; i++ {
		select {
		case <-l.stop:
			return
		default:
		}
		batch := batchOf(org, 1+i%5)
		for {
			_, err := store.Append(t.Context(), batch)
			if err == nil {
				break
			}
			l.refused.Add(1)
			if f := fault.From(err); f.Code != fault.StoreUnavailable || f.RetryAfter <= 0 {
				t.Errorf("error %v, want store_unavailable with a time to try again", err)
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		l.mu.Lock()
		l.sent[org][batch.ID] = len(batch.Resources)
		l.mu.Unlock()
	}
}

// TestServerKilled kills the server under load, several times. Uploads are refused while
// it is away and go on afterwards, by themselves; each batch is there once.
func TestServerKilled(t *testing.T) {
	suite.Deep(t)
	onServers(t, func(t *testing.T, on testServer) {
		server, d := on.private(t)
		store := open(t, d.Options)
		l := load{stop: make(chan struct{}), sent: map[uuid.UUID]map[string]int{}}
		for worker := range 8 {
			org := uuid.UUID{byte(1 + worker%3)}
			l.sent[org] = map[string]int{}
		}
		for worker := range 8 {
			l.wg.Go(func() { l.run(t, store, uuid.UUID{byte(1 + worker%3)}) })
		}
		for range 2 {
			time.Sleep(700 * time.Millisecond)
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(1500 * time.Millisecond)
			if err := store.Status(t.Context()); !fault.Is(err, fault.StoreUnavailable) {
				t.Errorf("status %v while the server is away, want store_unavailable", err)
			}
			if err := server.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(1500 * time.Millisecond)
		if err := store.Status(t.Context()); err != nil {
			t.Errorf("status after the server is back: %v", err)
		}
		close(l.stop)
		l.wg.Wait()
		if l.refused.Load() == 0 {
			t.Error("nothing was refused: the server was not away")
		}
		total := 0
		for org, batches := range l.sent {
			total += len(batches)
			wantOnce(t, store, org, batches)
			wantCounts(t, store, org, batches)
		}
		t.Logf("%d batches, %d refused meanwhile", total, l.refused.Load())
	})
}

// wantCounts compares the summary with what was recorded.
func wantCounts(t *testing.T, store inventory.Store, org uuid.UUID, batches map[string]int) {
	t.Helper()
	var want, got int64
	for _, n := range batches {
		want += int64(n)
	}
	groups, err := store.Summary(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		got += g.Count
	}
	if got != want {
		t.Errorf("the summary counts %d records, want %d", got, want)
	}
}

// TestReaderSurvivesRestart restarts the server between two pages.
func TestReaderSurvivesRestart(t *testing.T) {
	suite.Deep(t)
	onServers(t, func(t *testing.T, on testServer) {
		server, d := on.private(t)
		store, org := open(t, d.Options), uuid.New()
		for range 10 {
			appendTo(t, store, batchOf(org, 100))
		}
		n := 0
		for _, err := range store.Records(t.Context(), org, inventory.Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == firstRows/2 {
				if err := server.Kill(); err != nil {
					t.Fatal(err)
				}
				if err := server.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n != 1000 {
			t.Errorf("%d records, want 1000", n)
		}
	})
}
