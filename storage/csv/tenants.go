package csv

import (
	"sync"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// idleTenants is how many organizations are remembered that nobody works for. Another one
// costs two queries of the index.
const idleTenants = 4096

// tenants has one tenant for each organization that somebody works for.
type tenants struct {
	store *Store
	mu    sync.Mutex
	used  map[uuid.UUID]*tenant
	idle  *simplelru.LRU[uuid.UUID, *tenant]
}

func newTenants(s *Store) *tenants {
	idle, _ := simplelru.NewLRU[uuid.UUID, *tenant](idleTenants, nil)
	return &tenants{store: s, used: map[uuid.UUID]*tenant{}, idle: idle}
}

// acquire returns the organization's tenant, to be released.
func (ts *tenants) acquire(org uuid.UUID) *tenant {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.used[org]
	if t == nil {
		if t, _ = ts.idle.Peek(org); t == nil {
			t = &tenant{store: ts.store, org: org, path: ts.store.path(org), gate: newSlots(1), expiring: newSlots(1)}
		}
		ts.idle.Remove(org)
		ts.used[org] = t
	}
	t.refs++
	return t
}

// hold acquires a tenant that is in use once more.
func (ts *tenants) hold(t *tenant) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.refs++
}

// release ends a use. A tenant that knows of bytes behind the end of its file, which
// nobody else could tell from an edit, is never forgotten.
func (ts *tenants) release(t *tenant) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.refs--; t.refs == 0 && !t.dirty() {
		delete(ts.used, t.org)
		ts.idle.Add(t.org, t)
	}
}

// close gives up what failed appends have left open. The next start deals with it.
func (ts *tenants) close() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.used {
		if t.tail != nil {
			_ = t.tail.Close()
		}
	}
}
