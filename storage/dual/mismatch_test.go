package dual

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// TestMismatch answers a client's mistake as such, and owes nothing for it, when no side may
// have recorded the batch. Else it is no certain refusal before both sides have answered, which
// they do in the end: nobody has it then, and no operator is told.
func TestMismatch(t *testing.T) {
	for m := works; m <= rejects; m++ {
		r := newRig(t, nil)
		org := uuid.New()
		batch, reused := newBatch(org, "taken", 2), newBatch(org, "taken", 3)
		want := linesOf(batch, r.mustAppend(batch).At)
		r.mysql.set(m)
		_, err := r.Append(t.Context(), reused)
		if m == works || m == rejects {
			wantCode(t, "Append of another batch", err, fault.IdempotencyMismatch)
			if b := r.Backlog(); b["csv"]+b["mysql"] != 0 {
				t.Errorf("backlog: %v", b)
			}
		} else {
			wantDoubt(t, err)
			r.wantBacklog(0, 1)
		}
		r.crash()
		r.heal()
		r.wantBoth(org, want)
		if n := len(r.letters()); n != 0 {
			t.Errorf("%d dead letters", n)
		}
		_, err = r.Append(t.Context(), reused)
		wantCode(t, "Append of another batch, again", err, fault.IdempotencyMismatch)
	}
}

// wantDoubt wants the answer that it is not known whether a side has the batch.
func wantDoubt(t *testing.T, err error) {
	t.Helper()
	wantCode(t, "Append in doubt", err, fault.StoreUnavailable)
	if fault.From(err).RetryAfter == 0 {
		t.Errorf("%v: it does not say when to try again", err)
	}
}

// wantBacklog waits until the sides are owed so many batches.
func (r *rig) wantBacklog(csv, mysql int64) {
	r.t.Helper()
	if !soon(func() bool { b := r.Backlog(); return b["csv"] == csv && b["mysql"] == mysql }) {
		r.t.Fatalf("backlog: %v", r.Backlog())
	}
}

// TestMismatchOfOne has one side know the ID for another batch, while the other one has forgotten
// it and does not say whether it has recorded the batch. Both have it in the end, once, and the
// client that tries again is told so.
func TestMismatchOfOne(t *testing.T) {
	for _, knows := range []name{csv, mysql} {
		for _, m := range []mode{fails, lies, hangs, hangsLate} {
			for _, restart := range []string{"none", "orderly", "crash"} {
				t.Run(fmt.Sprint(knows, " mode ", int(m), " restart ", restart), func(t *testing.T) {
					t.Parallel()
					checkMismatchOfOne(t, knows, m, restart)
				})
			}
		}
	}
}

func checkMismatchOfOne(t *testing.T, knows name, m mode, restart string) {
	r := newRig(t, func(o *Options) { o.SideTimeout = 100 * time.Millisecond })
	sides, org := []*faulty{r.csv, r.mysql}, uuid.New()
	earlier, batch := r.knownToOne(sides[knows], org, "taken"), newBatch(org, "taken", 3)
	sides[1-knows].set(m)
	for range 2 {
		_, err := r.Append(t.Context(), batch)
		wantDoubt(t, err)
	}
	owed := [2]int64{1, 1}
	owed[knows] = 0
	r.wantBacklog(owed[csv], owed[mysql])
	switch restart {
	case "orderly":
		r.reopen()
	case "crash":
		r.crash()
	}
	_, err := r.Append(t.Context(), batch)
	wantDoubt(t, err)
	r.heal()
	receipt := r.mustAppend(batch)
	if !receipt.Replayed || len(r.letters()) != 0 {
		t.Errorf("%+v, dead letters %+v", receipt, r.letters())
	}
	want := linesOf(batch, receipt.At)
	if got := lines(t, sides[1-knows], org); !slices.Equal(got, want) {
		t.Errorf("the side that knew nothing has %v", got)
	}
	if got := lines(t, sides[knows], org); !slices.Equal(got, append(linesOf(earlier, earlier.At), want...)) {
		t.Errorf("the side that knew the ID has %v", got)
	}
	r.mustAppend(newBatch(org, "after", 1))
	r.settled()
}

// knownToOne records a batch of which only this side knows, an hour ago.
func (r *rig) knownToOne(side *faulty, org uuid.UUID, id string) inventory.Batch {
	r.t.Helper()
	batch := newBatch(org, id, 1)
	batch.At = time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond)
	if _, err := side.Store.Append(r.t.Context(), batch); err != nil {
		r.t.Fatal(err)
	}
	return batch
}

// TestMismatchOvertaken has the side that knows the ID go on with later batches: what the other
// one turns out to have is then a dead letter, which comes behind them by another ID.
func TestMismatchOvertaken(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	r.knownToOne(r.mysql, org, "taken")
	r.csv.set(lies)
	_, err := r.Append(t.Context(), newBatch(org, "taken", 3))
	wantDoubt(t, err)
	r.wantBacklog(1, 0)
	r.mustAppend(newBatch(org, "later", 1))
	r.heal()
	letters := r.letters()
	if len(letters) != 1 || letters[0].Side != "mysql" {
		t.Fatalf("dead letters: %+v", letters)
	}
	if _, err := r.RetryDeadLetter(t.Context(), letters[0].Number); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, r.mysql, org); len(got) != 5 || len(lines(t, r.csv, org)) != 4 {
		t.Errorf("mysql has %v", got)
	}
}

// TestMismatchMeanwhile sends other batches of an ID while one is in doubt: what a side has
// recorded is told, and nothing else is recorded.
func TestMismatchMeanwhile(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	batch := newBatch(org, "taken", 2)
	first := r.mustAppend(batch)
	first.Replayed = true
	r.mysql.set(fails)
	for range 3 {
		_, err := r.Append(t.Context(), newBatch(org, "taken", 3))
		wantDoubt(t, err)
		_, err = r.Append(t.Context(), newBatch(org, "taken", 4))
		wantDoubt(t, err)
		if again, err := r.Append(t.Context(), batch); err != nil || again != first {
			t.Errorf("the batch that is there: %+v, %v; want %+v", again, err, first)
		}
		r.wantBacklog(0, 1) // of however many
	}
	// Others go on, and one in doubt is all that a side is sent of such mistakes.
	r.mustAppend(newBatch(org, "other", 1))
	_, err := r.Append(t.Context(), newBatch(org, "other", 2))
	wantCode(t, "Append of what is owed already", err, fault.IdempotencyMismatch)
	r.wantBacklog(0, 2)
	r.heal()
	r.wantBoth(org, lines(t, r.csv, org))
	if got := lines(t, r.csv, org); len(got) != 3 || len(r.letters()) != 0 {
		t.Errorf("CSV has %v; dead letters %+v", got, r.letters())
	}
}

// TestKeyOfOne retries by a caller's key what one side has under it, and the other one under
// another ID, with either side away; and sends something else by it.
func TestKeyOfOne(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	r.knownToOne(r.mysql, org, "key-1")
	// CSV has forgotten the key and records the batch, MySQL takes it by another ID.
	batch := newBatch(org, "key-1", 3)
	r.mysql.set(fails)
	first := r.mustAppend(batch)
	first.Replayed = true
	r.heal()
	for _, away := range []*faulty{nil, r.csv, r.mysql} {
		if away != nil {
			away.set(fails)
		}
		if again, err := r.Append(t.Context(), batch); err != nil || again != first {
			t.Errorf("again: %+v, %v; want %+v", again, err, first)
		}
		_, err := r.Append(t.Context(), newBatch(org, "key-1", 4))
		if away == nil {
			wantCode(t, "Append of something else", err, fault.IdempotencyMismatch)
			continue
		}
		wantDoubt(t, err)
		r.wantBacklog(0, 0)
		away.set(works)
	}
	if got := lines(t, r.csv, org); !slices.Equal(got, linesOf(batch, first.At)) {
		t.Errorf("CSV has %v", got)
	}
}

// TestIDOfOwed retries what one side has under an ID that it is owed another batch by: that was
// acknowledged, and no mistake.
func TestIDOfOwed(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	earlier := r.knownToOne(r.mysql, org, "taken")
	// CSV has forgotten the ID.
	r.mysql.refusing(func(inventory.Batch) error { return errAway() })
	batch := newBatch(org, "taken", 3)
	r.mustAppend(batch)
	if receipt, err := r.Append(t.Context(), earlier); err != nil || !receipt.Replayed || receipt.Count != 1 {
		t.Errorf("what MySQL has: %+v, %v", receipt, err)
	}
	if receipt, err := r.Append(t.Context(), batch); err != nil || !receipt.Replayed || receipt.Count != 3 {
		t.Errorf("what CSV has: %+v, %v", receipt, err)
	}
	_, err := r.Append(t.Context(), newBatch(org, "taken", 4))
	wantCode(t, "Append of what nobody has", err, fault.IdempotencyMismatch)
	r.mysql.refusing(nil)
	r.heal()
}

// TestMismatchTooLate has the side that knows the ID refuse the batch just when the other one has
// come to have it: it takes it by another ID all the same.
func TestMismatchTooLate(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	r.knownToOne(r.mysql, org, "taken")
	r.mustAppend(newBatch(org, "before", 1))
	r.csv.set(fails)
	r.mysql.set(fails)
	batch := newBatch(org, "taken", 3)
	_, err := r.Append(t.Context(), batch)
	wantCode(t, "Append when both are away", err, fault.StoreUnavailable)
	asked := make(chan struct{})
	var once sync.Once
	r.mysql.mu.Lock()
	r.mysql.onCall = func(step string, _ int) {
		if step == "before" && r.mysql.now() == works {
			once.Do(func() { close(asked) })
			soon(func() bool { return r.Backlog()["csv"] == 0 })
		}
	}
	r.mysql.mu.Unlock()
	r.mysql.set(works)
	<-asked
	r.heal()
	if got := lines(t, r.mysql, org); len(got) != 5 || len(r.letters()) != 0 {
		t.Errorf("mysql has %v, dead letters %+v", got, r.letters())
	}
}

// TestBothIDsKnown has a side know both IDs of a batch for other ones: it refuses that for good.
func TestBothIDsKnown(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	batch := newBatch(org, "taken", 3)
	r.knownToOne(r.mysql, org, "taken")
	r.knownToOne(r.mysql, org, substitute(batch))
	r.csv.set(lies)
	_, err := r.Append(t.Context(), batch)
	wantDoubt(t, err)
	r.heal()
	if letters := r.letters(); len(letters) != 1 || letters[0].Side != "mysql" {
		t.Errorf("dead letters: %+v", letters)
	}
}

// TestRefusalOfOldIsInDoubt asks for a batch older than the newest record, of which one side knows
// nothing and the other one does not say.
func TestRefusalOfOldIsInDoubt(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	old := r.knownToOne(r.mysql, org, "old")
	r.mustAppend(newBatch(org, "new", 1))
	r.mysql.set(fails)
	_, err := r.Append(t.Context(), old)
	wantDoubt(t, err)
	r.mysql.set(works)
	if receipt, err := r.Append(t.Context(), old); err != nil || !receipt.Replayed {
		t.Errorf("%+v, %v", receipt, err)
	}
	old.ID = "unknown"
	_, err = r.Append(t.Context(), old)
	if err == nil || fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("what both sides refuse: %v", err)
	}
}
