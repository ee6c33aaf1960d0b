package verify

import "container/list"

// rota is a set of queues that are served in turn, one waiter from each. It is not safe
// for concurrent use.
type rota[K comparable] struct {
	queues map[K]*queue
	turns  list.List // of K: those with waiters, the next one in front
}

type queue struct {
	waiters list.List // of *waiter, the longest waiting in front
	turn    *list.Element
}

func newRota[K comparable]() rota[K] { return rota[K]{queues: make(map[K]*queue)} }

func (r *rota[K]) length(k K) int {
	if q, ok := r.queues[k]; ok {
		return q.waiters.Len()
	}
	return 0
}

// join puts w at the end of the queue k. The element is for leave.
func (r *rota[K]) join(k K, w *waiter) *list.Element {
	q, ok := r.queues[k]
	if !ok {
		q = &queue{turn: r.turns.PushBack(k)}
		r.queues[k] = q
	}
	return q.waiters.PushBack(w)
}

// leave takes a waiter out of the queue k, wherever it stands.
func (r *rota[K]) leave(k K, e *list.Element) {
	q := r.queues[k]
	q.waiters.Remove(e)
	if q.waiters.Len() == 0 {
		r.turns.Remove(q.turn)
		delete(r.queues, k)
	}
}

// next returns the waiter whose turn it is, without taking it out; nil when there is none.
func (r *rota[K]) next() *waiter {
	turn := r.turns.Front()
	if turn == nil {
		return nil
	}
	return r.queues[turn.Value.(K)].waiters.Front().Value.(*waiter)
}

// served ends the turn of queue k: everybody else comes first now.
func (r *rota[K]) served(k K) {
	if q, ok := r.queues[k]; ok {
		r.turns.MoveToBack(q.turn)
	}
}

// last returns the last waiter of queue k that is one of those; nil when none is.
func (r *rota[K]) last(k K, those func(*waiter) bool) *waiter {
	q, ok := r.queues[k]
	if !ok {
		return nil
	}
	for e := q.waiters.Back(); e != nil; e = e.Prev() {
		if w := e.Value.(*waiter); those(w) {
			return w
		}
	}
	return nil
}

// lastOfLongest returns the last waiter of the longest queue; nil when none has more than
// so many.
func (r *rota[K]) lastOfLongest(than int) *waiter {
	var longest *queue
	for _, q := range r.queues {
		if n := q.waiters.Len(); n > than {
			longest, than = q, n
		}
	}
	if longest == nil {
		return nil
	}
	return longest.waiters.Back().Value.(*waiter)
}
