package readmap

import (
	"math"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/holdfast/holdfast/state"
)

// recent is the map: the entries used last, by their size in bytes. Store.mu guards it.
type recent struct {
	entries *simplelru.LRU[state.Ref, *entry]
	bytes   int64
	limit   int64
	closed  bool
	barred  map[uuid.UUID]struct{} // organizations without entries
}

func newRecent(limit int64) *recent {
	r := &recent{limit: limit, barred: map[uuid.UUID]struct{}{}}
	// The only error is a size below one.
	r.entries, _ = simplelru.NewLRU(math.MaxInt, func(_ state.Ref, e *entry) { r.bytes -= e.bytes })
	return r
}

// entryCost is what an entry takes up beside its bytes: the version with the texts in
// it, and its share of the map and the list.
const entryCost = 1024

func cost(ref state.Ref, s state.Snapshot) int64 {
	return entryCost + int64(len(ref.Name)+cap(s.Body))
}

func (r *recent) get(ref state.Ref) (*entry, bool) { return r.entries.Get(ref) }

func (r *recent) remove(ref state.Ref) { r.entries.Remove(ref) }

// put keeps s as the entry of ref. One that needs more than a quarter of the room is not
// kept: it would push out the many small states that most reads ask for, and a few such
// states would only push out one another.
func (r *recent) put(ref state.Ref, s state.Snapshot) {
	r.remove(ref)
	c := cost(ref, s)
	if _, barred := r.barred[ref.Org]; barred || r.closed || c > r.limit/4 {
		return
	}
	for r.bytes+c > r.limit {
		r.entries.RemoveOldest()
	}
	r.entries.Add(ref, &entry{Snapshot: s, bytes: c})
	r.bytes += c
}

// bar removes an organization's entries, and keeps none of it until it is taken out of barred.
func (r *recent) bar(org uuid.UUID) {
	if _, already := r.barred[org]; already {
		return
	}
	r.barred[org] = struct{}{}
	for _, ref := range r.entries.Keys() {
		if ref.Org == org {
			r.remove(ref)
		}
	}
}

// grow has the entry count for so many bytes more. It may have to go for that.
func (r *recent) grow(ref state.Ref, e *entry, more int64) {
	if now, ok := r.entries.Peek(ref); !ok || now != e {
		return
	}
	e.bytes += more
	r.bytes += more
	for r.bytes > r.limit {
		r.entries.RemoveOldest()
	}
}

func (r *recent) close() {
	r.closed = true
	r.entries.Purge()
}
