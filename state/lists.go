package state

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Lists is the part of a Store that looks at many things at once, and changes none of
// them. Each call reads one page: its cost grows with the page, not with what is stored.
// Where a query leaves much out, a call looks at a bounded number of rows only; then the page
// has fewer elements than its limit, or none, and says where the list goes on. Each call
// sees every Update that returned before it was called. An unknown organization or state has
// empty lists.
//
// A list ends with ctx's error when ctx ends. Organizations take turns: none of them keeps
// another one's lists waiting, nor Current, Head, Version, Ready or any change. A list that
// gets no turn, or can't be read within a second, is fault.Overloaded, except that a page of
// States or Events that has come some way by then ends there, and says where the list goes on.
type Lists interface {
	// States lists an organization's states in the order of their names (by bytes). A page
	// ends before a state whose Bytes would take it past PageBytes, unless that is its first.
	States(ctx context.Context, org uuid.UUID, q StatesQuery) (Page, error)

	// Names lists the names of what States lists without any choice: of the states that exist. It
	// looks at up to limit names of an organization's states, in order, and returns those of states
	// that exist; so there may be fewer, or none. next says where the list goes on, as after; it is
	// empty at the end. It is for counting: what a name takes is little beside what a state does.
	Names(ctx context.Context, org uuid.UUID, prefix string, after Name, limit int) (names []Name, next Name, err error)

	// Versions describes a state's versions, the newest first, also of a deleted state;
	// before continues below that number, 0 begins with the newest.
	Versions(ctx context.Context, ref Ref, before uint64, limit int) ([]Version, error)

	// Candidates lists a state's candidates, the newest first: all open ones, and up to
	// limit of those that were settled. With the ID of one as after, it goes on with settled
	// ones only, those that came before that one; an unknown ID has none behind it.
	Candidates(ctx context.Context, ref Ref, after string, limit int) ([]Candidate, error)

	// Candidate returns one with its bytes; they are gone once it is settled, and Body is
	// nil then. fault.CandidateNotFound when there is none.
	Candidate(ctx context.Context, ref Ref, id string) (CandidateBody, error)

	// Events lists an organization's audit events, the newest first.
	Events(ctx context.Context, org uuid.UUID, q audit.Query) (audit.Page, error)

	// Feed lists the events of all organizations with a Sequence above after, in their
	// order: for what follows the store from inside the server. It is gapless: what it has
	// not shown yet gets a Sequence above all that it has shown. Fewer than limit are all
	// that there were.
	Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error)

	// Chain returns how far the chain of an organization's events has come, and up to limit of its events from a sequence
	// on, in their order and up to the chain's head, each with what is kept of the chain beside it. Each event that is
	// listed is in its organization's chain, as audit.Chain.Next says, except those of no organization. Of an
	// organization without a chain all events are returned. What Shred leaves of events keeps its place and its hash in
	// the store; the chain is gone with its seed, and the organization's next event begins a new one. What PruneEvents
	// has removed is not returned, and Chain.Removed says up to where that is; both are of the same moment.
	Chain(ctx context.Context, org uuid.UUID, from uint64, limit int) (audit.Chain, []audit.Link, error)

	// All lists the states of all organizations, deleted ones too, in an order of the
	// store's own; after continues behind that one, the zero Ref begins. It is for work
	// inside the server, never for a caller.
	All(ctx context.Context, after Ref, limit int) ([]Located, error)
}

// StatesQuery selects states of an organization.
type StatesQuery struct {
	Prefix string // of the name; may be empty
	After  Name   // continue behind this name; empty begins
	Limit  int    // above zero
	// What to list: states that exist, those that are deleted, or both; or only those with a
	// held lock (deleted or never written ones too). One that was never written counts as
	// existing as long as it has an open candidate: nothing else leads to its bytes.
	Deleted Deletion
	Locked  bool
	// Expected lists only those of which a change is expected, deleted ones too; also where its
	// time is over.
	Expected bool
	// Direct, Contains and Held leave out more of what Deleted selects, and mean nothing with Locked
	// and Expected: states with a "/" behind the prefix, those that have no such text in their name,
	// capital letters being as good as small ones, and those without an open candidate.
	Direct   bool
	Contains string // in small letters; empty for any
	Held     bool
}

// Picks reports whether the query selects a state that Deleted does, by its name and by whether it
// has an open candidate.
func (q StatesQuery) Picks(name Name, held bool) bool {
	behind := strings.TrimPrefix(string(name), q.Prefix)
	return (!q.Direct || !strings.Contains(behind, "/")) && (!q.Held || held) &&
		strings.Contains(strings.ToLower(string(name)), q.Contains)
}

// Deletion selects states by whether they are deleted.
type Deletion int

// The deletions.
const (
	NotDeleted Deletion = iota
	OnlyDeleted
	AnyDeletion
)

// Selects reports whether a state that is deleted, or is not, is selected.
func (d Deletion) Selects(deleted bool) bool {
	return d == AnyDeletion || (d == OnlyDeleted) == deleted
}

// Page is a part of a list of states.
type Page struct {
	States []Listed
	// Next continues the list, as StatesQuery.After; empty at its end. It need not be the name
	// of a state in the list.
	Next Name
}

// Listed is a state in a list.
type Listed struct {
	Name Name
	Head Head
	// OpenCandidates is how many there are, at most MaxOpenCandidates.
	OpenCandidates int
}

// Bytes is about what it takes in memory, its texts above all.
func (l Listed) Bytes() int64 {
	n := listedBytes + len(l.Name) + l.Head.Version.textBytes() + len(l.Head.ReleasedID) + len(l.Head.Fence.Run)
	n += l.Head.Expected.textBytes()
	if lock := l.Head.Lock; lock != nil {
		i := lock.Info
		n += len(i.Raw) + len(i.ID) + len(i.Operation) + len(i.Info) + len(i.Who) + len(i.Version) + len(i.Created) +
			len(i.Path) + len(lock.KeyID) + len(lock.Run.ID)
	}
	return int64(n)
}

const (
	// PageBytes is how much the states of a page take, by their Bytes, but always one state:
	// a lock's info may be large.
	PageBytes = 1 << 20
	// MostListed is the most that a single one takes: its lock's info as it was sent, and the
	// texts out of that.
	MostListed = 160 << 10
	// listedBytes is what a Listed takes beside its texts.
	listedBytes = 768
)

// Located is a state in a list of all.
type Located struct {
	Ref  Ref
	Head Head
}

// CandidateBody is a candidate with its bytes. Readers share Body: nobody may change it.
type CandidateBody struct {
	Candidate
	Body []byte
}
