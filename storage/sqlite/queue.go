package sqlite

import (
	"context"
	"sync/atomic"
)

// The phases of a job. It leaves queued once: to the writer, or with its caller.
const (
	queued int32 = iota
	begun
	withdrawn
)

// job is one piece of work for the writer.
type job struct {
	ctx   context.Context // the caller's, which counts until the job has begun
	bytes int             // about how much it writes
	// run does the work within the writer's transaction. An error is the store's own and
	// undoes the transaction; then run may be called again in another one.
	run func(*session) error
	// alone says that run wants no transaction, and that nothing else is under way.
	alone bool

	phase atomic.Int32
	done  chan struct{} // closed when err is set, after the commit
	err   error
}

// submit has the writer run the work, and returns when it is durable. When ctx ends before
// the work begins, it is left undone.
func (s *Store) submit(ctx context.Context, bytes int, run func(*session) error) error {
	return s.await(ctx, &job{bytes: bytes, run: run})
}

func (s *Store) await(ctx context.Context, j *job) error {
	if err := s.enqueue(ctx, j); err != nil {
		return err
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if j.phase.CompareAndSwap(queued, withdrawn) {
			return ctx.Err()
		}
		<-j.done
	}
	return j.err
}

func (s *Store) enqueue(ctx context.Context, j *job) error {
	j.ctx, j.done = ctx, make(chan struct{})
	select {
	case s.queue <- j:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin claims the job for the writer. It is false for a job whose caller has left, or
// whose context has ended: that one has its answer then.
func (j *job) begin() bool {
	if !j.phase.CompareAndSwap(queued, begun) {
		return false
	}
	if err := j.ctx.Err(); err != nil {
		j.finish(err)
		return false
	}
	return true
}

func (j *job) finish(err error) {
	j.err = err
	close(j.done)
}
