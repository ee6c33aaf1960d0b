package statetest

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// deleteEvery is how many versions there are between two deletions.
const deleteEvery = 4

// watched is a state with one writer and many readers. Its events are numbered: version
// n is event 2n-1, a deletion after it is event 2n.
type watched struct {
	ref state.Ref
	// floor is the newest event that is known to have happened: it was acknowledged to
	// the writer, or some reader saw it. No read that begins now may show an older one.
	floor   atomic.Uint64
	begun   atomic.Uint64 // newest event that the writer set out to make
	reads   atomic.Int64
	readers atomic.Int32 // that are still at it
	writing atomic.Bool
}

func (w *watched) raise(event uint64) {
	for {
		floor := w.floor.Load()
		if event <= floor || w.floor.CompareAndSwap(floor, event) {
			return
		}
	}
}

// checkReads hammers states with reads while they are written, locked and deleted. Once
// anybody has seen a version, nobody sees an older one.
func checkReads(t *testing.T, store state.Store) {
	const readers = 3
	states := make([]*watched, 2)
	for i := range states {
		states[i] = &watched{ref: newRef("watched")}
		states[i].writing.Store(true)
		states[i].readers.Store(readers)
	}
	suite.Together(t, len(states)*(1+readers), func(ctx context.Context, worker int) error {
		w := states[worker%len(states)]
		if worker < len(states) {
			defer w.writing.Store(false)
			return w.write(ctx, store)
		}
		defer w.readers.Add(-1)
		return w.read(ctx, store)
	})
}

func (w *watched) write(ctx context.Context, store state.Store) error {
	for number := uint64(1); number <= 60; number++ {
		body := stateBody(number, "")
		if err := w.event(2*number-1, func() error {
			_, err := store.Update(ctx, w.ref, body, accept(describe(body)))
			return err
		}); err != nil {
			return err
		}
		if number%deleteEvery != 0 {
			continue
		}
		if err := w.event(2*number, func() error {
			_, err := store.Update(ctx, w.ref, nil, always(state.Change{Delete: true}))
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// event makes an event happen, and lets the readers have a good look at what is there
// then: a quick store would be through before they have begun.
func (w *watched) event(number uint64, happen func() error) error {
	w.begun.Store(number)
	if err := happen(); err != nil {
		return err
	}
	w.raise(number)
	for enough := w.reads.Load() + 6; w.reads.Load() < enough && w.readers.Load() > 0; {
		runtime.Gosched()
	}
	return nil
}

func (w *watched) read(ctx context.Context, store state.Store) error {
	for w.writing.Load() {
		floor := w.floor.Load()
		snapshot, err := store.Current(ctx, w.ref)
		w.reads.Add(1)
		if fault.Is(err, fault.StateNotFound) {
			err = w.absent(floor)
		} else if err == nil {
			err = w.seen(floor, snapshot)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// absent takes in that there was no state, by a read that began at floor.
func (w *watched) absent(floor uint64) error {
	deletion := (floor + 2*deleteEvery - 1) / (2 * deleteEvery) * (2 * deleteEvery)
	if deletion > w.begun.Load() {
		return fmt.Errorf("no state after event %d, though nobody has deleted it since", floor)
	}
	w.raise(deletion)
	return nil
}

func (w *watched) seen(floor uint64, snapshot state.Snapshot) error {
	event := 2*snapshot.Number - 1
	if event < floor {
		return fmt.Errorf("read version %d (event %d) after event %d", snapshot.Number, event, floor)
	}
	if string(snapshot.Body) != string(stateBody(snapshot.Number, "")) {
		return fmt.Errorf("version %d has another version's bytes", snapshot.Number)
	}
	w.raise(event)
	return nil
}
