package resources

import (
	"context"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/document"
)

// sync makes what the index has of a state what its newest version has.
func (x *Indexer) sync(ctx context.Context, ref state.Ref) error {
	return x.turn.alone(ctx, func() error { return x.syncAlone(ctx, ref) })
}

func (x *Indexer) syncAlone(ctx context.Context, ref state.Ref) error {
	head, err := x.States.Head(ctx, ref)
	if err != nil {
		return err
	}
	have, err := x.Index.Holding(ctx, ref)
	if err != nil {
		return err
	}
	want := holdingOf(head)
	if isAs(have, want) && !x.retries.due(ref, x.Now()) {
		return nil
	}
	if want.Version > 0 && want.Unread == "" {
		return x.load(ctx, ref, head.Version, have)
	}
	x.retries.ended(ref, want.Unread, x.Now())
	if want.Version == 0 {
		return x.Index.Remove(ctx, ref)
	}
	return x.Index.Replace(ctx, ref, want, none)
}

// holdingOf is what the index should have of a state, as far as the head tells.
func holdingOf(head state.Head) Holding {
	v := head.Version
	if !head.Exists() {
		return Holding{}
	}
	h := Holding{Version: v.Number, Digest: v.Digest, At: v.CreatedAt}
	switch {
	case v.Purged:
		h.Unread = fault.VersionPurged
	case v.Encrypted:
		h.Unread = fault.StateEncrypted
	}
	return h
}

// isAs reports whether what the index has is what it should have. When a version that could
// not be read is tried again, retries say.
func isAs(have, want Holding) bool {
	if have.Version != want.Version || have.Digest != want.Digest {
		return false
	}
	return have.Unread == want.Unread || want.Unread == "" && have.Unread != fault.VersionPurged
}

// load reads a version into the index, which has something else or could not be given it
// before. One that can't be read is remembered as such.
func (x *Indexer) load(ctx context.Context, ref state.Ref, v state.Version, have Holding) error {
	release, err := x.Room.Take(ctx, v.Size)
	if err != nil {
		return err
	}
	defer release()
	x.lag.loaded()
	snapshot, err := x.States.Version(ctx, ref, v.Number)
	switch {
	case fault.Is(err, fault.StateNotFound):
		return nil // gone meanwhile; there is an event that says so
	case temporary(ctx, err):
		return err
	}
	var parsed *document.Document
	if err == nil {
		parsed, err = document.Parse(snapshot.Body)
	}
	h := Holding{Version: v.Number, Digest: v.Digest, At: v.CreatedAt}
	if err == nil {
		x.retries.ended(ref, "", x.Now())
		return x.Index.Replace(ctx, ref, h, x.Rules.ofDocument(ref.Name, v, parsed))
	}
	h.Unread = fault.From(err).Code
	x.retries.ended(ref, h.Unread, x.Now())
	if have == h {
		return nil // it is as it was at the last try
	}
	x.Log.WarnContext(ctx, "a state is not in the resource index", "org", ref.Org, "state", ref.Name, "version", v.Number, "code", h.Unread)
	return x.Index.Replace(ctx, ref, h, none)
}

// temporary reports whether an error says something of the store, not of one state.
func temporary(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || fault.Is(err, fault.StoreUnavailable) || fault.Is(err, fault.StoreFull))
}

func none(func(Resource) bool) {}
