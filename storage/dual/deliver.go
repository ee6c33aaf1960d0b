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
	query := inventory.Query{Since: batch.At, Until: batch.At.Add(time.Microsecond)}
	for record, err := range d.store.Records(ctx, batch.Org, query) {
		if err != nil {
			return 0, err
		}
		if at < len(want) && equal(record.Resource, want[at]) {
			at++
		} else {
			at = 0
		}
		if at == len(want) {
			n, at = n+1, 0
		}
	}
	return n, nil
}

func equal(a, b inventory.Resource) bool {
	return a.Provider == b.Provider && a.Category == b.Category && a.ResourceType == b.ResourceType &&
		a.ResourceName == b.ResourceName && bytes.Equal(a.Attributes, b.Attributes)
}
