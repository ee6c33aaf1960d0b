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

// deliver sends a batch until the side says that it has it.
func (p *payer) deliver(r row) (inventory.Receipt, error) {
	batch, err := r.batch(p.s.outbox.codec)
	if err != nil {
		return inventory.Receipt{}, err
	}
	if p.s.o.Now().Sub(r.since) > rememberedFor {
		if there, err := p.has(batch); there || err != nil {
			return inventory.Receipt{}, err
		}
	}
	o := p.s.send(p.s.stop, p.d, batch)
	if fault.Is(o.err, fault.IdempotencyMismatch) {
		o = p.mismatch(r, batch)
	}
	p.complain(batch, o)
	return o.receipt, o.err
}

// mismatch delivers a batch whose ID this side knows for another one.
func (p *payer) mismatch(r row, batch inventory.Batch) outcome {
	if r.owes == both {
		// Nobody was told that this was recorded, and it was a mistake.
		p.s.o.Log.Warn("a batch is given up: its ID was used before", "side", p.d.name.String(), "org", p.l.org, "batch", r.id)
		return outcome{}
	}
	// The other side had forgotten the ID, this one has not: it goes by another.
	batch.ID = substitute(batch)
	return p.s.send(p.s.stop, p.d, batch)
}

// complain tells of an organization that an operator must look after: at the first try,
// and whenever the longest wait is over.
func (p *payer) complain(batch inventory.Batch, o outcome) {
	if o.err != nil && o.kind() != unknown && (p.wait == firstWait || p.wait == lastWait) {
		p.s.o.Log.Error("a side of the store does not take an organization's uploads; they are kept for it",
			"side", p.d.name.String(), "org", p.l.org, "batch", batch.ID, "error", o.err)
	}
}

// substitute is an ID that only this batch can have.
func substitute(batch inventory.Batch) string {
	sum := sha256.Sum256(append([]byte(batch.ID+"\n"), batch.Digest[:]...))
	return hex.EncodeToString(sum[:])
}

// has looks for a batch so old that the side may have forgotten its ID.
func (p *payer) has(batch inventory.Batch) (bool, error) {
	ctx, cancel := context.WithTimeout(p.s.stop, p.s.o.SideTimeout)
	defer cancel()
	want, at := batch.Resources, 0
	query := inventory.Query{Since: batch.At, Until: batch.At.Add(time.Microsecond)}
	for record, err := range p.d.store.Records(ctx, batch.Org, query) {
		if err != nil {
			return false, err
		}
		if at < len(want) && equal(record.Resource, want[at]) {
			at++
		} else {
			at = 0
		}
		if at == len(want) {
			return true, nil
		}
	}
	return false, nil
}

func equal(a, b inventory.Resource) bool {
	return a.Provider == b.Provider && a.Category == b.Category && a.ResourceType == b.ResourceType &&
		a.ResourceName == b.ResourceName && bytes.Equal(a.Attributes, b.Attributes)
}
