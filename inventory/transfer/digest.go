package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// Digest sums up records in their order: it is the SHA-256 of them as JSON lines, which an
// export as NDJSON has too.
type Digest struct {
	hash  hash.Hash
	buf   []byte
	Count int64
}

// NewDigest returns the Digest of no records.
func NewDigest() *Digest { return &Digest{hash: sha256.New()} }

// Add takes the next record.
func (d *Digest) Add(r inventory.Record) {
	d.buf = append(r.AppendJSON(d.buf[:0]), '\n')
	d.hash.Write(d.buf) // never fails
	d.Count++
}

// Extent returns what was added until now.
func (d *Digest) Extent() Extent {
	return Extent{Count: d.Count, SHA256: hex.EncodeToString(d.hash.Sum(nil))}
}

// Extent is how much an organization has, and which.
type Extent struct {
	Count  int64  `json:"count"`
	SHA256 string `json:"sha256"`
}

// Measure reads all that a store has of an organization. It calls read, which may be nil,
// for each record.
func Measure(ctx context.Context, store inventory.Store, org uuid.UUID, read func()) (Extent, error) {
	digest := NewDigest()
	for record, err := range store.Records(ctx, org, inventory.Query{}) {
		if err != nil {
			return Extent{}, err
		}
		digest.Add(record.Record)
		if read != nil {
			read()
		}
	}
	return digest.Extent(), nil
}
