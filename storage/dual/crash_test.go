package dual

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// TestCrash dies between any two steps of an upload and of a replay, and goes on with
// what the files had at that moment.
func TestCrash(t *testing.T) {
	for _, mysql := range []mode{works, fails, lies} {
		for _, side := range []string{"csv", "mysql"} {
			for _, step := range []string{"before", "after"} {
				t.Run(fmt.Sprint("mysql ", int(mysql), " ", step, " ", side), func(t *testing.T) {
					t.Parallel()
					crashAt(t, mysql, side, step)
				})
			}
		}
	}
}

func crashAt(t *testing.T, m mode, side, step string) {
	r := newRig(t, nil)
	org := uuid.New()
	var want []string
	for _, id := range []string{"a", "b"} {
		batch := newBatch(org, id, 2)
		want = append(want, linesOf(batch, r.mustAppend(batch).At)...)
	}
	r.mysql.set(m)
	watched := map[string]*faulty{"csv": r.csv, "mysql": r.mysql}[side]
	copied := r.copyOnce(watched, step)
	crashed := newBatch(org, "crashed", 100)
	r.mustAppend(crashed)
	r.goOn(<-copied)
	r.heal()
	// The client had no answer and sends it again.
	receipt := r.mustAppend(crashed)
	want = append(want, linesOf(crashed, receipt.At)...)
	last := newBatch(org, "last", 1)
	want = append(want, linesOf(last, r.mustAppend(last).At)...)
	r.settled()
	r.wantBoth(org, want)
}

// copyOnce copies the files at the next such step of a side.
func (r *rig) copyOnce(watched *faulty, step string) <-chan string {
	copied := make(chan string, 1)
	var once atomic.Bool
	watched.mu.Lock()
	defer watched.mu.Unlock()
	watched.onCall = func(at string, _ int) {
		if at == step && once.CompareAndSwap(false, true) {
			copied <- r.copyOutbox()
		}
	}
	return copied
}

// TestCrashAfterAnswer loses nothing that was acknowledged, whatever of it was settled.
func TestCrashAfterAnswer(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	var want []string
	for i := range 12 {
		r.mysql.set([]mode{works, fails, works, lies}[i%4])
		for j := range 3 {
			batch := newBatch(org, fmt.Sprint(i, "-", j), 2)
			want = append(want, linesOf(batch, r.mustAppend(batch).At)...)
		}
		r.crash()
	}
	r.heal()
	r.wantBoth(org, want)
	if got := len(want); got != 72 {
		t.Errorf("%d records", got)
	}
}

// appendWhenever uploads as a client does: again while both sides are away. On a busy
// machine 50 milliseconds may be too short for the side that works.
func (r *rig) appendWhenever(batch inventory.Batch) error {
	for {
		_, err := r.Append(r.t.Context(), batch)
		if !fault.Is(err, fault.StoreUnavailable) {
			return err
		}
	}
}

// TestOrderWhileReplaying uploads while debts are paid.
func TestOrderWhileReplaying(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.SideTimeout = 50 * time.Millisecond })
	orgs := []uuid.UUID{uuid.New(), uuid.New()}
	done := make(chan error, 8)
	for worker := range 8 {
		go func() {
			var err error
			for i := range 40 {
				batch := newBatch(orgs[worker%2], fmt.Sprint(worker, "-", i), 1+i%3)
				if e := r.appendWhenever(batch); e != nil && err == nil {
					err = e
				}
			}
			done <- err
		}()
	}
	for i := range 60 {
		r.mysql.set([]mode{works, fails, flaps}[i%3])
		if err := r.Status(t.Context()); i%2 == 0 && err != nil {
			t.Logf("status: %v", err)
		}
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	r.heal()
	for _, org := range orgs {
		got := lines(t, r.csv, org)
		if len(got) != 4*79 {
			t.Errorf("%d records, want %d", len(got), 4*79)
		}
		r.wantBoth(org, got)
		if !slices.IsSortedFunc(got, compareTimes) {
			t.Error("timestamps go backwards")
		}
	}
}
