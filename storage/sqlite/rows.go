package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// versionRow receives versionColumns.
type versionRow struct {
	number, serial, created int64
	origin                  int64
	warnings                string
	digest                  []byte
	version                 state.Version
}

func (r *versionRow) fields() []any {
	v := &r.version
	return []any{&r.number, &r.serial, &v.Lineage, &v.TerraformVersion, &v.Encrypted, &v.Size, &r.digest,
		&r.created, &v.Author.KeyID, &v.Author.Address, &v.Author.Request, &v.Author.Who, &v.Author.Operation,
		&v.Author.Subject, &v.Resources, &r.warnings, &r.origin, &v.Origin.Candidate, &v.Origin.Reason, &v.Purged}
}

// value returns the version. Every accepted one has a number and a digest.
func (r *versionRow) value() (state.Version, error) {
	v := r.version
	v.Number, v.Serial = uint64(r.number), uint64(r.serial)
	v.Origin.Version, v.Warnings = uint64(r.origin), state.ParseWarnings(r.warnings)
	v.CreatedAt = fromMicros(r.created)
	if v.Number == 0 || len(r.digest) != len(v.Digest) {
		return state.Version{}, fault.New(fault.StateCorrupt, "what describes a version is damaged; an operator must restore it")
	}
	copy(v.Digest[:], r.digest)
	return v, nil
}

// lockRow receives lockColumns.
type lockRow struct {
	since, seen sql.NullInt64
	raw         []byte
	lock        state.Lock
}

func (r *lockRow) fields() []any {
	l, info := &r.lock, &r.lock.Info
	return []any{&r.since, &l.KeyID, &info.ID, &info.Operation, &info.Info, &info.Who,
		&info.Version, &info.Created, &info.Path, &r.raw, &r.seen, &l.Run.ID, &l.Run.Epoch}
}

// value returns a lock of its own, nil when none is held.
func (r *lockRow) value() *state.Lock {
	if !r.since.Valid {
		return nil
	}
	lock := r.lock
	lock.Since, lock.Seen = fromMicros(r.since.Int64), fromMicros(r.seen.Int64)
	lock.Info.Raw = json.RawMessage(r.raw)
	return &lock
}

// headRow is a state's row; id is zero when there is none. purges says that bytes of it were
// purged. base is a base that is certain to
// be there, zero when there is none: to ask for it takes 2 % of a cycle's CPU.
type headRow struct {
	id     int64
	head   state.Head
	purges bool
	base   baseID
}

// headQuery is sqlHead with room for its result. One goroutine uses it at a time.
type headQuery struct {
	stmt    *sql.Stmt
	id      int64
	written bool
	deleted sql.NullInt64
	back    bool // undeleted
	freed   string
	purges  bool
	fence   state.Fence
	expects sql.NullString
	lock    lockRow
	version versionRow
	dest    []any // pointers to the above
}

func (q *headQuery) load(ref state.Ref) (headRow, error) {
	row := q.stmt.QueryRowContext(context.Background(), ref.Org.String(), string(ref.Name))
	if err := row.Scan(q.fields()...); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return headRow{}, nil
		}
		return headRow{}, err
	}
	return q.value()
}

// fields receive headColumns.
func (q *headQuery) fields() []any {
	if q.dest == nil {
		q.dest = append([]any{&q.id, &q.written, &q.deleted, &q.back, &q.freed, &q.purges,
			&q.fence.Run, &q.fence.Epoch, &q.fence.Open, &q.expects}, q.lock.fields()...)
		q.dest = append(q.dest, q.version.fields()...)
	}
	return q.dest
}

func (q *headQuery) value() (headRow, error) {
	row := headRow{id: q.id, purges: q.purges, head: state.Head{
		Deleted: q.deleted.Valid, Undeleted: q.back, Lock: q.lock.value(), ReleasedID: q.freed, Fence: q.fence,
	}}
	if q.deleted.Valid {
		row.head.DeletedAt = fromMicros(q.deleted.Int64)
	}
	var err error
	if row.head.Expected, err = expectedIn(q.expects); err != nil || !q.written {
		return row, err
	}
	row.head.Version, err = q.version.value()
	return row, err
}

// storedRow receives an encoding and bytes, in the row's own memory. Both may be null.
type storedRow struct {
	encoding sql.NullString
	bytes    sql.RawBytes
}

func (r *storedRow) fields() []any { return []any{&r.encoding, &r.bytes} }

// copied returns what the row held, in memory that outlives it.
func (r *storedRow) copied() stored {
	return stored{encoding: r.encoding.String, bytes: bytes.Clone(r.bytes)}
}

// fromMicros reads a time as the database keeps it.
func fromMicros(t int64) time.Time { return time.UnixMicro(t).UTC() }
