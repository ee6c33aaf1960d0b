package killtest

import (
	"sync"
	"testing"
	"time"
)

// Moment is a line of a child whose work has moments that follow each other: it is about to do something, or has
// done it.
type Moment struct {
	What string
	Last bool // there is nothing more to do
}

// Outcome implements Told.
func (Moment) Outcome() (acked bool, err error) { return true, nil }

// Moments are those of a child's work.
type Moments struct {
	mu     sync.Mutex
	stopAt uint64 // 0 for nowhere
	passed uint64
}

// NewMoments returns the moments of a child that was started with a seed: by At, or by Around.
func NewMoments(seed uint64) *Moments { return &Moments{stopAt: seed} }

// Pass tells of a moment. At the one that the parent has chosen the child stays until it is killed.
func (m *Moments) Pass(what string) {
	m.mu.Lock()
	defer m.mu.Unlock() // never, where it stays: nobody else goes on either
	m.passed++
	Tell(Moment{What: what})
	if m.passed == m.stopAt {
		select {}
	}
}

// End tells that all is done, and stays until the child is killed.
func (m *Moments) End() {
	Tell(Moment{What: "all is done", Last: true})
	select {}
}

// At starts the child that works on a folder, kills it at its nth moment, or at its end if that comes before, and
// returns the moments that it told of.
func At(t testing.TB, variable, dir string, n int) []Moment {
	t.Helper()
	return kill(t, variable, dir, uint64(n), func(m Moment, before int) (time.Duration, bool) {
		return 0, m.Last || before == n
	})
}

// Around is At of a child that goes on: it is killed a while after its nth moment, wherever it is by then.
func Around(t testing.TB, variable, dir string, n int, while time.Duration) []Moment {
	t.Helper()
	return kill(t, variable, dir, 0, func(m Moment, before int) (time.Duration, bool) {
		if m.Last {
			return 0, true
		}
		return while, before == n
	})
}
