package sqlite

import (
	"fmt"
	"runtime/debug"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// update is one call of Store.Update on its way through the writer.
type update struct {
	ref    state.Ref
	size   int // of the body before it was encoded
	body   stored
	from   *base // of which body is a delta; nil for none
	decide state.Decide

	// The answer, once the transaction is committed.
	head    state.Head
	refusal error
	stale   bool  // nothing is recorded, as from serves no more
	row     int64 // of the version that is recorded; 0 for none
}

// run decides on the current head and records the change. The error is the store's own; a
// decision's goes to refusal, as it must not undo what others did in the transaction.
func (u *update) run(t *session) error {
	u.head, u.refusal, u.stale, u.row = state.Head{}, nil, false, 0 // there may have been a try before
	row, err := t.headOf(u.ref)
	if fault.Is(err, fault.StateCorrupt) {
		u.refusal = err
		return nil
	}
	if err != nil {
		return err
	}
	change, next, err := u.plan(row.head)
	if err != nil {
		u.refusal = err
		return nil
	}
	u.refusal, err = t.forbids(row, change)
	if err != nil || u.refusal != nil {
		return err
	}
	if u.stale, err = u.baseless(t, row, change); err != nil || u.stale {
		return err
	}
	if u.refusal, err = u.allows(t, row, change); err != nil || u.refusal != nil {
		return err
	}
	if row.id, err = u.record(t, row.id, change, next); err != nil {
		return err
	}
	t.census.Note(u.ref, row.head, next)
	u.head, row.head = next, next
	row.base = u.baseAfter(row)
	t.heads.keep(u.ref, row)
	return nil
}

// plan asks for the change and works out where it leads. A decision that panics fails
// alone.
func (u *update) plan(h state.Head) (change state.Change, next state.Head, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("sqlite: a decision panicked: %v\n%s", p, debug.Stack())
		}
	}()
	if change, err = u.decide(h); err != nil {
		return change, next, err
	}
	change.Release = change.Release && h.Lock != nil // there may be nothing to free
	next, err = h.After(change, u.size)
	return change, next, err
}

// record makes the change's rows. The state's own comes with the first change that leaves
// something of it. It returns the ID of that one, zero while there is none.
func (u *update) record(t *session, id int64, change state.Change, next state.Head) (_ int64, err error) {
	if id == 0 && (next != state.Head{} || change.Candidate != nil) {
		if id, err = t.rowsOf(u.ref).insert(&t.addState, u.ref.Org.String(), string(u.ref.Name)); err != nil {
			return 0, err
		}
	}
	for _, part := range []func() error{
		func() error { return u.recordContent(t, id, change, next) },
		func() error { return t.rowsOf(u.ref).recordHolder(id, change, next) },
		func() error { return u.recordCandidate(t, id, change) },
		func() error { return t.recordEvents(u.ref, change) },
	} {
		if err := part(); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// recordContent makes the rows of a version, of a deletion and of its undoing.
func (u *update) recordContent(t *session, id int64, change state.Change, next state.Head) (err error) {
	if change.Version != nil {
		if u.row, err = t.rowsOf(u.ref).recordVersion(id, next.Version, u.body); err != nil {
			return err
		}
	}
	switch {
	case change.Undelete:
		return t.rowsOf(u.ref).exec(&t.setDeleted, nil, next.Undeleted, id)
	case change.Delete:
		return t.rowsOf(u.ref).exec(&t.setDeleted, next.DeletedAt.UnixMicro(), false, id)
	}
	return nil
}

// recordHolder makes the rows of a lock, of its end, of a fence and of what is expected.
func (r stateRows) recordHolder(id int64, change state.Change, next state.Head) (err error) {
	if change.Release {
		if err = r.t.exec(r.t.retireLock, id); err == nil {
			err = r.exec(&r.t.release, id)
		}
	}
	if err == nil && change.Lock != nil {
		err = r.recordLock(id, next.Lock)
	}
	if err == nil && change.Seen && next.Lock != nil {
		err = r.exec(&r.t.setSeen, next.Lock.Seen.UnixMicro(), id)
	}
	if f := next.Fence; err == nil && change.Fence != nil {
		err = r.exec(&r.t.setFence, f.Run, f.Epoch, f.Open, id)
	}
	if err == nil {
		err = r.recordExpected(id, change, next)
	}
	return err
}

// recordVersion returns the version's row.
func (r stateRows) recordVersion(id int64, v state.Version, body stored) (int64, error) {
	version, err := r.insert(&r.t.addVersion, append([]any{id}, versionValues(v)...)...)
	if err != nil {
		return 0, err
	}
	if err := r.exec(&r.t.addBody, version, body.encoding, body.bytes, body.base); err != nil {
		return 0, err
	}
	return version, r.exec(&r.t.setNewest, version, id)
}

// versionValues returns what the columns from number to purged hold.
func versionValues(v state.Version) []any {
	return []any{int64(v.Number), int64(v.Serial), v.Lineage, v.TerraformVersion, v.Encrypted, v.Size, v.Digest[:],
		v.CreatedAt.UnixMicro(), v.Author.KeyID, v.Author.Address, v.Author.Request, v.Author.Who, v.Author.Operation,
		v.Author.Subject, v.Resources, v.Warnings.String(), int64(v.Origin.Version), v.Origin.Candidate, v.Origin.Reason, v.Purged}
}

func (r stateRows) recordLock(id int64, l *state.Lock) error {
	info := &l.Info
	return r.exec(&r.t.setLock, l.Since.UnixMicro(), l.KeyID, info.ID, info.Operation, info.Info, info.Who,
		info.Version, info.Created, info.Path, []byte(info.Raw),
		l.Seen.UnixMicro(), l.Run.ID, l.Run.Epoch, id)
}
