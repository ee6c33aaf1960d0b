package seal

import (
	"context"

	"github.com/google/uuid"
)

// Kind is what sort of thing is sealed. What is sealed as one kind opens as no other.
type Kind string

// WrappedKey is a data key of an organization as it is kept: encrypted under a master key.
type WrappedKey struct {
	Number  uint32  // from 1, without gaps
	ID      [8]byte // random; what is sealed names it
	Wrapped []byte  // at most 1 KiB
}

// Keys keeps the wrapped data keys of organizations. It is safe for concurrent use, by several
// processes too. An organization sees nothing of another one's. Nothing is ever removed or
// changed but by ReplaceDataKey: whoever loses a data key loses all that it sealed. What is
// returned belongs to the caller, and what is passed in stays the caller's. When the context
// has ended, calls fail and change nothing.
//
// Package sealtest has the suite that every implementation passes.
type Keys interface {
	// DataKeys returns all data keys of an organization by number, so that the newest is the
	// last. An organization that has none has an empty list. It sees every key that any
	// AddDataKey or ReplaceDataKey returned before, in any process.
	DataKeys(ctx context.Context, org uuid.UUID) ([]WrappedKey, error)

	// AddDataKey keeps the key unless the organization has one of its number, and returns what
	// is kept under that number: of several that are added at once, all callers get the same
	// one. When it returns without an error the kept key is durable.
	AddDataKey(ctx context.Context, org uuid.UUID, key WrappedKey) (kept WrappedKey, err error)

	// ReplaceDataKey puts is in the place of was if that, by number, ID and every byte, is what
	// is kept, in one step. It returns what is kept then, which is is, or else what somebody
	// else put there; the zero WrappedKey if there is none of was's number. was and is have the
	// same number and ID. When it returns without an error what it returned is durable.
	ReplaceDataKey(ctx context.Context, org uuid.UUID, was, is WrappedKey) (kept WrappedKey, err error)
}
