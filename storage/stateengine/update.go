package stateengine

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// Update is one call of state.Store's Update on its way through an engine.
type Update struct {
	Ref    state.Ref
	Size   int // of the body before it was encoded
	Body   Stored
	From   *Base // of which Body is a delta; nil for none
	Decide state.Decide

	envelope Envelope
	kept     []byte // what the version's row has for its digest

	// The answer, once the transaction is committed.
	Head    state.Head
	Refusal error
	Stale   bool  // nothing is recorded, as From serves no more
	Row     int64 // of the version that is recorded, as the engine knows it; 0 for none
}

// HeadRow is a state's row; ID is zero when there is none.
type HeadRow struct {
	ID   int64
	Head state.Head
	// Purges says that bytes of the state were purged.
	Purges bool
	// Base is a base that is certain to be there, zero when there is none: to ask for it takes
	// 2 % of a cycle's CPU.
	Base BaseID
}

// StateTx is a transaction of an engine's in which one state is changed. No other one changes
// the state at the same time. What it writes it may keep back until the transaction ends.
type StateTx interface {
	// Head returns the state's row. A damaged one is fault.StateCorrupt.
	Head() (HeadRow, error)
	// Ask answers questions about the state of this ID, which may be zero.
	Ask(id int64, q Questions) (Facts, error)
	// Room asks allow whether the organization may have so many bytes more, with what it has by
	// now. refusal is allow's answer to that, and it counts when the transaction is committed:
	// no other one has taken the room by then.
	Room(adds int64, allow func(used int64) error) (refusal, err error)

	AddState() (id int64, err error)
	// AddVersion makes it the newest version, of a state that is not deleted; row tells it from
	// others as a base (see BaseID).
	AddVersion(id int64, v state.Version, body Stored) (row int64, err error)
	// SetDeleted takes the state away at a time, or brings it back; nil is never.
	SetDeleted(id int64, at *time.Time, undeleted bool) error
	// Release frees the lock, and remembers its ID for good.
	Release(id int64, held *state.Lock) error
	SetLock(id int64, lock *state.Lock) error
	SetSeen(id int64, at time.Time) error
	SetFence(id int64, f state.Fence) error
	// SetExpected sets what ExpectedValue returns.
	SetExpected(id int64, value any) error
	AddCandidate(id int64, c *state.Candidate, body Stored) error
	// Settle ends a candidate, and all that are open with this content digest, as rows have it; nil for none.
	Settle(id int64, s state.Settlement, twins []byte) error
	AddEvent(e audit.Event) error
	// Done is told last what the transaction makes of the state.
	Done(was, next HeadRow)
}

// NewUpdate encodes a body for an update, in the caller's goroutine.
func (b *Bodies) NewUpdate(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (*Update, error) {
	if len(body) > MaxBody {
		return nil, fault.New(fault.BodyTooLarge, "the state has %d bytes; the store keeps at most %d", len(body), MaxBody)
	}
	envelope, err := b.Seals.Writing(ctx, ref)
	if err != nil {
		return nil, err
	}
	u := &Update{Ref: ref, Size: len(body), Decide: decide, envelope: envelope}
	u.Body, u.From = b.Encode(ctx, ref, body)
	return u, nil
}

// Envelope is what opens and seals the rows of the update's state.
func (u *Update) Envelope() Envelope { return u.envelope }

// Make has an engine run an update in a transaction, once more with the whole body where its
// base went away, and takes in what became of it. The error is the store's or the refusal.
func (b *Bodies) Make(ctx context.Context, u *Update, body []byte, transact func() error) (state.Head, error) {
	err := transact()
	if err == nil && u.Stale {
		u.Body, u.From = b.Codec.Encode(body), nil
		err = transact()
	}
	if err != nil {
		return state.Head{}, err
	}
	b.Learn(u, body)
	return u.Head, u.Refusal
}

// Run decides on the current head and records the change. The error is the store's own; a
// decision's goes to Refusal, as it must not undo what others did in the transaction.
func (u *Update) Run(t StateTx) error {
	u.Head, u.Refusal, u.Stale, u.Row = state.Head{}, nil, false, 0 // there may have been a try before
	row, err := t.Head()
	if fault.Is(err, fault.StateCorrupt) || fault.Is(err, fault.SealKeyMissing) {
		u.Refusal = err
		return nil
	}
	if err != nil {
		return err
	}
	change, next, err := u.plan(row.Head)
	if err != nil {
		u.Refusal = err
		return nil
	}
	questions, err := u.questions(row, change)
	if err != nil {
		return err
	}
	facts, err := t.Ask(row.ID, questions)
	if err != nil {
		return err
	}
	if u.Refusal = forbids(row, change, facts); u.Refusal != nil {
		return nil
	}
	if u.Stale = u.baseless(row, change, facts); u.Stale {
		return nil
	}
	if u.Refusal, err = u.allows(t, row, change, facts); err != nil || u.Refusal != nil {
		return err
	}
	was := row
	if row.ID, err = u.record(t, row, change, next, facts); err != nil {
		return err
	}
	u.Head, row.Head = next, next
	row.Base = u.baseAfter(row)
	t.Done(was, row)
	return nil
}

// plan asks for the change and works out where it leads. A decision that panics fails
// alone.
func (u *Update) plan(h state.Head) (change state.Change, next state.Head, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("stateengine: a decision panicked: %v\n%s", p, debug.Stack())
		}
	}()
	if change, err = u.Decide(h); err != nil {
		return change, next, err
	}
	change.Release = change.Release && h.Lock != nil // there may be nothing to free
	next, err = h.After(change, u.Size)
	return change, next, err
}

// record makes the change's rows. The state's own comes with the first change that leaves
// something of it. It returns the ID of that one, zero while there is none.
func (u *Update) record(t StateTx, row HeadRow, change state.Change, next state.Head,
	facts Facts) (id int64, err error) {
	id = row.ID
	if id == 0 && (next != state.Head{} || change.Candidate != nil) {
		if id, err = t.AddState(); err != nil {
			return 0, err
		}
	}
	for _, part := range []func() error{
		func() error { return u.recordContent(t, id, change, next) },
		func() error { return recordHolder(t, id, row, change, next) },
		func() error { return u.recordCandidate(t, id, change, facts) },
		func() error { return u.recordEvents(t, change) },
	} {
		if err := part(); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// recordContent makes the rows of a version, of a deletion and of its undoing.
func (u *Update) recordContent(t StateTx, id int64, change state.Change, next state.Head) (err error) {
	if change.Version != nil {
		body, err := u.sealed(Place{Number: next.Version.Number}, next.Version.Digest, state.Digest{})
		if err != nil {
			return err
		}
		u.kept = body.Digest
		if u.Row, err = t.AddVersion(id, next.Version, body); err != nil {
			return err
		}
	}
	switch {
	case id == 0:
	case change.Undelete:
		return t.SetDeleted(id, nil, next.Undeleted)
	case change.Delete:
		return t.SetDeleted(id, &next.DeletedAt, false)
	}
	return nil
}

// recordHolder makes the rows of a lock, of its end, of a fence and of what is expected.
func recordHolder(t StateTx, id int64, row HeadRow, change state.Change, next state.Head) (err error) {
	if change.Release {
		err = t.Release(id, row.Head.Lock)
	}
	if err == nil && change.Lock != nil {
		err = t.SetLock(id, next.Lock)
	}
	if err == nil && change.Seen && next.Lock != nil {
		err = t.SetSeen(id, next.Lock.Seen)
	}
	if err == nil && change.Fence != nil && id != 0 {
		err = t.SetFence(id, next.Fence)
	}
	if err != nil || change.Expect == nil || id == 0 {
		return err
	}
	value, err := ExpectedValue(next.Expected)
	if err != nil {
		return err
	}
	return t.SetExpected(id, value)
}

// recordCandidate makes the rows of a candidate that came and of one that was decided.
func (u *Update) recordCandidate(t StateTx, id int64, change state.Change, facts Facts) error {
	if c := change.Candidate; c != nil && facts.Candidate == "" {
		body, err := u.sealed(Place{Candidate: c.ID}, c.Version.Digest, c.Content)
		if err != nil {
			return err
		}
		if err := t.AddCandidate(id, c, body); err != nil {
			return err
		}
	}
	if change.Settle == nil || id == 0 {
		return nil
	}
	var twins []byte
	if change.Settle.Content != (state.Digest{}) {
		var err error
		if twins, err = u.envelope.HideContent(change.Settle.Content); err != nil {
			return err
		}
	}
	return t.Settle(id, *change.Settle, twins)
}

// sealed returns the body as it is to be stored in a place, with what its row has for digests.
func (u *Update) sealed(p Place, digest, content state.Digest) (s Stored, err error) {
	if s, err = u.envelope.Seal(p, u.Body); err != nil {
		return Stored{}, err
	}
	if s.Digest, err = u.envelope.Hide(digest); err != nil {
		return Stored{}, err
	}
	s.Content, err = u.envelope.HideContent(content)
	return s, err
}

// recordEvents adds the change's events to the audit log.
func (u *Update) recordEvents(t StateTx, change state.Change) error {
	for _, event := range change.Events {
		event.At, event.Org, event.State = change.At, u.Ref.Org, string(u.Ref.Name)
		if err := t.AddEvent(event); err != nil {
			return err
		}
	}
	return nil
}

// baseless reports whether the update's body can't be stored as it is encoded, because its
// base went away or does not reach as far.
func (u *Update) baseless(row HeadRow, change state.Change, facts Facts) bool {
	switch from := u.From; {
	case from == nil:
		return false
	case change.Candidate != nil: // it outlives versions
		return true
	case change.Version == nil:
		return false
	case !from.Reaches(change.Version.Number):
		return true
	case row.Base == from.BaseID:
		return false
	default:
		return !facts.IsBase
	}
}

// baseAfter is the base that the state is known to have once the update is recorded.
func (u *Update) baseAfter(row HeadRow) BaseID {
	switch {
	case u.Row == 0:
		return row.Base
	case u.From != nil:
		return u.From.BaseID
	default:
		return BaseID{u.Row, u.Head.Version.Number, u.Head.Version.Digest}
	}
}
