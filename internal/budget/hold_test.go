package budget

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

func holdOf(b *Budget, number uint64) *Hold {
	h := b.Hold(shareOf(number, false))
	return &h
}

// acquired acquires what must be free at once.
func acquired(t *testing.T, b *Budget, number uint64, n int64) *Hold {
	t.Helper()
	h, before := holdOf(b, number), time.Now()
	if err := h.Acquire(t.Context(), n); err != nil || time.Since(before) > 0 {
		t.Fatalf("%d: %v after %v", n, err, time.Since(before))
	}
	return h
}

func wantUnused(t *testing.T, b *Budget) {
	t.Helper()
	if b.used != 0 || len(b.shares) != 0 || !b.waiting.Empty() {
		t.Errorf("left behind: %d in %v, waiting: %t", b.used, b.shares, !b.waiting.Empty())
	}
}

// What waits is served in turns among organizations, as soon as it fits.
func TestWaitingIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := forTest(100)
		all := acquired(t, b, 0, 90)
		served := make(chan uint64, 10)
		for _, number := range []uint64{1, 1, 1, 2, 3} {
			go func() {
				h := holdOf(b, number)
				if err := h.Acquire(t.Context(), 60); err != nil {
					t.Error(err)
				}
				served <- number
				h.Release()
			}()
			synctest.Wait()
		}
		all.Keep(50) // does not help any of them
		synctest.Wait()
		if len(served) != 0 {
			t.Errorf("%d found room where there was none", len(served))
		}
		all.Release()
		all.Release() // does nothing
		synctest.Wait()
		for i, want := range []uint64{1, 2, 3, 1, 1} {
			if got := <-served; got != want {
				t.Errorf("organization %d came as number %d, want %d", got, i, want)
			}
		}
		wantUnused(t, b)
	})
}

// What an organization waits for holds up nobody else whose needs are met.
func TestWaitingHoldsUpItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := forTest(100)
		some := acquired(t, b, 0, 50)
		large, ended := holdOf(b, 1), make(chan error)
		go func() { ended <- large.Acquire(t.Context(), 80) }()
		synctest.Wait()
		acquired(t, b, 2, 30).Release()
		some.Release()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		large.Release()
		wantUnused(t, b)
	})
}

// Waiting ends with its time or its caller, and leaves nothing behind.
func TestWaitingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := forTest(100)
		most, rest, before := acquired(t, b, 0, 60), acquired(t, b, 2, 30), time.Now()
		err := holdOf(b, 1).Acquire(t.Context(), 1)
		if f := fault.From(err); f.Code != fault.Overloaded || f.RetryAfter != retryAfter || time.Since(before) != patience ||
			b.Refused() != 1 {
			t.Errorf("%v after %v", err, time.Since(before))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range 2 { // the second has ended before
			if err := holdOf(b, 1).Acquire(ctx, 1); !errors.Is(err, context.DeadlineExceeded) ||
				fault.Is(err, fault.Overloaded) {
				t.Errorf("the caller gave up: %v", err)
			}
		}
		most.Release()
		rest.Release()
		wantUnused(t, b)
		acquired(t, b, 1, 90).Release()
	})
}

// Who has something already is refused at once: two that wait with a part in hand would
// wait for one another.
func TestNobodyWaitsWithAPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := forTest(100)
		one, other := acquired(t, b, 0, 15), acquired(t, b, 1, 40)
		before := time.Now()
		for _, h := range []*Hold{one, other} {
			if err := h.Acquire(t.Context(), 40); !fault.Is(err, fault.Overloaded) || time.Since(before) > 0 {
				t.Errorf("%v after %v", err, time.Since(before))
			}
		}
		if err := one.Acquire(t.Context(), 5); err != nil || one.Amount() != 20 {
			t.Errorf("what is free: %v, holds %d", err, one.Amount())
		}
		one.Release()
		other.Release()
		wantUnused(t, b)
	})
}

// More than anybody can have counts as what one may have alone: it finds room when others have
// little, leaves some for them, and does not grow.
func TestMoreThanThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := forTest(100)
		for _, n := range []int64{90, 91, 1 << 40} {
			h := acquired(t, b, 0, n)
			if b.used != 60 || h.Amount() != n || h.TryAcquire(1) {
				t.Errorf("%d counts as %d, holds %d, and may grow", n, b.used, h.Amount())
			}
			if !b.TryAcquire(shareOf(1, true), 5) {
				t.Error("a lock holder has nothing beside it")
			}
			b.Release(shareOf(1, true), 5)
			for _, rest := range []int64{n + 1, n, n - 1, 89, 40} {
				if h.Keep(rest); h.Amount() != min(rest, n) || b.used != min(rest, 60) {
					t.Errorf("%d of %d count as %d, and are %d", rest, n, b.used, h.Amount())
				}
			}
			h.Release()
		}
		some := acquired(t, b, 1, 31)
		if holdOf(b, 0).TryAcquire(1 << 40) {
			t.Error("it found room beside somebody")
		}
		some.Release()
		wantUnused(t, b)
	})
}

// Without a budget, or with one of 0, nothing is a bound.
func TestNoBudgetIsNoBound(t *testing.T) {
	var none *Budget
	for _, b := range []*Budget{none, forTest(0)} {
		h := b.Hold(Share{Org: uuid.New()})
		if err := h.Acquire(t.Context(), 1<<40); err != nil || !h.TryAcquire(1<<40) || h.Amount() != 1<<41 {
			t.Errorf("%v, holds %d", err, h.Amount())
		}
		h.Release()
		if h.Amount() != 0 {
			t.Errorf("holds %d", h.Amount())
		}
	}
}

// Who has other things to do is told at once that there is no room.
func TestAtOnceWaitsForNothing(t *testing.T) {
	b := forTest(100)
	b.fill(shareOf(0, false))
	b.fill(shareOf(1, false))
	b.fill(shareOf(2, false))
	ctx, stop := context.WithCancel(t.Context())
	stop() // who waits hears that, and who does not, doesn't
	hold := b.Hold(shareOf(3, false))
	if err := hold.Acquire(AtOnce(ctx), 50); !fault.Is(err, fault.Overloaded) {
		t.Errorf("it ends with %v", err)
	}
	free := forTest(100).Hold(shareOf(3, false))
	if err := free.Acquire(AtOnce(ctx), 5); err != nil || free.Amount() != 5 {
		t.Errorf("with room for it: %v", err)
	}
}
