package sqlite

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/fair"
)

// job is one piece of work for the writer.
type job struct {
	ctx   context.Context // the caller's, which counts until the job has begun
	org   uuid.UUID       // whose turn it takes; server() for the store's own work
	bytes int             // about how much it writes
	// run does the work within the writer's transaction. An error is the store's own and
	// undoes the transaction; then run may be called again in another one.
	run func(*session) error
	// alone says that run wants no transaction, and that nothing else is under way.
	alone bool

	done chan struct{} // closed when err is set, after the commit
	err  error
}

// submit has the writer run the work when it is the organization's turn, and returns when it
// is durable. When ctx ends before the work begins, it is left undone.
func (s *Store) submit(ctx context.Context, org uuid.UUID, bytes int, run func(*session) error) error {
	return s.await(ctx, &job{org: org, bytes: bytes, run: run})
}

func (s *Store) await(ctx context.Context, j *job) error {
	place, err := s.enqueue(ctx, j)
	if err != nil {
		return err
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if s.queue.Leave(place) {
			return ctx.Err()
		}
		<-j.done
	}
	return j.err
}

// enqueue puts a job behind those of its organization. Unless it leaves the queue again, it
// gets an answer.
func (s *Store) enqueue(ctx context.Context, j *job) (*fair.Place[*job], error) {
	j.ctx, j.done = ctx, make(chan struct{})
	place, ok := s.queue.Join(j.org, j)
	if !ok {
		return nil, errClosed()
	}
	return place, nil
}

// begin reports whether a job that was taken out of the queue is to run: not when its
// caller's context has ended meanwhile, which then is its answer.
func (j *job) begin() bool {
	err := j.ctx.Err()
	if err != nil {
		j.finish(err)
	}
	return err == nil
}

func (j *job) finish(err error) {
	j.err = err
	close(j.done)
}
