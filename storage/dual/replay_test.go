package dual

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// TestPaidWhileDecided has a side turn out to have a batch just when the other one's answer, which
// says that it is owed it, goes from the outbox to the queues. It is owed nothing then.
func TestPaidWhileDecided(t *testing.T) {
	r := newRig(t, nil)
	l := r.lane(uuid.New())
	batch := newBatch(l.org, "a", 1)
	batch.At = time.Now().UTC().Truncate(time.Microsecond)
	kept, err := newRow(r.outbox.codec, batch, r.o.Now())
	if err != nil {
		t.Fatal(err)
	}
	rows := []row{kept}
	if err := r.outbox.put(rows...); err != nil {
		t.Fatal(err)
	}
	kept = rows[0]
	payers := [2]*payer{{s: r.Store, d: r.sides[csv], l: l}, {s: r.Store, d: r.sides[mysql], l: l}}
	r.owe(r.sides[mysql], l, kept.debt())

	l.deciding.Lock() // as CSV's payer does
	f, decided, err := r.outbox.decide(kept, recordedBy(csv), r.o.Now())
	if err != nil || f != owing || !decided.owes.has(mysql) {
		t.Fatalf("%v, %+v, %v", f, decided, err)
	}
	paid := make(chan error, 1)
	go func() { paid <- payers[mysql].paid(decided, inventory.Receipt{At: kept.at}) }()
	select {
	case err := <-paid: // it must not
		paid <- err
	case <-time.After(20 * time.Millisecond):
	}
	r.owe(r.sides[mysql], l, kept.debt())
	l.deciding.Unlock()

	if err := <-paid; err != nil {
		t.Fatal(err)
	}
	r.settled()
}

// TestDebtOfNothing has the queues hold debts of a row that is gone and of one that is not owed to
// that side: nobody tries forever to pay them, and the side is sent what comes next.
func TestDebtOfNothing(t *testing.T) {
	r := newRig(t, nil)
	l := r.lane(uuid.New())
	r.owe(r.sides[csv], l, debt{seq: 1 << 40, size: 1, records: 1})
	r.replay(r.sides[csv], l, nil)
	r.settled()

	r.mysql.set(fails)
	r.mustAppend(newBatch(l.org, "a", 1)) // CSV has it
	found, _, err := r.outbox.find(t.Context(), l.org, "a")
	if err != nil {
		t.Fatal(err)
	}
	r.owe(r.sides[csv], l, found.debt())
	r.replay(r.sides[csv], l, nil)
	r.wantBacklog(0, 1)
	r.mustAppend(newBatch(l.org, "b", 1))
	r.heal()
	r.wantBoth(l.org, lines(t, r.csv, l.org))
	if got := lines(t, r.mysql, l.org); len(got) != 2 {
		t.Errorf("mysql has %v", got)
	}
}
