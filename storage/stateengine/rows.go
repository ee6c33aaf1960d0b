package stateengine

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// VersionRow receives VersionColumns.
type VersionRow struct {
	number, serial, created int64
	origin                  int64
	warnings                string
	digest                  []byte
	version                 state.Version
}

// Fields receive VersionColumns.
func (r *VersionRow) Fields() []any {
	v := &r.version
	return []any{&r.number, &r.serial, &v.Lineage, &v.TerraformVersion, &v.Encrypted, &v.Size, &r.digest,
		&r.created, &v.Author.KeyID, &v.Author.Address, &v.Author.Request, &v.Author.Who, &v.Author.Operation,
		&v.Author.Subject, &v.Resources, &r.warnings, &r.origin, &v.Origin.Candidate, &v.Origin.Reason, &v.Purged}
}

// Digest is what the row says, which may be none.
func (r *VersionRow) Digest() []byte { return r.digest }

// Number is what the row says, which may be none.
func (r *VersionRow) Number() uint64 { return uint64(r.number) }

// Value returns the version, of e's state. Every accepted one has a number and a digest.
func (r *VersionRow) Value(e Envelope) (_ state.Version, err error) {
	v := r.version
	v.Number, v.Serial = uint64(r.number), uint64(r.serial)
	v.Origin.Version, v.Warnings = uint64(r.origin), state.ParseWarnings(r.warnings)
	v.CreatedAt = FromMicros(r.created)
	if v.Number == 0 {
		return state.Version{}, fault.New(fault.StateCorrupt,
			"what describes a version is damaged; an operator must restore it")
	}
	if v.Digest, err = e.Digest(r.digest); err != nil {
		return state.Version{}, err
	}
	return v, nil
}

// LockRow receives lockColumns.
type LockRow struct {
	since, seen sql.NullInt64
	raw         []byte
	lock        state.Lock
}

// Fields receive lockColumns.
func (r *LockRow) Fields() []any {
	l, info := &r.lock, &r.lock.Info
	return []any{&r.since, &l.KeyID, &info.ID, &info.Operation, &info.Info, &info.Who,
		&info.Version, &info.Created, &info.Path, &r.raw, &r.seen, &l.Run.ID, &l.Run.Epoch}
}

// Value returns a lock of its own, nil when none is held.
func (r *LockRow) Value() *state.Lock {
	if !r.since.Valid {
		return nil
	}
	lock := r.lock
	lock.Since, lock.Seen = FromMicros(r.since.Int64), FromMicros(r.seen.Int64)
	lock.Info.Raw = json.RawMessage(r.raw)
	return &lock
}

// HeadScan receives HeadColumns. One goroutine uses it at a time, for one row after the other.
type HeadScan struct {
	id      int64
	written bool
	deleted sql.NullInt64
	back    bool // undeleted
	freed   string
	purges  bool
	fence   state.Fence
	expects sql.NullString
	lock    LockRow
	version VersionRow
	dest    []any // pointers to the above
}

// Fields receive HeadColumns.
func (q *HeadScan) Fields() []any {
	if q.dest == nil {
		q.dest = append([]any{&q.id, &q.written, &q.deleted, &q.back, &q.freed, &q.purges,
			&q.fence.Run, &q.fence.Epoch, &q.fence.Open, &q.expects}, q.lock.Fields()...)
		q.dest = append(q.dest, q.version.Fields()...)
	}
	return q.dest
}

// Value returns the row that was scanned last, of e's state.
func (q *HeadScan) Value(e Envelope) (HeadRow, error) {
	row := HeadRow{ID: q.id, Purges: q.purges, Head: state.Head{
		Deleted: q.deleted.Valid, Undeleted: q.back, Lock: q.lock.Value(), ReleasedID: q.freed, Fence: q.fence,
	}}
	if q.deleted.Valid {
		row.Head.DeletedAt = FromMicros(q.deleted.Int64)
	}
	var err error
	if row.Head.Expected, err = ExpectedIn(q.expects); err != nil || !q.written {
		return row, err
	}
	row.Head.Version, err = q.version.Value(e)
	return row, err
}

// StoredRow receives an encoding and bytes, in the row's own memory. Both may be null.
type StoredRow struct {
	encoding sql.NullString
	bytes    sql.RawBytes
	number   sql.NullInt64 // of the base of a delta
}

// WithBase receive an encoding, bytes, and the number of the base of a delta, which may be null.
func (r *StoredRow) WithBase() []any { return append(r.Fields(), &r.number) }

// Fields receive an encoding and bytes.
func (r *StoredRow) Fields() []any { return []any{&r.encoding, &r.bytes} }

// Copied returns what the row held, in memory that outlives it.
func (r *StoredRow) Copied() Stored {
	return Stored{Encoding: r.encoding.String, Bytes: bytes.Clone(r.bytes), Base: BaseID{Number: uint64(r.number.Int64)}}
}

// FromMicros reads a time as the database keeps it.
func FromMicros(t int64) time.Time { return time.UnixMicro(t).UTC() }
