package runstest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/runs"
)

// childDir is in the environment of the child.
const childDir = "HOLDFAST_RUNSTEST_DIR"

// ChildMain is the first call of a store's TestMain. It returns at once, unless this process is
// the child that RunDurable starts and kills: then it works on the store until it dies.
func ChildMain(open func(dir string) (runs.Store, error)) {
	killtest.Child(childDir, open, func(store runs.Store, seed uint64) {
		var wg sync.WaitGroup
		for i := range uint64(4) {
			w := &worker{store: store, seed: seed, number: i, random: rand.New(rand.NewPCG(seed, i))}
			wg.Go(w.work)
		}
		wg.Wait() // never
	})
}

// told is what a child was told is recorded of a run.
type told struct {
	Run      string
	Revision int64
	Log      int64 // where its log ends
	File     bool
	Failed   string
}

// Outcome implements killtest.Told.
func (e told) Outcome() (acked bool, err error) {
	if e.Failed != "" {
		return false, errors.New(e.Failed)
	}
	return true, nil
}

// worker makes runs and changes them, one call at a time.
type worker struct {
	store        runs.Store
	seed, number uint64
	random       *rand.Rand
	made         []runs.Run
}

func (w *worker) work() {
	for {
		e, err := w.step(context.Background())
		if _, blocked := errors.AsType[*runs.BlockedError](err); blocked {
			continue
		}
		if err != nil {
			e.Failed = err.Error()
		}
		killtest.Tell(e)
	}
}

func (w *worker) step(ctx context.Context) (e told, err error) {
	if len(w.made) == 0 || w.random.IntN(4) == 0 {
		return w.create(ctx)
	}
	i := w.random.IntN(len(w.made))
	run := w.made[i]
	e.Run = run.ID
	switch w.random.IntN(4) {
	case 0:
		end, err := w.store.LogEnd(ctx, logOf(run))
		if err == nil {
			e.Log, err = w.store.AppendLog(ctx, logOf(run), end, []runs.LogPiece{childPiece(run.ID, end)}, allowAll)
		}
		return e, err
	case 1:
		e.File, err = true, w.file(ctx, run)
		return e, err
	}
	status := pick(w.random, runs.Statuses())
	changed, err := w.store.Update(ctx, run.Ref(), func(r runs.Run) (runs.Change, error) {
		event := runs.Event{At: moment(), Type: runs.EventPhase, From: r.Status, To: status, Epoch: r.Revision + 1}
		r.Status, r.NotBefore = status, later(w.random.IntN(5))
		if status.Leased() {
			r.Executor, r.LeaseUntil = &runs.Executor{Agent: pick(w.random, agents())}, later(w.random.IntN(5))
		}
		return runs.Change{Run: r, Events: []runs.Event{event}}, nil
	})
	if err == nil {
		w.made[i], e.Revision = changed, changed.Revision
	}
	return e, err
}

func (w *worker) create(ctx context.Context) (told, error) {
	m := &maker{org: childOrg()}
	run := m.run(pick(w.random, workspaces()), pick(w.random, runs.Kinds()))
	run.ID = fmt.Sprintf("01J%013d%02d%08d", w.seed, w.number, len(w.made))
	run.Pool, run.Priority = pick(w.random, pools()), runs.Priority(w.random.IntN(3))
	made, err := w.store.Create(ctx, run, run.ID, []runs.Event{{At: moment(), Type: runs.EventCreated, Epoch: 1}}, nil)
	if err == nil {
		w.made = append(w.made, made)
	}
	return told{Run: run.ID, Revision: made.Revision}, err
}

// file stores a file of two pieces.
func (w *worker) file(ctx context.Context, run runs.Run) error {
	ref := fileOf(run, runs.FilePlan)
	for i := range 2 {
		if err := w.store.PutPiece(ctx, ref, "u", i, fmt.Append(nil, run.ID, i)); err != nil {
			return err
		}
	}
	_, err := w.store.CompleteFile(ctx, runs.File{FileRef: ref, Size: 2, Digest: run.ID, Pieces: 2}, "u", allowAll)
	return err
}

// childPiece is the piece of a run's log that begins at an offset.
func childPiece(id string, offset int64) runs.LogPiece {
	return runs.LogPiece{Offset: offset, Size: 1 + offset%7, Sealed: fmt.Appendf(nil, "%s at %d", id, offset)}
}
