package sqlite

import (
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// The heads that a session keeps: so many, and none with texts beyond a few kilobytes, so
// that all of them together take 32 MB at most, and about a kilobyte each as a rule.
const (
	keptHeads = 4096
	keptTexts = 4 << 10
)

// heads are the rows of the states that were written last, as the transaction under way
// sees them: of LOCK, POST and UNLOCK only the first has to load one, which took a fifth of
// a cycle's time in the writer.
//
// They are exact, because the writer alone uses them and nobody else writes: whatever writes
// a row of a state forgets its head (see stateRows), an update keeps the one that it made,
// what is undone forgets all, and so does a change that another process made to the file
// (see dataVersion).
type heads struct {
	rows    *simplelru.LRU[state.Ref, stateengine.HeadRow]
	version int64 // of the data by other connections, as of the transaction under way
}

func newHeads() *heads {
	// The only error is a size below one.
	rows, _ := simplelru.NewLRU[state.Ref, stateengine.HeadRow](keptHeads, nil)
	return &heads{rows: rows}
}

func (h *heads) keep(ref state.Ref, row stateengine.HeadRow) {
	if row.ID == 0 || texts(row.Head) > keptTexts {
		h.rows.Remove(ref)
		return
	}
	h.rows.Add(ref, row)
}

func (h *heads) forget(ref state.Ref) { h.rows.Remove(ref) }

func (h *heads) forgetAll() { h.rows.Purge() }

// at begins a transaction on data of this version, and reports whether others have changed it.
func (h *heads) at(version int64) (changed bool) {
	if changed = version != h.version; changed {
		h.forgetAll()
	}
	h.version = version
	return changed
}

// texts is about how many bytes a head refers to.
func texts(h state.Head) int {
	v, a := &h.Version, &h.Version.Author
	n := len(v.Lineage) + len(v.TerraformVersion) + len(v.Origin.Candidate) + len(v.Origin.Reason) + len(h.ReleasedID) +
		len(h.Fence.Run) +
		len(a.KeyID) + len(a.Subject) + len(a.Address) + len(a.Request) + len(a.Who) + len(a.Operation)
	if e := h.Expected; e != nil {
		n += len(e.Reason) + len(e.KeyID) + len(e.KeyName) + len(e.Subject) + len(e.LockID)
	}
	if h.Lock != nil {
		i := &h.Lock.Info
		n += len(h.Lock.KeyID) + len(h.Lock.Run.ID) + len(i.ID) + len(i.Operation) + len(i.Info) + len(i.Who) +
			len(i.Version) + len(i.Created) +
			len(i.Path) + len(i.Raw)
	}
	return n
}
