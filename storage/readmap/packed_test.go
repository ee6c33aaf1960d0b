package readmap

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/state"
)

func largeBody(n int) string { return strings.Repeat(fmt.Sprintf("%016d", n), minPacked/16) }

func (f *fixture) current() state.Snapshot {
	f.t.Helper()
	got, err := f.store.Current(f.t.Context(), f.ref)
	if err != nil {
		f.t.Fatal(err)
	}
	return got
}

func (f *fixture) unpacked(of state.Snapshot) string {
	f.t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(f.store.Packed(f.ref, of)))
	if err != nil {
		f.t.Fatal(err)
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(body)
}

// What is packed is the body of that very version, or nothing.
func TestPackedIsOfItsVersion(t *testing.T) {
	f := newFixture(t)
	f.write(largeBody(1))
	old := f.current()
	if got := f.unpacked(old); got != largeBody(1) {
		t.Errorf("%d other bytes", len(got))
	}
	f.write(largeBody(2))
	if f.store.Packed(f.ref, old) != nil {
		t.Error("an old version has something")
	}
	if got := f.unpacked(f.current()); got != largeBody(2) {
		t.Errorf("%d other bytes", len(got))
	}
	f.change(state.Change{Delete: true})
	if f.store.Packed(f.ref, old) != nil {
		t.Error("a deleted state has something")
	}
}

// Who asks at the same time shares one packing.
func TestPackedOnce(t *testing.T) {
	f := newFixture(t)
	f.write(largeBody(1))
	of, all := f.current(), make([][]byte, 20)
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() { all[i] = f.store.Packed(f.ref, of) })
	}
	asking.Wait()
	for i := range all {
		if len(all[i]) == 0 || &all[i][0] != &all[0][0] {
			t.Fatal("it was packed again, or not at all")
		}
	}
}

// What is packed counts, and goes with its entry.
func TestPackedIsBounded(t *testing.T) {
	f := newFixture(t)
	name := func(i int) state.Name { return state.Name(fmt.Sprint("state", i)) }
	for i := range 100 {
		f.ref.Name = name(i)
		f.write(largeBody(i))
		before := f.store.recent.bytes
		packed := f.store.Packed(f.ref, f.current())
		r := f.store.recent
		if r.bytes > r.limit || i == 0 && r.bytes != before+int64(cap(packed)) {
			t.Fatalf("%d bytes of %d after %d more than %d", r.bytes, r.limit, cap(packed), before)
		}
	}
	// As large as the room: it goes to make room for itself.
	f.ref.Name = name(99)
	e, _ := f.store.find(f.ref)
	f.store.recent.grow(f.ref, e, f.store.recent.limit)
	if f.store.recent.bytes != 0 || f.store.recent.entries.Len() != 0 {
		t.Errorf("%d bytes in %d entries", f.store.recent.bytes, f.store.recent.entries.Len())
	}
	f.store.recent.grow(f.ref, e, 1000) // too late
	if f.store.recent.bytes != 0 {
		t.Errorf("%d bytes for what is gone", f.store.recent.bytes)
	}
}

func BenchmarkPack(b *testing.B) {
	body := []byte(strings.Repeat(`{"arn":"arn:aws:ec2:eu-west-1:123456789012:instance/i-0abc","tags":{"a":"b"}},`,
		13_000))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		pack(body)
	}
}
