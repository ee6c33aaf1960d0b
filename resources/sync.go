package resources

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/document"
)

// sync makes what the index has of a state what its newest version has. It acquires the
// memory for that, and reads the version, before its turn: a purge waits for no more than one
// state to be put into the index, whatever else is read or in memory.
func (x *Indexer) sync(ctx context.Context, ref state.Ref) error {
	for {
		head, err := x.States.Head(ctx, ref)
		if fault.Is(err, fault.SealKeyMissing) {
			return x.leaveOut(ctx, ref, err)
		}
		if err != nil {
			return err
		}
		room := x.memoryFor(ref, head.Version.Size)
		if err = x.fetch(ctx, ref, head, room); err == nil {
			err = x.turn.alone(ctx, func() error { return x.syncAlone(ctx, ref, room) })
		}
		room.release()
		if !errors.Is(err, errMoved) {
			return err
		}
	}
}

// leaveOut has the index know nothing of a state that nobody can open any more, and goes on with the others: the master
// keys have forgotten its organization, say.
func (x *Indexer) leaveOut(ctx context.Context, ref state.Ref, why error) error {
	x.Log.WarnContext(ctx, "a state is not in the resource index", "org", ref.Org, "state", ref.Name, "error", why)
	return x.turn.alone(ctx, func() error { return x.Index.Remove(ctx, ref) })
}

// room is memory for one version, and the version once it was read.
type room struct {
	hold     budget.Hold
	found    bool
	number   uint64 // of the version that was read; 0 for none
	snapshot state.Snapshot
	err      error // why it could not be read
}

// memoryFor acquires it for a version of the organization's, if there is as much now.
func (x *Indexer) memoryFor(ref state.Ref, size int64) *room {
	r := &room{hold: x.Memory.Hold(budget.Share{Org: ref.Org})}
	r.found = r.hold.TryAcquire(size)
	return r
}

func (r *room) release() { r.hold.Release() }

// errMoved says that another version is the newest than was read.
var errMoved = errors.New("resources: another version was written meanwhile")

// fetch reads the newest version if the index lacks it and there is memory for it.
func (x *Indexer) fetch(ctx context.Context, ref state.Ref, head state.Head, r *room) error {
	want := holdingOf(head)
	if !r.found || want.Version == 0 || want.Unread != "" {
		return nil
	}
	have, err := x.Index.Holding(ctx, ref)
	if err != nil || isAs(have, want) && !x.retries.due(ref, x.Now()) {
		return err
	}
	r.number = want.Version
	r.snapshot, r.err = x.States.Version(ctx, ref, r.number)
	return nil
}

func (x *Indexer) syncAlone(ctx context.Context, ref state.Ref, r *room) error {
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
		return x.load(ctx, ref, head.Version, have, r)
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
// before. One that can't be read is remembered as such, as is one for which there is no
// memory now: it is tried again soon.
func (x *Indexer) load(ctx context.Context, ref state.Ref, v state.Version, have Holding, r *room) error {
	if !r.found {
		return x.unread(ctx, ref, v, have, fault.Overloaded)
	}
	if r.number != v.Number {
		return errMoved
	}
	x.lag.loaded()
	snapshot, err := r.snapshot, r.err
	switch {
	case fault.Is(err, fault.StateNotFound):
		return nil // gone meanwhile; there is an event that says so
	case temporary(ctx, err):
		return err
	}
	var parsed *document.Document
	if err == nil {
		parsed, err = document.ParseWithin(snapshot.Body, r.hold.AcquireNow)
	}
	if err != nil {
		return x.unread(ctx, ref, v, have, fault.From(err).Code)
	}
	x.retries.ended(ref, "", x.Now())
	h := Holding{Version: v.Number, Digest: v.Digest, At: v.CreatedAt}
	return x.Index.Replace(ctx, ref, h, x.Rules.ofDocument(ref.Name, v, parsed))
}

// unread remembers a version as one that could not be read.
func (x *Indexer) unread(ctx context.Context, ref state.Ref, v state.Version, have Holding, why fault.Code) error {
	h := Holding{Version: v.Number, Digest: v.Digest, At: v.CreatedAt, Unread: why}
	x.retries.ended(ref, h.Unread, x.Now())
	if have == h {
		return nil // it is as it was at the last try
	}
	x.Log.WarnContext(ctx, "a state is not in the resource index", "org", ref.Org, "state", ref.Name, "version", v.Number,
		"code", h.Unread)
	return x.Index.Replace(ctx, ref, h, none)
}

// temporary reports whether an error says something of the server, not of one state.
func temporary(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || fault.Is(err, fault.StoreUnavailable) || fault.Is(err, fault.StoreFull) ||
		fault.Is(err, fault.Overloaded))
}

func none(func(Resource) bool) {}
