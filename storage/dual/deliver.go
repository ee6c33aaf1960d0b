package dual

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// rememberedFor is less than what a store promises to remember IDs for.
const rememberedFor = 6 * 24 * time.Hour

// deliver sends a batch, by another ID if need be.
func (p *payer) deliver(r row, batch inventory.Batch) (inventory.Receipt, error) {
	if p.s.o.Now().Sub(r.since) > rememberedFor {
		if alike, err := p.s.alike(p.s.stop, p.d, batch); alike > 0 || err != nil {
			return inventory.Receipt{}, err
		}
	}
	o := p.s.send(p.s.stop, p.d, batch)[0]
	if fault.Is(o.err, fault.IdempotencyMismatch) && !r.undecided() {
		// The other side had forgotten the ID, this one has not: it goes by another.
		batch.ID = substitute(batch)
		o = p.s.send(p.s.stop, p.d, batch)[0]
		if fault.Is(o.err, fault.IdempotencyMismatch) {
			o.err = fault.Wrap(o.err, fault.ParameterInvalid, "the side knows both IDs of the batch for other ones")
		}
	}
	return o.receipt, o.err
}

// complain tells of an organization that an operator must look after: at the first try,
// and whenever the longest wait is over.
func (p *payer) complain(r row, err error) {
	if (outcome{err: err}).kind() != unknown && (p.wait == firstWait || p.wait == lastWait) {
		p.s.o.Log.Error("a side of the store does not take an organization's uploads; they are kept for it",
			"side", p.d.name.String(), "org", p.l.org, "batch", r.id, "error", err)
	}
}

// substitute is an ID that only this batch can have.
func substitute(batch inventory.Batch) string {
	sum := sha256.Sum256(append([]byte(batch.ID+"\n"), batch.Digest[:]...))
	return hex.EncodeToString(sum[:])
}

// alike looks for a batch so old that the side may have forgotten its ID: it counts those of the
// same timestamp and records.
func (s *Store) alike(ctx context.Context, d *side, batch inventory.Batch) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.SideTimeout)
	defer cancel()
	want, at := batch.Resources, 0
	if len(want) == 0 {
		return 0, nil
	}
	back := borders(want)
	query := inventory.Query{Since: batch.At, Until: batch.At.Add(time.Microsecond)}
	for record, err := range d.store.Records(ctx, batch.Org, query) {
		if err != nil {
			return 0, err
		}
		for at > 0 && !equal(record.Resource, want[at]) {
			at = back[at-1] // it may have begun later
		}
		if equal(record.Resource, want[at]) {
			at++
		}
		if at == len(want) {
			n, at = n+1, 0 // no record is of two batches
		}
	}
	return n, nil
}

// borders returns how many of the first resources are the same as those that end with each one,
// short of all of them: so many are found already when the next one is another (Knuth, Morris, Pratt).
func borders(all []inventory.Resource) []int {
	lengths, at := make([]int, len(all)), 0
	for i := 1; i < len(all); i++ {
		for at > 0 && !equal(all[i], all[at]) {
			at = lengths[at-1]
		}
		if equal(all[i], all[at]) {
			at++
		}
		lengths[i] = at
	}
	return lengths
}

func equal(a, b inventory.Resource) bool {
	return a.Provider == b.Provider && a.Category == b.Category && a.ResourceType == b.ResourceType &&
		a.ResourceName == b.ResourceName && bytes.Equal(a.Attributes, b.Attributes)
}
