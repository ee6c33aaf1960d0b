package readmap

import (
	"context"
	"crypto/sha256"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// below is a store that counts loads and lets a test step in.
type below struct {
	state.Store
	loads     int
	loaded    func()       // after a load, before it is returned
	committed func() error // after a commit, before it is returned
}

func (b *below) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	b.loads++
	got, err := b.Store.Current(ctx, ref)
	if loaded := b.loaded; loaded != nil {
		b.loaded = nil // once
		loaded()
	}
	return got, err
}

func (b *below) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	head, err := b.Store.Update(ctx, ref, body, decide)
	if committed := b.committed; committed != nil && err == nil {
		b.committed = nil // once
		err = committed()
	}
	return head, err
}

// fixture is a map over a store that can be stepped into, and one state.
type fixture struct {
	t     *testing.T
	below *below
	store *Store
	ref   state.Ref
}

func newFixture(t *testing.T) *fixture {
	b := &below{Store: memory.New(1 << 30)}
	f := &fixture{t: t, below: b, store: New(b, 1<<20), ref: state.Ref{Org: uuid.New(), Name: "app"}}
	t.Cleanup(func() {
		if len(f.store.flights) != 0 {
			t.Errorf("flights left behind: %v", f.store.flights)
		}
	})
	return f
}

func accept(body []byte) state.Decide {
	return func(h state.Head) (state.Change, error) {
		return state.Change{Version: &state.Version{
			Number: h.Version.Number + 1, Size: int64(len(body)), Digest: sha256.Sum256(body),
		}}, nil
	}
}

func always(change state.Change) state.Decide {
	return func(state.Head) (state.Change, error) { return change, nil }
}

func (f *fixture) write(body string) {
	f.t.Helper()
	if _, err := f.store.Update(context.Background(), f.ref, []byte(body), accept([]byte(body))); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) change(change state.Change) {
	f.t.Helper()
	if _, err := f.store.Update(context.Background(), f.ref, nil, always(change)); err != nil {
		f.t.Fatal(err)
	}
}

// want reads, and wants these bytes after so many more loads from below.
func (f *fixture) want(body string, loads int) {
	f.t.Helper()
	before := f.below.loads
	got, err := f.store.Current(context.Background(), f.ref)
	if err != nil || string(got.Body) != body || got.Digest != sha256.Sum256(got.Body) {
		f.t.Fatalf("read %q, %v; want %q", got.Body, err, body)
	}
	if n := f.below.loads - before; n != loads {
		f.t.Fatalf("%d loads for %q, want %d", n, body, loads)
	}
}
