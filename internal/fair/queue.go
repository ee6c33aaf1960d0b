// Package fair queues what waits for something that organizations share, so that they come
// one after the other, however much each of them has waiting.
package fair

import (
	"container/list"

	"github.com/google/uuid"
)

// Queue is what waits, in its organizations' order: first in, first out within one of them,
// in turns among them. The zero Queue is empty. It is not safe for concurrent use.
type Queue[T any] struct {
	order list.List // of *line, without empty ones; the organization whose turn is next in front
	lines map[uuid.UUID]*list.Element
}

// line is what waits of one organization.
type line struct {
	org     uuid.UUID
	waiting list.List
}

// Place is where something stands in a Queue.
type Place[T any] struct {
	// Value is what waits.
	Value T

	org  uuid.UUID
	at   *list.Element
	left bool
}

// Org returns whose it is.
func (p *Place[T]) Org() uuid.UUID { return p.org }

// Join puts a value behind all others of its organization.
func (q *Queue[T]) Join(org uuid.UUID, value T) *Place[T] {
	p := &Place[T]{Value: value, org: org}
	l := q.lines[org]
	if l == nil {
		if q.lines == nil {
			q.lines = map[uuid.UUID]*list.Element{}
		}
		l = q.order.PushBack(&line{org: org})
		q.lines[org] = l
	}
	p.at = l.Value.(*line).waiting.PushBack(p)
	return p
}

// Next takes the first value out that may go, and puts its organization behind the others.
// Of each organization only the first value is asked about, in their order. It is nil when
// none may.
func (q *Queue[T]) Next(may func(*Place[T]) bool) *Place[T] {
	for l := q.order.Front(); l != nil; l = l.Next() {
		p := l.Value.(*line).waiting.Front().Value.(*Place[T])
		if may(p) {
			q.order.MoveToBack(l)
			q.Leave(p)
			return p
		}
	}
	return nil
}

// Leave takes a value out, if it is in the queue still, and reports whether it was.
func (q *Queue[T]) Leave(p *Place[T]) bool {
	if p.left {
		return false
	}
	p.left = true
	l := q.lines[p.org]
	waiting := &l.Value.(*line).waiting
	if waiting.Remove(p.at); waiting.Len() == 0 {
		q.order.Remove(l)
		delete(q.lines, p.org)
	}
	return true
}

// Empty reports whether nothing waits.
func (q *Queue[T]) Empty() bool { return q.order.Len() == 0 }
