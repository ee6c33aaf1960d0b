package state

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Ref addresses one state. Names are unique within an organization only: no operation of
// a Store ever looks at, or changes, a state of another organization than Ref.Org.
type Ref struct {
	Org  uuid.UUID
	Name Name
}

// Head is all that is known of a state short of its bytes. The zero Head is a state that
// was never written or locked.
type Head struct {
	// Version is the newest ever written, also after a deletion.
	Version Version
	// Deleted says that the state was deleted after Version was written, at DeletedAt.
	Deleted   bool
	DeletedAt time.Time
	// Undeleted says that it was brought back since Version was written, and not deleted again.
	Undeleted bool
	// Lock is the held lock, nil when nobody holds it.
	Lock *Lock
	// ReleasedID is the ID of the lock that was released last, so that a replayed UNLOCK
	// can be told from a wrong one.
	ReleasedID string
	// Fence is what the writes of runs are decided by; the zero Fence lets none pass.
	Fence Fence
	// Expected is a change that was announced; nil for none, but also one whose time is over may
	// be there.
	Expected *Expectation
}

// Exists reports whether there is a state to read.
func (h Head) Exists() bool { return h.Version.Number > 0 && !h.Deleted }

// After returns the head that a change of h with a body of this many bytes leads to: with
// times as stores keep them, and sharing nothing with the change that its maker could
// alter. An error means that the decision is wrong: a version out of turn, or one that
// describes another body.
func (h Head) After(change Change, bodySize int) (Head, error) {
	if v := change.Version; v != nil {
		if v.Number != h.Version.Number+1 || v.Size != int64(bodySize) {
			return Head{}, fmt.Errorf("state: version %d of %d bytes can't follow version %d with a body of %d bytes",
				v.Number, v.Size, h.Version.Number, bodySize)
		}
		h.Version, h.Deleted, h.DeletedAt, h.Undeleted = *v, false, time.Time{}, false
		h.Version.CreatedAt = storedTime(v.CreatedAt)
	}
	if change.Delete {
		h.Deleted, h.DeletedAt, h.Undeleted = true, storedTime(change.At), false
	}
	if change.Undelete {
		h.Undeleted = h.Undeleted || h.Deleted
		h.Deleted, h.DeletedAt = false, time.Time{}
	}
	if change.Release && h.Lock != nil {
		h.ReleasedID, h.Lock = h.Lock.Info.ID, nil
	}
	if change.Lock != nil {
		lock := *change.Lock
		lock.Since, lock.Seen, lock.Info.Raw = storedTime(lock.Since), storedTime(lock.Seen), bytes.Clone(lock.Info.Raw)
		h.Lock = &lock
	}
	if change.Seen && h.Lock != nil {
		lock := *h.Lock
		lock.Seen = storedTime(change.At)
		h.Lock = &lock
	}
	if change.Fence != nil {
		h.Fence = *change.Fence
	}
	if change.Expect != nil {
		h.Expected = change.Expect.stored()
	}
	return h, nil
}

func storedTime(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Change is what a decision wants recorded; Head.After says where it leads. A Change
// without parts records nothing; of several parts, Version comes first, then Delete,
// Undelete, Release, Lock, Seen, Fence and Expect.
type Change struct {
	// At is the time of the change, for DeletedAt, Lock.Seen and the events.
	At time.Time
	// Version makes Update's body the state's newest version. Its Number must be
	// Head.Version.Number + 1.
	Version *Version
	// Delete takes the state away; its versions stay. Undelete brings it back.
	Delete, Undelete bool
	// Lock makes this the held lock. An ID that was released from this state before, by
	// whomever and however long ago, or by this very change, fails the Update with
	// fault.LockIDUsed.
	Lock *Lock
	// Release frees the lock, if one is held, and remembers its ID: as ReleasedID, and for
	// good, so that no delayed LOCK makes it valid again.
	Release bool
	// Seen is a sign of life of the lock's holder.
	Seen bool
	// Fence is what the writes of runs are decided by from now on. It stays until another
	// one takes its place, whatever becomes of the state, short of Expunge.
	Fence *Fence
	// Expect is the change that is expected from now on; one without Findings is the end of what
	// was expected. It stays until another one takes its place, whatever becomes of the state,
	// short of Expunge.
	Expect *Expectation
	// Candidate keeps Update's body as a candidate, unless one with this ID is there.
	// Beyond MaxOpenCandidates open ones of the state, Update fails with
	// fault.CandidatesFull.
	Candidate *Candidate
	// Settle ends an open candidate; one that is not open any more fails the Update with
	// fault.CandidateSettled, one that never was with fault.CandidateNotFound. With a Content it
	// ends all open candidates of the state that have the same one as well, and without an ID
	// those alone, however many there are.
	Settle *Settlement
	// RestorePurged accepts a Version or a Candidate whose bytes were purged from the state.
	// Without it they fail the Update with fault.BytesPurged, by their digest: also when
	// retention has removed the purged version since.
	RestorePurged bool
	// Events go to the audit log. Org, State and At are the Update's own.
	Events []audit.Event
	// Allow, unless it is nil, is asked by a change that stores a body or grants a lock, in
	// the change's own transaction: with what Usage says of the organization by then, and
	// how much of it this change adds. It is not asked by a change that stores nothing: one
	// that ends a lock, say, or brings a Candidate that is there. Its error refuses the change, and Update returns it as
	// it is. It is as quick as a Decide, and called as often, or twice as often.
	Allow func(used, adds int64) error
}

// Empty reports whether the change has no parts. Events alone are parts.
func (c Change) Empty() bool {
	return c.Version == nil && !c.Delete && !c.Undelete && c.Lock == nil && !c.Release && !c.Seen && c.Fence == nil &&
		c.Expect == nil &&
		c.Candidate == nil && c.Settle == nil && len(c.Events) == 0
}

// Brings returns the digest of the body that the change has the store keep, if it has one:
// a Store refuses it when it was purged (see RestorePurged).
func (c Change) Brings() (digest Digest, some bool) {
	switch {
	case c.RestorePurged:
		return Digest{}, false
	case c.Version != nil:
		return c.Version.Digest, true
	case c.Candidate != nil:
		return c.Candidate.Digest, true
	}
	return Digest{}, false
}

// Decide looks at a state's head and says what to change. It must be quick and have no
// effects of its own: a Store may call it more than once for one Update, and only the
// last call counts.
type Decide func(Head) (Change, error)

// Pruning says which versions go.
type Pruning struct {
	Below  uint64    // numbers smaller than this; 0 for none
	Before time.Time // created before this; zero for none
	Now    time.Time // what is dated after this tells nothing of its age; zero when all times count
	Limit  int       // above zero
}

// Store keeps states. Every engine and every decorator passes statetest.RunStore.
//
// All methods are safe for concurrent use. Snapshots and heads that were returned never
// change afterwards. Errors about the store itself are faults of code StoreUnavailable,
// StoreFull or StateCorrupt; none of them ever looks like StateNotFound.
type Store interface {
	// Current returns the newest version with its exact bytes, or fault.StateNotFound
	// when the state was never written or is deleted. It sees every Update that returned
	// before it was called.
	Current(ctx context.Context, ref Ref) (Snapshot, error)

	// Head returns the head; for an unknown state the zero Head and no error. It sees
	// every Update that returned before it was called.
	Head(ctx context.Context, ref Ref) (Head, error)

	// Version returns an accepted version, also of a deleted state, or
	// fault.StateNotFound when there is no such version, fault.VersionPurged when its
	// bytes were destroyed.
	Version(ctx context.Context, ref Ref, number uint64) (Snapshot, error)

	Changes
	Lists

	// Usage returns how many bytes the store keeps for an organization: the bodies of its
	// versions and open candidates, as they are stored; RowBytes for each state, version and
	// candidate, of whatever status; and LockBytes of each lock that is held. It sees every
	// call that returned before it, and its cost doesn't grow with what is kept. Events and
	// the IDs of released locks don't count: nobody could make room by removing them.
	Usage(ctx context.Context, org uuid.UUID) (int64, error)

	// Totals counts the states that Current returns and the locks that are held, of all
	// organizations, and says since when that lock is held which was granted first, by the time
	// that it was granted with. It sees every
	// call that returned before it, and its cost doesn't grow with what is kept.
	Totals(ctx context.Context) (Totals, error)

	// Ready returns nil when a write would be accepted now, else a fault that says why
	// not. It may answer from a probe that is at most a second old.
	Ready(ctx context.Context) error

	// Close waits for updates that have begun and releases everything. Later calls
	// return fault.StoreUnavailable; a second Close does nothing.
	Close() error
}

// Changes is the part of a Store that changes what is stored. A decorator that keeps newest
// versions has to see each of its calls.
type Changes interface {
	// Update runs decide on the current head and records what it returns, in one
	// transaction: no other Update of the same state comes between. It returns the head
	// after the change only when a crash of the process or the machine can no longer
	// undo it (the memory engine excepted: it survives nothing).
	//
	// When decide returns an error, nothing is recorded and Update returns that error as
	// it is. On any other error the change is either recorded whole or not at all. An
	// ended ctx stops an Update that has not begun, with ctx's error; one that has begun
	// is carried out. Either way the outcome is settled when Update returns: nothing of
	// it happens afterwards. Two exceptions: when the disk failed in a commit and the store
	// can't write since, a crash may bring about what was refused, until the store has
	// written again. Till then it accepts nothing, and Ready says so. And when the way to a
	// database server is lost in a commit, the store asks the server what became of it, and
	// sees to it that what has not happened never does; only where the server stays away for
	// longer than that is waited for, StoreUnavailable says that nobody knows.
	//
	// body is stored only when the change has a Version. The store keeps no reference
	// to it that the caller could disturb: the caller must not change it afterwards.
	Update(ctx context.Context, ref Ref, body []byte, decide Decide) (Head, error)

	// Purge destroys a version's bytes: when it returns nil, they are in none of the
	// store's files any more, unless another version has the same ones: each version is
	// purged by itself. Files that are a database server's are left to it: there the rows are
	// deleted, and no statement returns them. Open candidates with these bytes are discarded, and lose them too.
	// Current of a purged newest version is fault.VersionPurged, and so is Version. The
	// state takes these bytes no more (see Change.RestorePurged), for as long as it is not
	// expunged. To purge again is fine. StateNotFound when there is no such version. The
	// event is recorded in the same transaction.
	Purge(ctx context.Context, ref Ref, number uint64, event audit.Event) error

	// Prune removes versions of a state for good, the oldest first: those with a smaller
	// number than below and those created before the time, up to the first that is neither,
	// and never the newest. A version that is dated after now, because a clock was ahead, is
	// as old as the next one that is not, if that is one of the next PruneReach: it goes with
	// any that goes, or would if it were not the newest. Any other version that stays keeps
	// all behind it: one that a clock dated too early takes none along that was dated rightly
	// and is not old. Prune removes at most limit of them and returns how many; with fewer
	// than limit there are no more. What removed something records the event, with a note of
	// how many.
	Prune(ctx context.Context, ref Ref, p Pruning, event audit.Event) (int, error)

	// Expunge removes a state that is deleted since before the time, with all its
	// versions, candidates and lock IDs, in pieces of at most limit versions; done reports
	// that there is nothing more to do: it is gone, or is not to go, because it was brought
	// back meanwhile, somebody holds its lock, or it has an open candidate: nothing of one is
	// lost until somebody decides. A state of which Expunge removed a part
	// can't be undeleted any more: it is a zero Head, in no list, and its name is free.
	// Whatever an earlier Expunge of any state has left, because of a crash say, goes first
	// or last; with the zero Ref nothing else does. Events about the state stay.
	Expunge(ctx context.Context, ref Ref, before time.Time, limit int, event audit.Event) (done bool, err error)

	// Shred destroys what is kept of an organization, whatever state it is in: its states with
	// their versions, locks, announcements, candidates and lock IDs, what Usage and Totals count,
	// and its events, of which the log keeps the sequences and the times alone (see
	// audit.Event.Blank). It is for an organization that nobody is let in for any more, and
	// records nothing. Each call is one bounded transaction, in which at most limit rows go, above zero; removed is how
	// many did.
	// When it is 0, nothing of the organization is left for any method to find, nor in the
	// store's files, as far as Purge says that of them. It may be stopped anywhere and called again, also when there is
	// nothing,
	// and changes nothing of any other organization. What becomes of a part of it meanwhile, by
	// any method, is not defined. Afterwards the organization is as good as a new one.
	Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error)

	// PruneEvents removes the oldest events of an organization that are from before a time, at most limit of them, and
	// returns how many; with fewer than limit there are no more. It is one transaction, with the checkpoint that
	// audit.Chain.Prune says, which Chain returns from then on as Removed, and with the event, as
	// audit.Checkpoint.Of has it: a crash leaves all of it or nothing. No list has the removed events any more,
	// and Feed has what audit.Event.Blank leaves of them, or nothing where those of all organizations before them
	// are gone too. An event that is not as it was written stays, with StateCorrupt. Without any to remove
	// nothing is recorded.
	PruneEvents(ctx context.Context, org uuid.UUID, before time.Time, limit int,
		event audit.Event) (removed int, err error)

	// Record adds an event by itself: of what was refused, say. It returns once that is
	// durable.
	Record(ctx context.Context, event audit.Event) error
}
