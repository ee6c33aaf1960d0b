package sqluploads

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// A group is bounded, so that its transaction stays short.
const (
	groupBatches = 256
	groupBytes   = 4 << 20
)

// entry is an Append that waits, and then its answer.
type entry struct {
	ctx     context.Context // of the call; once the entry was taken it counts no more
	batch   inventory.Batch
	receipt inventory.Receipt
	err     error
	done    chan struct{} // closed when receipt and err are there
	// fresh is set when a transaction sets out to record the batch, having found that
	// nobody has; ours when the outcome of such a one is unknown: if a later attempt finds
	// the batch, it is the call's own, not one that was sent before.
	fresh, ours bool
	// before is the entry without which this one is not recorded; nil for none.
	before *entry
}

// orphaned returns the error of the entry without which this one is not recorded, if that
// one has failed.
func (e *entry) orphaned() error {
	if e.before == nil {
		return nil
	}
	return e.before.err
}

// queues has a line for each organization that has appends waiting or under way. Their
// transactions would wait for each other in the database anyway: so they take up one
// connection instead of many, and share a commit.
type queues struct {
	mu    sync.Mutex
	lines map[uuid.UUID]*line
}

type line struct{ waiting []*entry }

// join puts entries at the end of their organization's line. It reports whether the line is
// new: then somebody has to serve it until nothing waits in it.
func (q *queues) join(group ...*entry) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lines == nil {
		q.lines = map[uuid.UUID]*line{}
	}
	org := group[0].batch.Org
	l, ok := q.lines[org]
	if !ok {
		l = &line{}
		q.lines[org] = l
	}
	l.waiting = append(l.waiting, group...)
	return !ok
}

// leave takes the entry out of the line; false when somebody took it already.
func (q *queues) leave(e *entry) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l, ok := q.lines[e.batch.Org]
	if !ok {
		return false
	}
	at := slices.Index(l.waiting, e)
	if at < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, at, at+1)
	return true
}

// waits reports whether entries wait in the organization's line, and closes it if not.
func (q *queues) waits(org uuid.UUID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines[org].waiting) > 0 {
		return true
	}
	delete(q.lines, org)
	return false
}

// next returns the next group; none when all have left the line since waits.
func (q *queues) next(org uuid.UUID) []*entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[org]
	n, bytes := 0, 0
	for n < len(l.waiting) && n < groupBatches && (n == 0 || bytes+l.waiting[n].size() <= groupBytes) {
		bytes += l.waiting[n].size()
		n++
	}
	group := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	return group
}

// size is about what the batch's rows take up in a statement.
func (e *entry) size() int {
	total := 0
	for i := range e.batch.Resources {
		total += rowSize(&e.batch.Resources[i])
	}
	return total
}
