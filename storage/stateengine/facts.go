package stateengine

import (
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// Questions are what an update has to know of a state beside its head. Most ask nothing.
type Questions struct {
	Digest    string // was it purged? As rows have it.
	LockID    string // was it released before?
	Candidate string // is there one of this ID, and how many are open?
	Settle    string // is there one of this ID?
	Base      *Base  // is it a base among the state's versions?
}

// Facts are the answers.
type Facts struct {
	Purged, LockUsed  bool
	Candidate, Settle state.CandidateStatus // empty when there is none
	Open              int                   // candidates; counted when Candidate is empty
	IsBase            bool
}

// Any reports whether anything is asked.
func (q Questions) Any() bool { return q != Questions{} }

// questions are those of a change of the row's state.
func (u *Update) questions(row HeadRow, change state.Change) (q Questions, err error) {
	if digest, some := change.Brings(); some && row.Purges {
		hidden, err := u.envelope.Hide(digest)
		if err != nil {
			return q, err
		}
		q.Digest = string(hidden)
	}
	if change.Lock != nil {
		q.LockID = change.Lock.Info.ID
	}
	if change.Candidate != nil {
		q.Candidate = change.Candidate.ID
	}
	if change.Settle != nil {
		q.Settle = change.Settle.ID
	}
	if from := u.From; from != nil && change.Version != nil && row.Base != from.BaseID &&
		from.Reaches(change.Version.Number) {
		q.Base = from
	}
	return q, nil
}

// forbids says what of the state's own history stands against a change.
func forbids(row HeadRow, change state.Change, facts Facts) error {
	if facts.Purged {
		return fault.New(fault.BytesPurged, "these bytes were purged from the state")
	}
	if change.Lock != nil && (facts.LockUsed || change.Release && row.Head.Lock.Info.ID == change.Lock.Info.ID) {
		return fault.New(fault.LockIDUsed, "a lock with this ID was released before; an ID is good for one lock")
	}
	if change.Candidate != nil && facts.Candidate == "" && facts.Open >= state.MaxOpenCandidates {
		return fault.New(fault.CandidatesFull, "the state has %d open candidates; promote or discard one first", facts.Open)
	}
	if s := change.Settle; s != nil && s.ID != "" {
		switch {
		case facts.Settle == "":
			return ErrNoCandidate(s.ID)
		case facts.Settle != state.Open:
			return fault.New(fault.CandidateSettled, "candidate %s was %s already", s.ID, facts.Settle)
		}
	}
	return nil
}

// ErrNoCandidate is the fault of a candidate that is not there.
func ErrNoCandidate(id string) error {
	return fault.New(fault.CandidateNotFound, "the state has no candidate %.40q", id)
}

// ErrNoVersion is the fault of a version that is not there.
func ErrNoVersion(number uint64) error {
	return fault.New(fault.StateNotFound, "there is no version %d of this state", number)
}

// allows asks the change whether the organization may have that much. err is the store's own.
func (u *Update) allows(t StateTx, row HeadRow, change state.Change, facts Facts) (refusal, err error) {
	body := u.stores(change, facts)
	if change.Allow == nil || !change.Grows(body) {
		return nil, nil
	}
	adds := change.Adds(row.ID == 0, row.Head.Lock, body)
	return t.Room(adds, func(used int64) error { return change.Allow(used, adds) })
}

// stores is how many bytes of the body the change stores; below zero for none: a candidate
// may be there already.
func (u *Update) stores(change state.Change, facts Facts) int64 {
	if change.Version == nil && (change.Candidate == nil || facts.Candidate != "") {
		return -1
	}
	return int64(len(u.Body.Bytes))
}

// IsAsked returns a fault.StateCorrupt unless what was found is the version that was asked for: a damaged index leads
// to another row, and what that has was sealed for it.
func IsAsked(found state.Snapshot, number uint64) error {
	if found.Version.Number == number {
		return nil
	}
	return fault.New(fault.StateCorrupt, "where version %d should be there is version %d: the store is damaged; an operator "+
		"must restore it", number, found.Version.Number)
}

// ErrPurged is the fault of a version whose bytes are gone.
func ErrPurged(number uint64) error {
	return fault.New(fault.VersionPurged, "the bytes of version %d were destroyed on purpose", number)
}
