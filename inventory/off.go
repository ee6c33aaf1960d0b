package inventory

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// Off is the Store of a server that keeps no uploads: it answers everything with
// fault.UploadsOff.
type Off struct{}

func errOff() error {
	return fault.New(fault.UploadsOff,
		"this server keeps no uploads: set storage.type (STORAGE_TYPE) to csv, mysql, postgres or dual")
}

// Append implements Store.
func (Off) Append(context.Context, Batch) (Receipt, error) { return Receipt{}, errOff() }

// AppendAll implements Store.
func (Off) AppendAll(context.Context, []Batch) ([]Receipt, error) { return nil, errOff() }

// Recorded implements Store.
func (Off) Recorded(context.Context, uuid.UUID, string) (Remembered, bool, error) {
	return Remembered{}, false, errOff()
}

// Records implements Store.
func (Off) Records(context.Context, uuid.UUID, Query) iter.Seq2[Positioned, error] {
	return failed(errOff())
}

// Summary implements Store.
func (Off) Summary(context.Context, uuid.UUID) ([]Group, error) { return nil, errOff() }

// Usage implements Store: it keeps nothing.
func (Off) Usage(context.Context, uuid.UUID) (int64, error) { return 0, nil }

// Shred implements Store: it keeps nothing.
func (Off) Shred(context.Context, uuid.UUID, int) (int, error) { return 0, nil }

// Expire implements Store: it keeps nothing.
func (Off) Expire(context.Context, uuid.UUID, time.Time, int) (int, error) { return 0, nil }

// Organizations implements Store.
func (Off) Organizations(context.Context) iter.Seq2[uuid.UUID, error] {
	return func(yield func(uuid.UUID, error) bool) { yield(uuid.Nil, errOff()) }
}

// Status implements Store.
func (Off) Status(context.Context) error { return errOff() }

// Close implements Store.
func (Off) Close() error { return nil }
