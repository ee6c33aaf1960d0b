package memory_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

func write(body []byte) state.Decide {
	return func(h state.Head) (state.Change, error) {
		return state.Change{Version: &state.Version{
			Number: h.Version.Number + 1, Size: int64(len(body)), Digest: sha256.Sum256(body),
		}}, nil
	}
}

func always(change state.Change) state.Decide {
	return func(state.Head) (state.Change, error) { return change, nil }
}

// fill writes until the store is full, and returns the head and bytes it has then.
func fill(t *testing.T, s *memory.Store, ref state.Ref) (state.Head, []byte) {
	t.Helper()
	var head state.Head
	var last []byte
	for i := range 1000 {
		body := bytes.Repeat([]byte{byte(i)}, 10<<10)
		next, err := s.Update(t.Context(), ref, body, write(body))
		if fault.Is(err, fault.StoreFull) {
			return head, last
		}
		if err != nil {
			t.Fatal(err)
		}
		head, last = next, body
	}
	t.Fatal("a store of 100 KB took 1000 versions of 10 KB")
	return head, last
}

func TestFull(t *testing.T) {
	s, ref := memory.New(100<<10), state.Ref{Org: uuid.New(), Name: "full"}
	lock := &state.Lock{Info: state.LockInfo{ID: "id", Raw: []byte(`{"ID":"id"}`)}}
	if _, err := s.Update(t.Context(), ref, nil, always(state.Change{Lock: lock})); err != nil {
		t.Fatal(err)
	}
	want, body := fill(t, s, ref)
	if n := want.Version.Number; n < 8 || n > 10 {
		t.Errorf("a store of 100 KB took %d versions of 10 KB", n)
	}
	got, err := s.Head(t.Context(), ref)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("the refused write changed the head: %v\n%s", err, diff)
	}
	snapshot, err := s.Current(t.Context(), ref)
	if err != nil || !bytes.Equal(snapshot.Body, body) {
		t.Errorf("the refused write changed the bytes: %v", err)
	}
	// What a person needs to get out of there: UNLOCK and DELETE.
	for _, change := range []state.Change{{Release: true}, {Delete: true}} {
		if _, err := s.Update(t.Context(), ref, nil, always(change)); err != nil {
			t.Errorf("%+v in a full store: %v", change, err)
		}
	}
}

// TestFullByLocks: locks are bounded too, as are their names.
func TestFullByLocks(t *testing.T) {
	s := memory.New(100 << 10)
	lock := &state.Lock{Info: state.LockInfo{ID: "id", Raw: []byte(`{"ID":"id"}`)}}
	for i := range 1000 {
		ref := state.Ref{Org: uuid.New(), Name: state.Name(strings.Repeat("n", 255))}
		_, err := s.Update(t.Context(), ref, nil, always(state.Change{Lock: lock}))
		if fault.Is(err, fault.StoreFull) {
			if head, err := s.Head(t.Context(), ref); err != nil || head != (state.Head{}) {
				t.Errorf("the refused lock left %+v, %v", head, err)
			}
			if err := s.Ready(t.Context()); !fault.Is(err, fault.StoreFull) {
				t.Errorf("Ready after %d locks: %v", i, err)
			}
			return
		}
	}
	t.Error("a store of 100 KB took 1000 locks")
}

// TestLockAgain takes and releases a lock more often than there is room for locks.
func TestLockAgain(t *testing.T) {
	s, ref := memory.New(10<<10), state.Ref{Org: uuid.New(), Name: "again"}
	for i := range 40 {
		lock := &state.Lock{Info: state.LockInfo{ID: fmt.Sprint("id ", i), Raw: bytes.Repeat([]byte(" "), 1000)}}
		for _, change := range []state.Change{{Lock: lock}, {Release: true}} {
			if _, err := s.Update(t.Context(), ref, nil, always(change)); err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
		}
	}
}

// TestWrongNumber: a decision that breaks the contract records nothing.
func TestWrongNumber(t *testing.T) {
	s, ref := memory.New(1<<20), state.Ref{Org: uuid.New(), Name: "wrong"}
	for _, number := range []uint64{0, 2} {
		if _, err := s.Update(t.Context(), ref, nil,
			always(state.Change{Version: &state.Version{Number: number}})); err == nil {
			t.Errorf("a first version with the number %d was accepted", number)
		}
	}
	if _, err := s.Current(t.Context(), ref); !fault.Is(err, fault.StateNotFound) {
		t.Errorf("Current: %v", err)
	}
}

func TestPanicInDecide(t *testing.T) {
	s, ref := memory.New(1<<20), state.Ref{Org: uuid.New(), Name: "panic"}
	func() {
		defer func() { _ = recover() }()
		_, _ = s.Update(t.Context(), ref, nil, func(state.Head) (state.Change, error) { panic("decide") })
	}()
	if _, err := s.Update(t.Context(), ref, nil, write(nil)); err != nil {
		t.Errorf("an Update after the panic: %v", err)
	}
}
