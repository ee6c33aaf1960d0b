package quota

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// remoteFor is how long an answer of a source that is elsewhere counts, askWithin how
	// long it is waited for, and silentFor how long it isn't asked after it gave none.
	remoteFor = time.Second
	askWithin = time.Second
	silentFor = 10 * time.Second
	// remembered is for how many organizations and sources.
	remembered = 10_000
)

// remotes remembers what sources said that are asked over a network: a change of another
// source should not wait for them each time, and never for long.
type remotes struct {
	now func() time.Time

	mu     sync.Mutex
	said   *lru.LRU[remoteKey, remoteUsage]
	silent map[Kind]time.Time // when it gave no answer
}

type remoteKey struct {
	kind Kind
	org  uuid.UUID
}

type remoteUsage struct {
	bytes int64
	at    time.Time
}

func newRemotes(now func() time.Time) remotes {
	// The only error is a size below one.
	said, _ := lru.NewLRU[remoteKey, remoteUsage](remembered, nil)
	return remotes{now: now, said: said, silent: map[Kind]time.Time{}}
}

func (r *remotes) usage(ctx context.Context, source Source, org uuid.UUID) int64 {
	key := remoteKey{source.Kind, org}
	last, ask := r.last(key)
	if !ask {
		return last
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	bytes, err := source.Store.Usage(ctx, org)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.silent[key.kind] = r.now()
		return last
	}
	r.said.Add(key, remoteUsage{bytes, r.now()})
	return bytes
}

// last is what the source said last, and whether it is to be asked again.
func (r *remotes) last(key remoteKey) (bytes int64, ask bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	last, known := r.said.Get(key)
	ask = !known || now.Sub(last.at) >= remoteFor
	if since, ok := r.silent[key.kind]; ok && now.Sub(since) < silentFor {
		ask = false
	}
	return last.bytes, ask
}
