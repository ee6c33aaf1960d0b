package budget

import (
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func shareOf(number uint64, holder bool) Share { return Share{uuid.UUID{15: byte(number)}, holder} }

func forTest(capacity int64) *Budget { return New(capacity, "pieces are there") }

// fill takes one after the other until there is no more.
func (b *Budget) fill(s Share) (n int64) {
	for b.TryAcquire(s, 1) {
		n++
	}
	return n
}

func TestBudgetIsShared(t *testing.T) {
	b := forTest(100)
	if n := b.fill(shareOf(0, false)); n != 60 {
		t.Errorf("one organization takes %d of 100, want 2/3 of what is not reserved", n)
	}
	for number := range uint64(20) {
		if n := b.fill(shareOf(number+1, false)); n == 0 && b.used < 90 {
			t.Errorf("organization %d gets nothing, with %d of 90 taken", number+1, b.used)
		}
	}
	if b.used != 90 {
		t.Errorf("%d of 90 are taken by 21 organizations", b.used)
	}
	if !b.TryAcquire(shareOf(0, true), 1) || b.TryAcquire(shareOf(99, false), 1) {
		t.Error("what is reserved is not for lock holders, or not only for them")
	}
	b.fill(shareOf(0, true))
	if free := 100 - b.used; free == 0 || !b.TryAcquire(shareOf(1, true), 1) {
		t.Errorf("the holders of one organization leave %d", free)
	}
}

// However many organizations take what they can get, the next one gets as much as they
// have, once they have given back and taken again for a while.
func TestBudgetBecomesFair(t *testing.T) {
	for n := range uint64(12) {
		b := forTest(10_000)
		for number := range n {
			b.fill(shareOf(number, false))
		}
		for range 10_000 {
			for number := range n {
				if s := shareOf(number, false); b.shares[s] > 0 {
					b.Release(s, 1)
				}
			}
			for number := range n {
				b.fill(shareOf(number, false))
			}
		}
		free := 9000 - b.used
		if want := 9000 / (1 + 2*int64(n)); free < want*9/10 {
			t.Errorf("%d greedy organizations leave %d of 9000, want %d", n, free, want)
		}
		for s, has := range b.shares {
			if want := 18_000 / (1 + 2*int64(n)); has < want*9/10 || has > want*11/10 {
				t.Errorf("of %d greedy organizations, %v has %d of 9000, want %d", n, s, has, want)
			}
		}
	}
}

func TestSmallBudgets(t *testing.T) {
	for capacity, want := range map[int64]int64{1: 1, 2: 1, 3: 2, 10: 9} {
		b := forTest(capacity)
		var n int64
		for number := range uint64(capacity) {
			n += b.fill(shareOf(number, false))
		}
		if n != want {
			t.Errorf("of %d, %d go to others than lock holders; want %d", capacity, n, want)
		}
	}
	if b := forTest(0); !b.TryAcquire(shareOf(0, false), 1<<60) {
		t.Error("0 is a bound")
	}
}

func TestBudgetAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Int64Range(1, 200).Draw(t, "capacity")
		b := forTest(capacity)
		type taken struct {
			Share
			n int64
		}
		var all []taken
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			if len(all) > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, len(all)-1).Draw(t, "which")
				b.Release(all[i].Share, all[i].n)
				all = append(all[:i], all[i+1:]...)
				continue
			}
			s := shareOf(rapid.Uint64Range(0, 3).Draw(t, "org"), rapid.Bool().Draw(t, "holder"))
			n := rapid.Int64Range(1, 50).Draw(t, "n")
			free := capacity - b.InUse()
			if !s.Holder {
				free -= b.reserve
			}
			fits := b.Fits(s, n)
			if took := b.TryAcquire(s, n); took != fits || took && n > free {
				t.Fatalf("take %d with %d free: %t, fits: %t", n, free, took, fits)
			} else if took {
				all = append(all, taken{s, n})
			}
		}
		for _, one := range all {
			b.Release(one.Share, one.n)
		}
		if b.used != 0 || len(b.shares) != 0 {
			t.Fatalf("%d are left, and %v", b.used, b.shares)
		}
	})
}
