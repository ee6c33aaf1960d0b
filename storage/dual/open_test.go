package dual

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestOpenOwnsFirstTries opens an outbox that holds debts of many organizations, and is held up at
// one of them. No side is sent anything before all are Open's to pay: were it for a payer to start
// the other side's, Open would wait for a first try that has nobody to tell of it.
func TestOpenOwnsFirstTries(t *testing.T) {
	r := newRig(t, nil)
	var rows []row
	for range 100 {
		batch := newBatch(uuid.New(), "a", 1)
		batch.At = time.Now().UTC().Truncate(time.Microsecond)
		kept, err := newRow(r.outbox.codec, batch, r.o.Now())
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, kept)
	}
	if err := r.outbox.put(rows...); err != nil {
		t.Fatal(err)
	}
	r.options.Dir = r.copyOutbox()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	o := r.options
	o.setDefaults()
	outbox, err := openOutbox(t.Context(), o.Dir, o.Log)
	if err != nil {
		t.Fatal(err)
	}
	r.Store = newStore(t.Context(), o, outbox)
	if err := r.takeIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	called, tried := make(chan struct{}), make(chan error, 1)
	var first sync.Once
	for _, side := range []*faulty{r.csv, r.mysql} {
		side.onCall = func(string, int) { first.Do(func() { close(called) }) }
	}
	heldUp := r.lane(rows[0].org)
	heldUp.mu.Lock()
	go func() { tried <- r.tryFirst(t.Context()) }()
	select {
	case <-called:
		t.Error("a side is sent something before all are Open's to pay")
	case <-time.After(100 * time.Millisecond):
	}
	heldUp.mu.Unlock()
	if err := <-tried; err != nil {
		t.Fatal(err)
	}
	if b := r.Backlog(); b["csv"]+b["mysql"] != 0 {
		t.Errorf("backlog %v", b)
	}
}

// TestOpenWaitsForWhatFollows opens an outbox with a batch that CSV has refused, because it knows
// the ID for another one, and that MySQL turns out to have: Open waits until CSV has it as well.
func TestOpenWaitsForWhatFollows(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	r.knownToOne(r.csv, org, "taken")
	r.mysql.set(lies)
	_, err := r.Append(t.Context(), newBatch(org, "taken", 3))
	wantDoubt(t, err)
	r.wantBacklog(0, 1)
	copied := r.copyOutbox()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.mysql.set(works)
	opened := make(chan struct{})
	r.csv.mu.Lock()
	r.csv.onCall = func(step string, _ int) {
		if step == "before" {
			select {
			case <-opened: // Open has not waited
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	r.csv.mu.Unlock()
	r.options.Dir = copied
	r.Store = open(t, r.options)
	if b := r.Backlog(); b["csv"] != 0 {
		t.Errorf("backlog %v when the store is open", b)
	}
	close(opened)
	if got := lines(t, r.csv, org); len(got) != 4 {
		t.Errorf("CSV has %v", got)
	}
}
