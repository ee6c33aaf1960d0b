package stateengine

import (
	"context"
	"database/sql"
	"log/slog"
	"slices"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// Dependent is a version that is a delta of another one.
type Dependent struct {
	ID, State, Base int64 // as the engine knows the version, its state and the other one
	Version         state.Version
	Digest          []byte // as it is stored
	Kept, Whole     Stored // itself and its base, as they are stored
	Body            []byte // nil when it can't be read
}

// Detacher finds versions that are deltas, and stores them anew.
type Detacher interface {
	// Dependent returns the last version that is a delta of this one and has a number above
	// another one, without its body; nil when there is none.
	Dependent(ctx context.Context, ref state.Ref, number, above uint64) (*Dependent, error)
	// Replace stores a dependent anew in a transaction, unless it or its new base, nil for none,
	// went away meanwhile. there says whether the base is there.
	Replace(ctx context.Context, ref state.Ref, d *Dependent, packed Stored, onto *Base) (there bool, err error)
}

// Detach stores anew what is a delta of a version and has a number above another one: the
// last of them whole, the others as deltas of it. So the next to go first, the oldest, is
// needed by none. Each is stored in a transaction of its own, after which all of them can be
// read; the transaction does no more than that.
//
// It comes to an end: each turn leaves one dependent less, or goes on without a base that
// went away. New ones can be so many only, as their numbers are bounded by GroupLength; the
// turns are bounded too, for a database in which something else is wrong.
func (b *Bodies) Detach(ctx context.Context, in Detacher, ref state.Ref, number, above uint64, log *slog.Logger) error {
	release, err := b.detaching.Acquire(ctx, ref.Org) // each has two bodies in hand
	if err != nil {
		return err
	}
	defer release()
	e, err := b.Seals.Writing(ctx, ref)
	if err != nil {
		return err
	}
	var onto *Base
	for range 8 * GroupLength {
		d, err := in.Dependent(ctx, ref, number, above)
		if err != nil || d == nil {
			return err
		}
		if err := d.decode(b, e); err != nil {
			return err
		}
		if d.Body == nil {
			log.WarnContext(ctx, "a version can't be read, as it or the one that it is a delta of is damaged",
				"org", ref.Org, "state", ref.Name, "version", d.Version.Number)
		}
		var packed Stored
		packed, onto, err = b.encodeAgain(e, d, onto)
		if err != nil {
			return err
		}
		var base *Base
		if packed.Base != (BaseID{}) {
			base = onto
		}
		there, err := in.Replace(ctx, ref, d, packed, base)
		if err != nil {
			return err
		}
		if !there {
			onto = nil
		}
	}
	return fault.New(fault.StoreUnavailable, "versions that need version %d could not all be stored anew; ask again",
		number)
}

// encodeAgain encodes a dependent as a delta of onto, or whole: then it is what the next
// ones go onto. What can't be read stays as it is, without the base.
func (b *Bodies) encodeAgain(e Envelope, d *Dependent, onto *Base) (Stored, *Base, error) {
	if d.Body == nil {
		return Stored{Encoding: d.Kept.Encoding, Bytes: d.Kept.Bytes}, onto, nil
	}
	v := d.Version
	if onto != nil && onto.Serves(v.Number, len(d.Body)) {
		if packed, ok := b.Codec.Difference(onto, d.Body); ok {
			packed, err := e.Seal(Place{Number: v.Number}, packed)
			return packed, onto, err
		}
	}
	packed, err := e.Seal(Place{Number: v.Number}, b.Codec.Encode(d.Body))
	onto = &Base{BaseID: BaseID{d.ID, v.Number, v.Digest}, Kept: d.Digest, Body: d.Body, Size: len(d.Body),
		Packed: len(packed.Bytes)}
	return packed, onto, err
}

// decode reads the body, which stays nil when the stored bytes are damaged.
func (d *Dependent) decode(b *Bodies, e Envelope) (err error) {
	d.Body, err = b.Decode(e, Place{Number: d.Version.Number}, d.Version, d.Kept, d.Whole)
	d.Whole = Stored{}
	if fault.Is(err, fault.StateCorrupt) {
		return nil
	}
	return err
}

// ScanDependent reads the IDs of a dependent, what is stored of it and of its base, and
// VersionColumns. When its row says what can't be, its base is left out, without which nothing is
// decoded.
func ScanDependent(rows *sql.Rows, e Envelope) (*Dependent, error) {
	var (
		d          Dependent
		own, whole StoredRow
		row        VersionRow
	)
	err := rows.Scan(slices.Concat([]any{&d.ID, &d.State, &d.Base}, own.WithBase(), whole.Fields(), row.Fields())...)
	if err != nil {
		return nil, err
	}
	d.Kept = own.Copied()
	if err := d.Describe(&row, e); err == nil {
		d.Whole = whole.Copied()
	} else if !fault.Is(err, fault.StateCorrupt) {
		return nil, err
	}
	return &d, nil
}

// Describe takes in what describes the version, which may be damaged.
func (d *Dependent) Describe(row *VersionRow, e Envelope) (err error) {
	d.Digest = row.digest
	d.Version, err = row.Value(e)
	if fault.Is(err, fault.StateCorrupt) {
		d.Version.Number = row.Number()
	}
	return err
}
