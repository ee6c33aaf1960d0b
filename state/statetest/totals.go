package statetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/state"
)

func wantTotals(t rapid.TB, store state.Store, want state.Totals) {
	t.Helper()
	got, err := store.Totals(context.Background())
	if err != nil || got.States != want.States || got.Locks != want.Locks || !got.Oldest.Equal(want.Oldest) {
		t.Fatalf("Totals: %+v, %v; want %+v", got, err, want)
	}
}

// tally is the model of what Totals says of a few states.
type tally struct {
	store  state.Store
	orgs   [2]uuid.UUID
	exists map[state.Ref]bool
	locks  map[state.Ref]time.Time
	order  []state.Ref // in which locks were granted that are held
	number int
}

// checkTotals makes random changes, some of them refused, and compares Totals after each.
func checkTotals(t *testing.T, store state.Store) {
	wantTotals(t, store, state.Totals{})
	b := &tally{store: store, orgs: [2]uuid.UUID{uuid.New(), uuid.New()}, exists: map[state.Ref]bool{},
		locks: map[state.Ref]time.Time{}}
	rapid.Check(t, func(t *rapid.T) { // on what the run before has left
		t.Repeat(map[string]func(*rapid.T){
			"": b.compare, "write": b.write, "lock": b.lock, "take over": b.lock, "release": b.release,
			"delete": b.delete, "undelete": b.undelete, "expunge": b.expunge, "refused": b.refused,
		})
	})
}

func (b *tally) compare(t *rapid.T) {
	want := state.Totals{Locks: int64(len(b.order))}
	for _, there := range b.exists {
		if there {
			want.States++
		}
	}
	if len(b.order) > 0 {
		want.Oldest = b.locks[b.order[0]]
	}
	wantTotals(t, b.store, want)
}

func (b *tally) draw(t *rapid.T) state.Ref {
	return state.Ref{Org: rapid.SampledFrom(b.orgs[:]).Draw(t, "org"),
		Name: state.Name(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"))}
}

func (b *tally) update(t *rapid.T, ref state.Ref, body []byte, decide state.Decide) {
	if _, err := b.store.Update(context.Background(), ref, body, decide); err != nil {
		t.Fatal(err)
	}
}

func (b *tally) write(t *rapid.T) {
	ref := b.draw(t)
	b.number++
	body := stateBody(uint64(b.number), fmt.Sprint(b.number))
	b.update(t, ref, body, accept(describe(body)))
	b.exists[ref] = true
}

// lock takes the lock, over from whoever has it.
func (b *tally) lock(t *rapid.T) {
	ref := b.draw(t)
	b.number++
	lock := newLockFor(fmt.Sprint("totals-", b.number))
	lock.Since = noon().Add(time.Duration(b.number) * time.Second)
	b.update(t, ref, nil, always(state.Change{Release: true, Lock: lock}))
	b.freed(ref)
	b.locks[ref], b.order = lock.Since, append(b.order, ref)
}

func (b *tally) release(t *rapid.T) {
	ref := b.draw(t)
	b.update(t, ref, nil, always(state.Change{Release: true, Seen: true}))
	b.freed(ref)
}

func (b *tally) freed(ref state.Ref) {
	for i, held := range b.order {
		if held == ref {
			b.order = append(b.order[:i:i], b.order[i+1:]...)
			break
		}
	}
	delete(b.locks, ref)
}

func (b *tally) delete(t *rapid.T) {
	ref := b.draw(t)
	b.update(t, ref, nil, always(state.Change{At: noon(), Delete: true}))
	b.exists[ref] = false
}

func (b *tally) undelete(t *rapid.T) {
	ref := b.draw(t)
	head, err := b.store.Head(context.Background(), ref)
	if err != nil || head.Version.Number == 0 {
		t.Skip("it was never written")
	}
	b.update(t, ref, nil, always(state.Change{Undelete: true}))
	b.exists[ref] = true
}

func (b *tally) expunge(t *rapid.T) {
	ref := b.draw(t)
	if _, held := b.locks[ref]; held {
		t.Skip("it is locked")
	}
	b.update(t, ref, nil, always(state.Change{At: noon(), Delete: true}))
	b.exists[ref] = false
	removeAll(t, b.store, ref, 2)
}

// refused has changes fail: nothing of them counts.
func (b *tally) refused(t *rapid.T) {
	ref, body, full := b.draw(t), stateBody(1, "refused"), errors.New("no room")
	b.number++
	v := describe(body)
	_, err := b.store.Update(context.Background(), ref, body, func(h state.Head) (state.Change, error) {
		v.Number = h.Version.Number + 1
		return state.Change{Version: &v, Release: true, Lock: newLockFor(fmt.Sprint("totals-", b.number)),
			Allow: func(int64, int64) error { return full }}, nil
	})
	if !errors.Is(err, full) {
		t.Fatalf("Update without room: %v", err)
	}
}
