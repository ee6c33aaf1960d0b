package mysqlstates

import (
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// slack is by how many times what a change adds an organization's room must be larger, so
	// that the change need not lock the room: as many others may be adding as much at the moment.
	slack = 256
	// leastSlack is for small changes beside large ones.
	leastSlack = 16 << 20
	// roomAge is for how long a node goes by what it has read of an organization's usage and by
	// what it has added since, where that leaves slack: to sum up the journal for each change
	// costs the server more than the change.
	roomAge = time.Second
	// keptRooms is of how many organizations that is kept.
	keptRooms = 4096
)

// rooms know what organizations have, but for what other nodes have added within roomAge. Turns
// say what came before what: nobody knows whether a reading saw a COMMIT that was under way with it.
type rooms struct {
	mu   sync.Mutex
	all  *simplelru.LRU[uuid.UUID, *room]
	turn uint64 // the last one
}

// room is what was read of an organization's usage, with what this node has added since.
type room struct {
	used  int64
	at    time.Time
	known bool
	read  uint64 // the turn in which the reading had ended
	added uint64 // the turn in which a COMMIT had ended last
}

func newRooms() *rooms {
	// The only error is a size below one.
	all, _ := simplelru.NewLRU[uuid.UUID, *room](keptRooms, nil)
	return &rooms{all: all}
}

// of returns an organization's. The caller holds the lock.
func (r *rooms) of(org uuid.UUID) *room {
	found, ok := r.all.Get(org)
	if !ok {
		found = &room{}
		r.all.Add(org, found)
	}
	return found
}

// begin returns the turn of a reading or a COMMIT that begins now.
func (r *rooms) begin() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	return r.turn
}

// get returns what is known of an organization, if that is not too old.
func (r *rooms) get(org uuid.UUID, now time.Time) (used int64, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.of(org)
	return found.used, found.known && now.Sub(found.at) < roomAge
}

// read takes in what a reading that began in a turn has found.
func (r *rooms) read(org uuid.UUID, used int64, began uint64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	found := r.of(org)
	found.used, found.at, found.read = used, now, r.turn
	found.known = found.added < began
}

// committed takes in that a COMMIT has added so many bytes, which began in a turn.
func (r *rooms) committed(org uuid.UUID, bytes int64, began uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	found := r.of(org)
	found.added = r.turn
	found.used += bytes
	found.known = found.known && found.read < began
}

// Room implements stateengine.StateTx. Who is far from the end of the room takes it as it is:
// others may add what they add at the same time. Near the end the room is locked until the
// transaction ends, so that what it holds by then is exact.
func (t *tx) Room(adds int64, allow func(used int64) error) (refusal, err error) {
	used, known := t.rooms.get(t.ref.Org, time.Now())
	if !known {
		turn := t.rooms.begin()
		if used, err = t.usage(); err != nil {
			return nil, err
		}
		t.rooms.read(t.ref.Org, used, turn, time.Now())
	}
	if allow(used+max(slack*adds, leastSlack)) == nil {
		return allow(used), nil
	}
	if _, err := t.now(sqlLockRoom, t.ref.Org.String()); err != nil {
		return nil, err
	}
	if used, err = t.usage(); err != nil {
		return nil, err
	}
	return allow(used), nil
}

func (t *tx) usage() (used int64, err error) {
	org := t.ref.Org.String()
	_, err = t.one([]any{&used}, sqlUsage, org, org)
	return used, err
}
