package dual

import (
	"testing"

	"github.com/google/uuid"
)

// overtaken is a row that was read just before what was settled got written and forgotten.
type overtaken struct {
	scanner
	meanwhile func()
}

func (o overtaken) Scan(dest ...any) error {
	err := o.scanner.Scan(dest...)
	o.meanwhile()
	return err
}

// A batch that a side has is not undecided to who asks for it at the moment in which that is
// written.
func TestSettledWhileRead(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	r.mysql.set(fails)
	r.mustAppend(newBatch(org, "a", 3)) // CSV has it
	found, _, err := r.outbox.find(t.Context(), org, "a")
	if err != nil {
		t.Fatal(err)
	}
	r.change(`UPDATE batches SET owes = 3, taken = 0`) // as it was before that was written
	r.outbox.settle(found.seq, names(0).with(csv), names(0).with(csv))
	scan := r.outbox.scanning()
	stock := r.outbox.takeStock()
	stale := r.outbox.readers.QueryRow(sqlFind, org.String(), "a")
	got, err := scan(overtaken{stale, func() { r.outbox.forget(stock) }})
	if err != nil || !got.taken.has(csv) || got.owes.has(csv) {
		t.Errorf("%+v, %v; CSV has it", got, err)
	}
}
