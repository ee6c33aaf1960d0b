package seal

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/holdfast/holdfast/fault"
)

const (
	// ringsKept is of how many organizations the data keys are remembered.
	ringsKept = 1000
	// ringsAge is after what time a Sealer looks whether another process made a new data key.
	ringsAge = 5 * time.Minute
)

// ring has the data keys of one organization. It is never changed, only replaced.
type ring struct {
	keys   []dataKey // by number, and never empty
	loaded time.Time
}

// newest returns the key that seals.
func (r *ring) newest() (dataKey, error) {
	key := r.keys[len(r.keys)-1]
	return key, key.err
}

// first returns the key that sums come from, which must be the first that ever was.
func (r *ring) first() (dataKey, error) {
	if key := r.keys[0]; key.number == 1 {
		return key, key.err
	}
	return dataKey{}, fault.New(fault.SealKeyMissing, "the organization's data key 1 is not there")
}

func (r *ring) find(id keyID) (dataKey, bool) {
	i := slices.IndexFunc(r.keys, func(key dataKey) bool { return key.id == id })
	if i < 0 {
		return dataKey{}, false
	}
	return r.keys[i], true
}

// whole reports whether every key could be unwrapped.
func (r *ring) whole() bool {
	return !slices.ContainsFunc(r.keys, func(key dataKey) bool { return key.err != nil })
}

// rings remembers the rings of organizations, those that were used last. Of each organization
// one caller at a time asks Keys, and the others find what it found.
type rings struct {
	keys Keys

	mu      sync.Mutex
	known   *simplelru.LRU[uuid.UUID, *ring]
	loading map[uuid.UUID]*loadTurn
	newest  *Master
}

// loadTurn is whose turn it is to ask for an organization's keys.
type loadTurn struct {
	free    chan struct{} // has an element while it is nobody's turn
	callers int           // that have it or wait for it
}

func newRings(master *Master, keys Keys) *rings {
	known, _ := simplelru.NewLRU[uuid.UUID, *ring](ringsKept, nil) // fails for no room only
	return &rings{newest: master, keys: keys, known: known, loading: map[uuid.UUID]*loadTurn{}}
}

// master has the master keys as they are by now.
func (r *rings) master() *Master {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.newest
}

// forSealing returns an organization's ring, and makes its first key if it has none.
func (r *rings) forSealing(ctx context.Context, org uuid.UUID) (*ring, error) {
	fresh := func(known *ring) bool { return time.Since(known.loaded) < ringsAge }
	found, err := r.get(ctx, org, fresh, func() (*ring, error) { return r.loadOrCreate(ctx, org) })
	if err != nil {
		return nil, fmt.Errorf("get the organization's data keys: %w", err)
	}
	return found, nil
}

// forOpening returns the key of this ID. When it is not known it may be one that another
// process has made meanwhile, so Keys is asked.
func (r *rings) forOpening(ctx context.Context, org uuid.UUID, id keyID) (dataKey, error) {
	has := func(known *ring) bool { _, ok := known.find(id); return ok }
	found, err := r.get(ctx, org, has, func() (*ring, error) { return r.load(ctx, org) })
	if err != nil {
		return dataKey{}, fmt.Errorf("get the organization's data keys: %w", err)
	}
	const missing = "the organization has no data key %x, which this was sealed with"
	if found == nil {
		return dataKey{}, fault.New(fault.SealKeyMissing, missing, id)
	}
	if key, ok := found.find(id); ok {
		return key, key.err
	}
	return dataKey{}, fault.Wrap(ErrUnknownKey, fault.SealKeyMissing, missing, id)
}

// get returns the ring that is known if it will do, else what load returns.
func (r *rings) get(ctx context.Context, org uuid.UUID, willDo func(*ring) bool,
	load func() (*ring, error)) (*ring, error) {
	if known, ok := r.lookUp(org); ok && willDo(known) {
		return known, nil
	}
	release, err := r.acquire(ctx, org)
	if err != nil {
		return nil, err
	}
	defer release()
	if known, ok := r.lookUp(org); ok && willDo(known) {
		return known, nil
	}
	loaded, err := load()
	if err != nil {
		return nil, err
	}
	r.remember(org, loaded)
	return loaded, nil
}

func (r *rings) lookUp(org uuid.UUID) (*ring, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known.Get(org)
}

// remember replaces what is known of an organization. A nil ring is one without keys. One with
// a key that is damaged is not kept, so that an operator who mends it need not restart.
func (r *rings) remember(org uuid.UUID, loaded *ring) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if loaded == nil || !loaded.whole() {
		r.known.Remove(org)
		return
	}
	r.known.Add(org, loaded)
}

// forget drops what is known of an organization.
func (r *rings) forget(org uuid.UUID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known.Remove(org)
}

// acquire waits for the turn to ask for an organization's keys.
func (r *rings) acquire(ctx context.Context, org uuid.UUID) (release func(), err error) {
	r.mu.Lock()
	turn := r.loading[org]
	if turn == nil {
		turn = &loadTurn{free: make(chan struct{}, 1)}
		turn.free <- struct{}{}
		r.loading[org] = turn
	}
	turn.callers++
	r.mu.Unlock()
	leave := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if turn.callers--; turn.callers == 0 {
			delete(r.loading, org)
		}
	}
	select {
	case <-turn.free:
		return func() { turn.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// load returns the ring that is kept of an organization, nil if it has no keys.
func (r *rings) load(ctx context.Context, org uuid.UUID) (*ring, error) {
	wrapped, err := r.keys.DataKeys(ctx, org)
	if err != nil {
		return nil, err
	}
	return r.unwrap(org, wrapped), nil
}

func (r *rings) loadOrCreate(ctx context.Context, org uuid.UUID) (*ring, error) {
	loaded, err := r.load(ctx, org)
	if err != nil || loaded != nil {
		return loaded, err
	}
	// Another process may do the same now. The one that was first has made the key of both.
	first, err := r.master().newDataKey(org, 1)
	if err != nil {
		return nil, err
	}
	kept, err := r.keys.AddDataKey(ctx, org, first)
	if err != nil {
		return nil, err
	}
	// A new master key may have come meanwhile, and wrapped all keys but this one.
	if bytes.Equal(kept.Wrapped, first.Wrapped) && !r.master().wrapsNow(org, kept) {
		if kept, err = r.rewrap(ctx, org, kept); err != nil {
			return nil, err
		}
	}
	return r.unwrap(org, []WrappedKey{kept}), nil
}

// unwrap makes a ring. A key that can't be unwrapped takes none of the others with it.
func (r *rings) unwrap(org uuid.UUID, wrapped []WrappedKey) *ring {
	if len(wrapped) == 0 {
		return nil
	}
	out := &ring{loaded: time.Now()}
	for _, w := range wrapped {
		key, err := r.master().unwrap(org, w)
		key.number, key.id, key.err = w.Number, w.ID, err
		out.keys = append(out.keys, key)
	}
	return out
}
