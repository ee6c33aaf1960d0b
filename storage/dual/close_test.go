package dual

import (
	"context"
	"iter"
	"runtime"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

// heldUp is a store whose list of organizations ends when it may.
type heldUp struct {
	inventory.Store
	reached, goOn chan struct{}
}

func (h heldUp) Organizations(ctx context.Context) iter.Seq2[uuid.UUID, error] {
	return func(yield func(uuid.UUID, error) bool) {
		for org, err := range h.Store.Organizations(ctx) {
			if !yield(org, err) {
				return
			}
		}
		close(h.reached)
		<-h.goOn
	}
}

// TestCloseWhileComparing closes the store when the comparison at its start has read which
// organizations there are, and is about to look at the first.
func TestCloseWhileComparing(t *testing.T) {
	held := heldUp{inventorytest.New(), make(chan struct{}), make(chan struct{})}
	fill(t, held.Store, []filing{{uuid.UUID{1}, 0, 1}})
	s := open(t, Options{Dir: t.TempDir(), CSV: inventorytest.New(), MySQL: held, Watched: true})
	<-held.reached
	if err := s.enter(); err != nil { // as an upload does that Close has to wait for
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	for s.gate.TryRLock() { // until Close waits
		s.gate.RUnlock()
		runtime.Gosched()
	}
	close(held.goOn)
	s.leave()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Close does not return")
	}
}
