package fair

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
)

// join puts a value in, which must be accepted.
func (i *Inbox[T]) join(t *testing.T, org uuid.UUID, value T) *Place[T] {
	t.Helper()
	p, ok := i.Join(org, value)
	if !ok {
		t.Fatal("the inbox is closed")
	}
	return p
}

// rest takes out what there is, until the inbox ends.
func (i *Inbox[T]) rest() (values []T) {
	for value, ok := i.Next(); ok; value, ok = i.Next() {
		values = append(values, value)
	}
	return values
}

// Organizations come in turns and keep their own order; who leaves is gone at once.
func TestInboxTurns(t *testing.T) {
	in, greedy, other := NewInbox[string](), uuid.New(), uuid.New()
	for _, name := range []string{"g1", "g2"} {
		in.join(t, greedy, name)
	}
	left := in.join(t, greedy, "left")
	in.join(t, greedy, "g3")
	in.join(t, other, "o1")
	in.join(t, other, "o2")
	if !in.Leave(left) || in.Leave(left) || in.Len() != 5 {
		t.Errorf("it left twice or not at all, or it is counted still: %d values", in.Len())
	}
	first, ok := in.TryNext()
	if !ok || first != "g1" {
		t.Errorf("first %q, %v", first, ok)
	}
	in.Close()
	if _, ok := in.Join(other, "late"); ok {
		t.Error("a value joined after the end")
	}
	if got, want := in.rest(), []string{"o1", "g2", "o2", "g3"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, ok := in.TryNext(); ok || in.Len() != 0 {
		t.Errorf("something is left: %d values", in.Len())
	}
}

// Next waits for a value, and for the end.
func TestInboxWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, org, got := NewInbox[int](), uuid.New(), make(chan int)
		go func() {
			defer close(got)
			for value, ok := in.Next(); ok; value, ok = in.Next() {
				got <- value
			}
		}()
		synctest.Wait()
		for want := range 3 {
			in.Leave(in.join(t, org, -1)) // leaves its token behind, unless Next was quicker
			in.join(t, org, want)
			value := <-got
			if value == -1 {
				value = <-got
			}
			if value != want {
				t.Fatalf("got %d, want %d", value, want)
			}
			synctest.Wait()
		}
		in.Close()
		if value, ok := <-got; ok {
			t.Errorf("after the end comes %d", value)
		}
	})
}

// What many goroutines put in at once is taken out once, or leaves once, each
// organization's in the order of its caller.
func TestInboxAtOnce(t *testing.T) {
	const callers, each = 8, 500
	type value struct{ caller, n int }
	in, left := NewInbox[value](), atomic.Int64{}
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			org := uuid.New()
			for n := range each {
				if p, ok := in.Join(org, value{caller, n}); ok && n%7 == 0 && in.Leave(p) {
					left.Add(1)
				}
			}
		})
	}
	go func() { wg.Wait(); in.Close() }()
	last, taken := map[int]int{}, int64(0)
	for v, ok := in.Next(); ok; v, ok = in.Next() {
		if before, ok := last[v.caller]; ok && v.n <= before {
			t.Fatalf("%d came behind %d", v.n, before)
		}
		last[v.caller] = v.n
		taken++
	}
	if taken+left.Load() != callers*each {
		t.Errorf("%d were taken and %d left, want %d in all", taken, left.Load(), callers*each)
	}
}
