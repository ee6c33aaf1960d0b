package verify

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"
)

// errQueueFull is what queue.acquire returns to a caller that it rejects.
var errQueueFull = errors.New("too many key checks are waiting")

// rank orders those who wait for a bcrypt. The package comment says who has which.
type rank int

const (
	familiar rank = iota
	stranger
	suspect
	ranks
)

// preferred returns the rank whose turn the n-th one is.
func preferred(n int) rank { return [...]rank{familiar, stranger, familiar, suspect}[n%4] }

// queue lets a bounded number of bcrypts run at once, and decides which one runs next; the
// package comment explains how.
type queue struct {
	mu   sync.Mutex
	free int // bcrypts that may start; above zero only while nobody waits
	turn int
	rank [ranks]waiters
}

// queueLimits bound how many may wait in one rank: of one origin, for one organization, of
// one client, and in all.
type queueLimits struct{ origin, org, client, total int }

func newQueue(width int, limits queueLimits) *queue {
	q := &queue{free: width}
	for r := range q.rank {
		q.rank[r] = newWaiters(limits)
	}
	return q
}

// request is what the queue knows of a caller.
type request struct {
	origin
	rank rank
	// admitted says that the caller has had a turn for the same check, and may wait for
	// another one whatever the limits say.
	admitted bool
}

// acquire waits for the caller's turn; unless it fails, release must follow. It fails with
// errQueueFull when too many wait, at once or when the caller loses its place to another
// one later, and with ctx's error as soon as ctx ends.
func (q *queue) acquire(ctx context.Context, r request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	if q.free > 0 {
		q.free--
		q.mu.Unlock()
		return nil
	}
	waiting := &q.rank[r.rank]
	if !r.admitted && !waiting.makeRoom(r.origin) {
		q.mu.Unlock()
		return errQueueFull
	}
	w := waiting.add(r)
	q.mu.Unlock()

	select {
	case <-w.decided:
		if w.rejected {
			return errQueueFull
		}
		return nil
	case <-ctx.Done():
		q.cancel(w)
		return ctx.Err()
	}
}

// release ends a bcrypt and lets the next one start.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.startNext()
}

func (q *queue) startNext() {
	first := preferred(q.turn)
	q.turn++
	if q.rank[first].startNext() {
		return
	}
	for r := range q.rank {
		if q.rank[r].startNext() {
			return
		}
	}
	q.free++
}

// cancel removes w. When w has got its turn meanwhile, the next one gets it.
func (q *queue) cancel(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-w.decided:
		if !w.rejected {
			q.startNext()
		}
	default:
		q.rank[w.rank].remove(w)
	}
}

// waiters are those of one rank. They are not safe for concurrent use.
type waiters struct {
	limits      queueLimits
	waiting     int
	at          map[origin]int // how many wait there
	byOrg       roundRobin[uuid.UUID]
	byClient    roundRobin[string]
	clientsNext bool // which of the two is served next
}

type waiter struct {
	request
	decided          chan struct{} // closed when it may start or is rejected
	rejected         bool          // set before decided is closed
	inOrg, inClients *list.Element
}

func newWaiters(limits queueLimits) waiters {
	return waiters{
		limits: limits, at: make(map[origin]int),
		byOrg: newRoundRobin[uuid.UUID](), byClient: newRoundRobin[string](),
	}
}

// makeRoom reports whether a newcomer from o may wait, after it has rejected another waiter
// where that is needed.
func (ws *waiters) makeRoom(o origin) bool {
	switch {
	case ws.at[o] >= ws.limits.origin || ws.byClient.length(o.client) >= ws.limits.client:
		return false
	case ws.byOrg.length(o.org) >= ws.limits.org:
		return ws.reject(ws.lastOfFullestOrigin(o))
	case ws.waiting >= ws.limits.total:
		return ws.reject(ws.byClient.lastOfLongest(ws.byClient.length(o.client) + 1))
	}
	return true
}

// lastOfFullestOrigin returns the last waiter of the origin from which most wait for o's
// organization; nil when a newcomer from o would have as many beside it.
func (ws *waiters) lastOfFullestOrigin(o origin) *waiter {
	fullest, most := o, ws.at[o]+1
	for other, n := range ws.at {
		if other.org == o.org && n > most {
			fullest, most = other, n
		}
	}
	if fullest == o {
		return nil
	}
	return ws.byOrg.last(o.org, func(w *waiter) bool { return w.origin == fullest })
}

// reject makes w's acquire fail. It reports false when there is no w.
func (ws *waiters) reject(w *waiter) bool {
	if w == nil {
		return false
	}
	ws.remove(w)
	w.rejected = true
	close(w.decided)
	return true
}

func (ws *waiters) add(r request) *waiter {
	w := &waiter{request: r, decided: make(chan struct{})}
	w.inOrg, w.inClients = ws.byOrg.add(r.org, w), ws.byClient.add(r.client, w)
	ws.waiting++
	ws.at[r.origin]++
	return w
}

func (ws *waiters) remove(w *waiter) {
	ws.byOrg.remove(w.org, w.inOrg)
	ws.byClient.remove(w.client, w.inClients)
	ws.waiting--
	if ws.at[w.origin]--; ws.at[w.origin] == 0 {
		delete(ws.at, w.origin)
	}
}

// startNext lets the waiter go whose turn it is; it reports false when nobody waits.
func (ws *waiters) startNext() bool {
	w := ws.byOrg.next()
	if ws.clientsNext {
		w = ws.byClient.next()
	}
	if w == nil {
		return false
	}
	ws.clientsNext = !ws.clientsNext
	ws.remove(w)
	// A turn in one is a turn in both, or a flood would be served once by each.
	ws.byOrg.moveToBack(w.org)
	ws.byClient.moveToBack(w.client)
	close(w.decided)
	return true
}

// roundRobin holds a list of waiters for each key, and serves the keys in turn. It is not
// safe for concurrent use.
type roundRobin[K comparable] struct {
	lists map[K]*waiterList
	keys  list.List // of K: those with waiters, the next one in front
}

type waiterList struct {
	list.List // of *waiter, the longest waiting in front
	key       *list.Element
}

func newRoundRobin[K comparable]() roundRobin[K] {
	return roundRobin[K]{lists: make(map[K]*waiterList)}
}

func (r *roundRobin[K]) length(k K) int {
	if l, ok := r.lists[k]; ok {
		return l.Len()
	}
	return 0
}

// add puts w at the end of k's list. The element is for remove.
func (r *roundRobin[K]) add(k K, w *waiter) *list.Element {
	l, ok := r.lists[k]
	if !ok {
		l = &waiterList{key: r.keys.PushBack(k)}
		r.lists[k] = l
	}
	return l.PushBack(w)
}

// remove removes a waiter from k's list, wherever it stands there.
func (r *roundRobin[K]) remove(k K, e *list.Element) {
	l := r.lists[k]
	if l.Remove(e); l.Len() == 0 {
		r.keys.Remove(l.key)
		delete(r.lists, k)
	}
}

// next returns the first waiter of the key whose turn it is, and leaves it where it is; nil
// when nobody waits.
func (r *roundRobin[K]) next() *waiter {
	key := r.keys.Front()
	if key == nil {
		return nil
	}
	return r.lists[key.Value.(K)].Front().Value.(*waiter)
}

// moveToBack ends the turn of k: every other key comes first now.
func (r *roundRobin[K]) moveToBack(k K) {
	if l, ok := r.lists[k]; ok {
		r.keys.MoveToBack(l.key)
	}
}

// last returns the last waiter of k's list that is one of those; nil when none is.
func (r *roundRobin[K]) last(k K, those func(*waiter) bool) *waiter {
	l, ok := r.lists[k]
	if !ok {
		return nil
	}
	for e := l.Back(); e != nil; e = e.Prev() {
		if w := e.Value.(*waiter); those(w) {
			return w
		}
	}
	return nil
}

// lastOfLongest returns the last waiter of the longest list; nil when no list has more than
// n waiters.
func (r *roundRobin[K]) lastOfLongest(n int) *waiter {
	var longest *waiterList
	for _, l := range r.lists {
		if l.Len() > n {
			longest, n = l, l.Len()
		}
	}
	if longest == nil {
		return nil
	}
	return longest.Back().Value.(*waiter)
}
