package inventorytest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// inventoryTorture kills a child with SIGKILL, again and again over the same directory,
// and checks each time what the next process finds.
type inventoryTorture struct {
	open   func(t *testing.T, dir string) inventory.Store
	dir    string
	random *rand.Rand
	ledger *uploadLedger
}

// checkInventoryKill runs rounds until more than a thousand instances were acknowledged, or for
// as long as it may. HOLDFAST_TORTURE=1 makes that two minutes, and
// HOLDFAST_TORTURE_SEED=<number> makes the same choices as the run that logged the number.
func checkInventoryKill(t *testing.T, open func(t *testing.T, dir string) inventory.Store) {
	seed := killtest.Seed(t)
	tt := &inventoryTorture{open: open, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, 0)),
		ledger: newUploadLedger()}
	long := killtest.Tortures()
	budget := 8 * time.Second
	if long {
		budget = 2 * time.Minute
	}
	start, rounds := time.Now(), 0
	// A slow machine may take longer than that: fewer rounds would prove too little.
	for !t.Failed() && (rounds < 5 || time.Since(start) < budget && (long || tt.ledger.instances < 1500)) {
		tt.round(t)
		rounds++
	}
	store := tt.open(t, tt.dir)
	tt.ledger.verify(t, store)
	suite.Close(t, store)
	t.Logf("%d rounds, %d acknowledged instances in %d batches, %v", rounds, tt.ledger.instances, tt.ledger.batches,
		time.Since(start).Round(time.Millisecond))
	if tt.ledger.instances < 500 {
		t.Errorf("only %d instances were acknowledged in all: that proves little", tt.ledger.instances)
	}
}

// round runs one child to its end, verifies what it left, and sends again what had no
// answer.
func (tt *inventoryTorture) round(t *testing.T) {
	t.Helper()
	after, seed := 1+tt.random.IntN(80), tt.random.Uint64()
	tt.ledger.enter(killtest.Kill[uploadEvent](t, inventoryDir, tt.dir, seed, after))
	store := tt.open(t, tt.dir)
	tt.ledger.verify(t, store)
	tt.ledger.retry(t, store)
	suite.Close(t, store)
}
