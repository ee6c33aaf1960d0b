package statetest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// torture kills a child with SIGKILL, again and again over the same directory, and checks
// each time what the next process finds.
type torture struct {
	open   func(t *testing.T, dir string) state.Store
	dir    string
	random *rand.Rand
	ledger *ledger
}

// checkKill tortures a store until it has seen more than a thousand acknowledged writes,
// or for as long as it may. HOLDFAST_TORTURE=1 makes that two minutes of larger stores, one
// after the other, and HOLDFAST_TORTURE_SEED=<number> makes the same choices as the run
// that logged the number.
func checkKill(t *testing.T, open func(t *testing.T, dir string) state.Store) {
	seed := killtest.Seed(t)
	if !killtest.Tortures() {
		tortureOnce(t, open, seed, 1500, 10*time.Second)
		return
	}
	for start := time.Now(); !t.Failed() && time.Since(start) < 2*time.Minute; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { tortureOnce(t, open, seed, 20000, time.Minute) })
	}
}

// tortureOnce runs rounds over one directory.
func tortureOnce(t *testing.T, open func(t *testing.T, dir string) state.Store, seed uint64, writes int,
	budget time.Duration) {
	tt := &torture{open: open, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, 0)), ledger: newLedger()}
	start, rounds := time.Now(), 0
	// A slow machine may take longer than that: fewer rounds would prove too little.
	for !t.Failed() && (rounds < 5 || time.Since(start) < budget && tt.ledger.writes < writes) {
		tt.round(t)
		rounds++
	}
	if t.Failed() {
		return
	}
	store := tt.reopen(t)
	tt.ledger.verifyAll(t, store)
	wantNothingCounted(t, store, tortured())
	suite.Close(t, store)
	t.Logf("%d rounds, %d acknowledged writes, %v", rounds, tt.ledger.writes, time.Since(start).Round(time.Millisecond))
	if tt.ledger.writes < 100 {
		t.Errorf("only %d writes were acknowledged in all: that proves little", tt.ledger.writes)
	}
}

// round runs one child to its end and verifies what it left.
func (tt *torture) round(t *testing.T) {
	t.Helper()
	after, seed := 1+tt.random.IntN(700), tt.random.Uint64()
	events := killtest.Kill[event](t, childDir, tt.dir, seed, after)
	store := tt.reopen(t)
	for i, ref := range tortured() {
		tt.ledger.states[i].verify(t, store, ref, callsOf(events, i))
	}
	for _, e := range events {
		if e.Phase == killtest.Acked && e.writes() {
			tt.ledger.writes++
		}
	}
	suite.Close(t, store)
}

func (tt *torture) reopen(t *testing.T) state.Store {
	t.Helper()
	store := tt.open(t, tt.dir)
	if err := store.Ready(t.Context()); err != nil {
		t.Fatalf("the reopened store is not ready: %v", err)
	}
	return store
}
