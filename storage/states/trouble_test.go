package states

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// TestSlowDatabase has each word to the database take long: reads and writes wait for it, none says that
// there is nothing, and a caller that waits no longer is told that it gave up.
func TestSlowDatabase(t *testing.T) { onEach(t, testSlowDatabase) }

func testSlowDatabase(t *testing.T, on kind) {
	s, proxy := proxied(t, on)
	ref := newRef("slow")
	put(t, s, ref, []byte("one"))
	proxy.Delay(50 * time.Millisecond)
	put(t, s, ref, []byte("two"))
	if got, err := s.Current(t.Context(), ref); err != nil || string(got.Body) != "two" {
		t.Errorf("Current: %q, %v", got.Body, err)
	}
	proxy.Delay(time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Current(ctx, ref); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Current of a database that says nothing: %v", err)
	}
	if tips, err := s.Newest(ctx, []state.Ref{ref}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Newest of a database that says nothing: %v, %v", tips, err)
	}
	proxy.Break() // ends what still waits
	proxy.Delay(0)
	proxy.Mend()
	wantVersions(t, s, ref, []byte("one"), []byte("two"))
}

// TestAnswersOfTrouble holds what callers are told of a database that can't work now to one code, and to
// saying when to come back.
func TestAnswersOfTrouble(t *testing.T) { onEach(t, testAnswersOfTrouble) }

func testAnswersOfTrouble(t *testing.T, on kind) {
	s, proxy := proxied(t, on)
	ref := newRef("trouble")
	put(t, s, ref, []byte("{}"))
	proxy.Break()
	_, current := s.Current(t.Context(), ref)
	_, update := s.Update(t.Context(), ref, []byte("[]"), write([]byte("[]")))
	_, newest := s.Newest(t.Context(), []state.Ref{ref})
	for what, err := range map[string]error{"Current": current, "Update": update, "Newest": newest} {
		if f := fault.From(err); f.Code != fault.StoreUnavailable || f.RetryAfter <= 0 || f.RetryAfter > 10*time.Second {
			t.Errorf("%s: %v, again after %v", what, err, f.RetryAfter)
		}
	}
	proxy.Mend()
}

// TestClocksApart has nodes whose clocks are ten minutes apart, each way: versions, locks and the log keep
// their order, nothing that was acknowledged counts as lost, and no outcome is forgotten too early.
func TestClocksApart(t *testing.T) { onEach(t, testClocksApart) }

func testClocksApart(t *testing.T, on kind) {
	d := on.new(t)
	var stores []*Store
	shifts := []time.Duration{0, -10 * time.Minute, 10 * time.Minute}
	for _, shift := range shifts {
		o := d.options()
		o.Now = func() time.Time { return time.Now().Add(shift) }
		stores = append(stores, open(t, o))
	}
	ref := newRef("clocks")
	var bodies [][]byte
	for i := range 9 {
		body := []byte{byte('a' + i)}
		at := time.Now().Add(shifts[i%3])
		head, err := stores[i%3].Update(t.Context(), ref, body, func(h state.Head) (state.Change, error) {
			c, err := write(body)(h)
			c.At, c.Version.CreatedAt, c.Events[0].At = at, at, at
			return c, err
		})
		if err != nil || head.Version.Number != uint64(i+1) {
			t.Fatalf("version %d: %+v, %v", i+1, head.Version, err)
		}
		bodies = append(bodies, body)
		if got, err := stores[(i+1)%3].Current(t.Context(), ref); err != nil || got.Number != uint64(i+1) {
			t.Fatalf("another node reads version %d after %d, %v", got.Number, i+1, err)
		}
	}
	for i, s := range stores {
		if err := s.forget(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.followRewinds(t.Context()); err != nil || s.rewinds.count() != 0 {
			t.Errorf("node %d refuses %d states, %v", i, s.rewinds.count(), err)
		}
		wantVersions(t, s, ref, bodies...)
	}
	page, err := stores[0].Events(t.Context(), ref.Org, audit.Query{Limit: 99})
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(page.Events); i++ { // the newest first
		if page.Events[i].At.After(page.Events[i-1].At) {
			t.Errorf("event %d is later than the one after it", page.Events[i].Sequence)
		}
	}
}
