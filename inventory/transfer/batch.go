package transfer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

const (
	// A batch has no more instances than an upload, and about as many bytes.
	batchRecords = inventory.MaxInstances
	batchBytes   = 4 << 20

	// So many batches, or with so many bytes, are brought to the store at once.
	heldBatches = 256
	heldBytes   = 8 << 20
)

// batch gathers records of one organization and timestamp.
type batch struct {
	records []inventory.Record
	bytes   int
	first   int // the place of the first record among those of its timestamp
}

func (b *batch) any() bool { return len(b.records) > 0 }

func (b *batch) full() bool { return len(b.records) >= batchRecords || b.bytes >= batchBytes }

// add takes a record, of which place says how many of its timestamp came until now. It
// returns how many bytes were added.
func (b *batch) add(r inventory.Record, place int) int {
	if !b.any() {
		b.first = place
	}
	b.records = append(b.records, r)
	size := len(r.Attributes) + len(r.ResourceName)
	b.bytes += size
	return size
}

// cut returns what was gathered, and begins anew. The ID follows from the content and its
// place, so that a batch whose fate is unknown can be sent again; without the place, two
// uploads that are alike would count as one.
func (b *batch) cut(org uuid.UUID, request string) inventory.Batch {
	full := inventory.Batch{Org: org, At: b.records[0].Timestamp, Request: request}
	digest := NewDigest()
	for _, r := range b.records {
		digest.Add(r)
		full.Resources = append(full.Resources, r.Resource)
	}
	digest.hash.Sum(full.Digest[:0])
	id := sha256.Sum256(binary.BigEndian.AppendUint64(full.Digest[:], uint64(b.first)))
	full.ID = "copy-" + hex.EncodeToString(id[:29]) // 63 of the 64 characters there may be
	*b = batch{}
	return full
}
