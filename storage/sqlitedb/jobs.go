package sqlitedb

import (
	"context"
	"runtime"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/spans"
)

// Job is a piece of work for a Writer.
type Job struct {
	// Org is whose turn the job takes; uuid.Nil for the store's own work.
	Org uuid.UUID
	// Bytes is about how much it writes.
	Bytes int
	// Run does the work in a transaction. An error undoes the transaction; then Run may be
	// called again in another one.
	Run func(*Tx) error
	// Alone says that Run wants no transaction, and that none is under way.
	Alone bool
}

// job is a Job that was submitted.
type job struct {
	Job
	ctx  context.Context // the caller's, which counts until the job has begun
	done chan struct{}   // closed when err is set
	err  error
}

// Submit has the job run when it is its organization's turn, and returns when it is durable, or
// why it isn't. When ctx ends before the job begins, it is left undone.
func (w *Writer) Submit(ctx context.Context, work Job) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, end := spans.Start(ctx, "commit")
	defer func() { end(err) }()
	j := &job{Job: work, ctx: ctx, done: make(chan struct{})}
	place, ok := w.inbox.Join(j.Org, j)
	if !ok {
		return w.explain(ErrClosed)
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if w.inbox.Leave(place) {
			return ctx.Err()
		}
		<-j.done
	}
	return j.err
}

// serve is the Writer's goroutine.
func (w *Writer) serve() {
	defer close(w.stopped)
	batch := make([]*job, 0, w.o.Jobs)
	for first, ok := w.inbox.Next(); ok; first, ok = w.inbox.Next() {
		// Those who are about to submit get the processor first, and share the fsync.
		runtime.Gosched()
		var alone *job
		batch, alone = w.gather(batch[:0], first)
		w.commit(batch)
		clear(batch) // to keep nothing of them
		if alone != nil {
			w.runAlone(alone)
		}
	}
}

// gather adds the first job and those that wait behind it and still want to run, in turns, up
// to one that wants to run alone, after them.
func (w *Writer) gather(batch []*job, first *job) (jobs []*job, alone *job) {
	bytes := 0
	for j, ok := first, true; ok; j, ok = w.inbox.TryNext() {
		switch {
		case !j.begin():
		case j.Alone:
			return batch, j
		default:
			batch, bytes = append(batch, j), bytes+j.Bytes
		}
		if len(batch) == w.o.Jobs || w.o.Bytes > 0 && bytes >= w.o.Bytes {
			break
		}
	}
	return batch, nil
}

// begin reports whether a job is to run: not when its caller's context has ended meanwhile,
// which then is its answer.
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

func (w *Writer) answer(jobs []*job, err error) {
	err = w.explain(err)
	for _, j := range jobs {
		j.finish(err)
	}
}

func (w *Writer) explain(err error) error {
	if err == nil || w.o.Explain == nil {
		return err
	}
	return w.o.Explain(err)
}
