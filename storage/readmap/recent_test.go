package readmap

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

func TestBounded(t *testing.T) {
	f := newFixture(t)
	for i := range 1000 {
		f.ref.Name = state.Name(fmt.Sprint("state", i))
		f.write(fmt.Sprintf("%010000d", i))
		if r := f.store.recent; r.bytes > r.limit || r.bytes < 0 {
			t.Fatalf("%d bytes, the limit is %d", r.bytes, r.limit)
		}
	}
	if n := f.store.recent.entries.Len(); n < 80 {
		t.Errorf("only %d entries of 10 KB in 1 MB", n)
	}
	f.want(fmt.Sprintf("%010000d", 999), 0)
	f.ref.Name = "state0"
	f.want(fmt.Sprintf("%010000d", 0), 1)
	f.ref.Name = "large"
	large := fmt.Sprintf("%0300000d", 1)
	f.write(large)
	f.want(large, 1)
	f.want(large, 1)
	if err := f.store.Close(); err != nil || f.store.recent.bytes != 0 {
		t.Errorf("Close: %v, %d bytes left", err, f.store.recent.bytes)
	}
}

func BenchmarkHit(b *testing.B) {
	s, body := New(memory.New(1<<30), 1<<30), make([]byte, 10<<10)
	refs := make([]state.Ref, 1000)
	for i := range refs {
		refs[i] = state.Ref{Org: uuid.New(), Name: "network/production"}
		if _, err := s.Update(b.Context(), refs[i], body, accept(body)); err != nil {
			b.Fatal(err)
		}
	}
	ctx := b.Context()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if _, err := s.Current(ctx, refs[i%len(refs)]); err != nil {
				b.Error(err)
			}
		}
	})
}
