package csv

import (
	"context"
	"hash/crc32"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
	"github.com/holdfast/holdfast/storage/csv/index"
)

// segmentSize is what a segment has at least before the next one begins.
const segmentSize = 256 << 10

// usualBuffer has room for most segments.
const usualBuffer = segmentSize + segmentSize/4

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// plan is what a group's write adds to the file and to the index.
type plan struct {
	fresh  []*pending
	bytes  []byte
	change index.Change
	layout layout
	// counted is where the file ends with the uploads so far: the header comes with the first.
	counted int64

	lent [][]byte // of the store's buffers
}

func (p *plan) borrow(b *buffers, room int) []byte {
	buffer := b.acquire(room)
	p.lent = append(p.lent, buffer)
	return buffer
}

// giveBack ends the use of bytes, and of the change's journal.
func (p *plan) giveBack(b *buffers) {
	for _, buffer := range p.lent {
		b.release(buffer)
	}
	p.lent, p.bytes = nil, nil
}

// newPlan sorts out replays and gives the rest timestamps and places.
func (t *tenant) newPlan(group []*pending) (*plan, error) {
	known, err := t.findBatches(group)
	if err != nil {
		return nil, err
	}
	p := &plan{layout: layout{head: t.head, last: t.last}, counted: t.head.Length}
	p.change = index.Change{Org: t.org, Groups: map[index.Group]index.Tally{}}
	if len(group) > 1 || t.head.Length == 0 {
		p.bytes = p.borrow(&t.store.buffers, len(csvrow.Header)+sizeOf(group))
	}
	if t.head.Length == 0 {
		p.bytes = append(p.bytes, csvrow.Header...)
		p.layout.header(len(csvrow.Header))
	}
	now := t.store.now().UTC().Truncate(time.Microsecond)
	seen := map[string]*pending{}
	for _, u := range group {
		if u.before != nil && u.before.err != nil {
			u.err = u.before.err
		} else if b, ok := known[u.batch.ID]; ok {
			u.replay(b.Digest, inventory.Receipt{Request: b.Request, At: time.UnixMicro(b.At).UTC(), Count: b.Count})
		} else if first := seen[u.batch.ID]; first != nil {
			if u.same = first; first.batch.Digest != u.batch.Digest {
				u.err = errReused()
			}
		} else if p.add(u, now) {
			seen[u.batch.ID] = u
		}
	}
	p.change.Head, p.change.Segments = p.layout.head, p.layout.segments
	return p, nil
}

func sizeOf(group []*pending) (n int) {
	for _, u := range group {
		n += len(u.rows)
	}
	return n
}

// findBatches returns those that were recorded before. To look for IDs that are new as well
// takes a twentieth of an upload's processor time.
func (t *tenant) findBatches(group []*pending) (map[string]index.Batch, error) {
	var names []string
	for _, u := range group {
		if !u.batch.New {
			names = append(names, u.batch.ID)
		}
	}
	if t.head.ID == 0 || len(names) == 0 {
		return nil, nil
	}
	return t.store.index.Find(context.Background(), t.head.ID, names)
}

// replay answers an upload whose ID was used before.
func (p *pending) replay(digest [32]byte, first inventory.Receipt) {
	if digest != p.batch.Digest {
		p.err = errReused()
		return
	}
	p.receipt = first
	p.receipt.Replayed = true
}

func errReused() error {
	return fault.New(fault.IdempotencyMismatch, "this upload's ID came with other contents before")
}

// add gives an upload its timestamp and its place.
func (p *plan) add(u *pending, now time.Time) bool {
	h := &p.layout.head
	at := u.batch.At.UnixMicro()
	switch {
	case u.batch.At.IsZero():
		at = inventory.Stamp(now, newest(*h)).UnixMicro()
	case at < h.Newest:
		u.err = fault.New(fault.UploadInvalid, "the timestamp to record lies before the organization's newest record")
		return false
	}
	if u.err = u.batch.MayAdd(p.counted-h.Base, h.Length+int64(len(u.rows))-p.counted); u.err != nil {
		return false
	}
	u.setTime(time.UnixMicro(at).UTC())
	b := index.Batch{ID: u.batch.ID, Digest: u.batch.Digest, Request: u.batch.Request, At: at,
		Count: len(u.ends), Created: now.UnixMicro(), Start: h.Length, Length: int64(len(u.rows)),
		Line: h.Line, CRC: crc32.Checksum(u.rows, castagnoli())}
	start := 0
	for _, end := range u.ends {
		p.layout.add(u.rows[start:end], at, false)
		start = end
	}
	for _, c := range u.counts {
		p.change.Groups[c.group] = tally(p.change.Groups[c.group], c.n, at)
	}
	if p.bytes == nil { // it is alone
		p.bytes = u.rows
	} else {
		p.bytes = append(p.bytes, u.rows...)
	}
	p.counted = h.Length
	p.change.Batches = append(p.change.Batches, b)
	p.fresh = append(p.fresh, u)
	return true
}

// newest is the zero time without records.
func newest(h index.Head) time.Time {
	if h.Newest == index.Never {
		return time.Time{}
	}
	return time.UnixMicro(h.Newest).UTC()
}

func tally(t index.Tally, n, at int64) index.Tally {
	if t.Count == 0 {
		t.First = at
	}
	return index.Tally{Count: t.Count + n, First: t.First, Last: at}
}

// succeed gives the receipts, once everything is durable.
func (p *plan) succeed(group []*pending) {
	for i, u := range p.fresh {
		b := p.change.Batches[i]
		u.receipt = inventory.Receipt{Request: b.Request, At: time.UnixMicro(b.At).UTC(), Count: b.Count}
	}
	for _, u := range group {
		if u.same != nil && u.err == nil {
			u.replay(u.same.batch.Digest, u.same.receipt)
		}
	}
}
