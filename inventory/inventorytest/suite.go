// Package inventorytest holds the conformance suites of inventory.Store. Every engine and every
// decorator passes RunStore, every engine that survives its process RunDurable as well. No check
// can be left out. New returns a store for tests to which the engine doesn't matter.
package inventorytest

import (
	"runtime"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// RunStore holds an inventory.Store to its contract. open returns a new, empty store,
// which the suite closes. Every engine and every decorator passes all of it.
func RunStore(t *testing.T, open func(t *testing.T) inventory.Store) {
	for _, c := range inventoryChecks() {
		t.Run(c.name, func(t *testing.T) { c.run(t, openInventoryChecked(t, open)) })
	}
	t.Run("Close", func(t *testing.T) { checkInventoryClose(t, open) })
	t.Run("CloseDuringReads", func(t *testing.T) { checkCloseDuringReads(t, open) })
	t.Run("CloseDuringAppends", func(t *testing.T) { checkCloseDuringAppends(t, open) })
}

// inventoryCheck is one promise of the contract, tried on a store of its own.
type inventoryCheck struct {
	name string
	run  func(t *testing.T, store inventory.Store)
}

func inventoryChecks() []inventoryCheck {
	return []inventoryCheck{
		{"Unknown", checkUnknownOrganization},
		{"Order", checkOrder},
		{"Attributes", checkAttributes},
		{"ResourceNames", checkResourceNames},
		{"NotKept", checkNotKept},
		{"Fields", checkFields},
		{"LargeBatch", checkLargeBatch},
		{"NothingShared", checkNothingShared},
		{"Timestamps", checkTimestamps},
		{"GivenTimestamps", checkGivenTimestamps},
		{"ClockAhead", checkClockAhead},
		{"ManyTimestamps", checkManyTimestamps},
		{"Replay", checkReplay},
		{"ReplayElsewhere", checkReplayElsewhere},
		{"ConcurrentReplays", checkConcurrentReplays},
		{"Mismatch", checkMismatch},
		{"ConcurrentMismatch", checkConcurrentMismatch},
		{"AppendAll", checkAppendAll},
		{"AppendAllStops", checkAppendAllStops},
		{"AppendAllTogether", checkAppendAllTogether},
		{"AppendAllEnds", checkAppendAllEnds},
		{"Filters", checkFilters},
		{"AttributeFilters", checkAttributeFilters},
		{"Periods", checkPeriods},
		{"Recorded", checkRecorded},
		{"Summary", checkSummary},
		{"Pages", checkPages},
		{"EveryCursor", checkEveryCursor},
		{"Later", checkLater},
		{"CursorOfOtherFilters", checkCursorOfOtherFilters},
		{"PagesWhileAppending", checkPagesWhileAppending},
		{"CursorInvalid", checkCursorInvalid},
		{"WholeBatches", checkWholeBatches},
		{"SlowReader", checkSlowReader},
		{"EarlyStop", checkEarlyStop},
		{"Memory", checkMemory},
		{"EndedContext", checkEndedInventoryContext},
		{"EndingContext", checkEndingAppend},
		{"EndingRead", checkEndingRead},
		{"Organizations", checkOrganizations},
		{"ManyOrganizations", checkManyOrganizations},
		{"Usage", checkInventoryUsage},
		{"Allow", checkInventoryAllow},
		{"AllowTogether", checkInventoryFence},
		{"Shred", checkInventoryShred},
		{"Expire", checkInventoryExpire},
		{"ExpireEnds", checkExpireEnds},
		{"ExpireMeanwhile", checkExpireMeanwhile},
		{"Model", checkInventoryModel},
	}
}

// openInventoryChecked opens a store, and closes it at the end of the test: without an
// error and without a goroutine left behind.
func openInventoryChecked(t *testing.T, open func(t *testing.T) inventory.Store) inventory.Store {
	t.Helper()
	before := runtime.NumGoroutine()
	store := open(t)
	t.Cleanup(func() { suite.CloseChecked(t, store, before) })
	if err := store.Status(t.Context()); err != nil {
		t.Fatalf("status of a new store: %v", err)
	}
	return store
}
