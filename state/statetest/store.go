// Package statetest holds the conformance suites of state.Store. Every engine and every
// decorator passes RunStore, every engine that survives its process RunDurable as well.
// No check can be left out.
package statetest

import (
	"runtime"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// check is one promise of the contract, tried on a store of its own.
type check struct {
	name string
	run  func(t *testing.T, store state.Store)
}

// RunStore holds a state.Store to its contract. open returns a new, empty store, which
// the suite closes.
func RunStore(t *testing.T, open func(t *testing.T) state.Store) {
	for _, c := range storeChecks() {
		t.Run(c.name, func(t *testing.T) { c.run(t, openChecked(t, open)) })
	}
	t.Run("Close", func(t *testing.T) { checkClose(t, open) })
	t.Run("CloseWaits", func(t *testing.T) { checkCloseWaits(t, open) })
}

func storeChecks() []check {
	return []check{
		{"NeverWritten", checkNeverWritten},
		{"ExactBytes", checkExactBytes},
		{"Versions", checkVersions},
		{"VersionFields", checkVersionFields},
		{"LockFields", checkLockFields},
		{"LockBeforeWrite", checkLockBeforeWrite},
		{"LockKeepsVersion", checkLockKeepsVersion},
		{"ReleasedID", checkReleasedID},
		{"WriteAndRelease", checkWriteAndRelease},
		{"Deletion", checkDeletion},
		{"Recreation", checkRecreation},
		{"DecideError", checkDecideError},
		{"ZeroChange", checkZeroChange},
		{"HeadsStay", checkHeadsStay},
		{"Isolation", checkIsolation},
		{"Names", checkNames},
		{"Rules", checkRules},
		{"Replays", checkReplays},
		{"LateReplays", checkLateReplays},
		{"EndedContext", checkEndedContext},
		{"EndingContext", checkEndingContext},
		{"OneHolder", checkOneHolder},
		{"ManyWriters", checkManyWriters},
		{"Reads", checkReads},
		{"States", checkStates},
		{"NameLists", checkNameLists},
		{"Picks", checkPicks},
		{"StatesKinds", checkStatesKinds},
		{"VersionList", checkVersionList},
		{"All", checkAll},
		{"ListsEnd", checkListsEnd},
		{"PageBytes", checkPageBytes},
		{"Seen", checkSeen},
		{"LockIDs", checkLockIDs},
		{"Candidates", checkCandidates},
		{"CandidatesFull", checkCandidatesFull},
		{"Settle", checkSettle},
		{"SettleOnce", checkSettleOnce},
		{"Twins", checkTwins},
		{"TakeOver", checkTakeOver},
		{"Held", checkHeld},
		{"EventFields", checkEventFields},
		{"EventsAtomic", checkEventsAtomic},
		{"EventOrder", checkEventOrder},
		{"EventQueries", checkEventQueries},
		{"FeedGapless", checkFeedGapless},
		{"Chain", checkChain},
		{"ChainRead", checkChainRead},
		{"ChainShred", checkChainShred},
		{"PruneEvents", checkPruneEvents},
		{"PruneEventsTogether", checkPruneEventsTogether},
		{"Purge", checkPurge},
		{"PurgeReads", checkPurgeReads},
		{"PurgedBytes", checkPurgedBytes},
		{"Prune", checkPrune},
		{"PruneWrongClock", checkPruneWrongClock},
		{"Expunge", checkExpunge},
		{"ExpungeKeeps", checkExpungeKeeps},
		{"ExpungeWaits", checkExpungeWaits},
		{"Shred", checkShred},
		{"Usage", checkUsage},
		{"Allow", checkAllow},
		{"AllowTogether", checkFence},
		{"Totals", checkTotals},
		{"Fences", checkFences},
		{"FenceSeen", checkFenceSeen},
		{"FenceAtomic", checkFenceAtomic},
		{"FenceHolds", checkFenceHolds},
		{"RunLock", checkRunLock},
		{"Expectations", checkExpectations},
		{"ExpectationSeen", checkExpectationSeen},
		{"ExpectationAtomic", checkExpectationAtomic},
		{"ExpectationList", checkExpectationList},
		{"Newest", checkNewest},
		{"Linearizable", checkLinearizable},
	}
}

// openChecked opens a store, and closes it at the end of the test: without an error and
// without a goroutine left behind.
func openChecked(t *testing.T, open func(t *testing.T) state.Store) state.Store {
	t.Helper()
	before := runtime.NumGoroutine()
	store := open(t)
	t.Cleanup(func() { suite.CloseChecked(t, store, before) })
	if err := store.Ready(t.Context()); err != nil {
		t.Fatalf("a new store is not ready: %v", err)
	}
	return store
}
