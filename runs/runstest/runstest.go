// Package runstest holds the conformance suites of runs.Store. Every implementation passes
// RunStore, and one that survives its process RunDurable as well. No check can be left out.
package runstest

import (
	"testing"

	"github.com/holdfast/holdfast/runs"
)

// check is one promise of the contract, tried on a store of its own.
type check struct {
	name string
	run  func(t *testing.T, store runs.Store)
}

// RunStore holds a runs.Store to its contract. open returns a store that has no runs of the
// organizations that the suite makes up; the suite closes it.
func RunStore(t *testing.T, open func(t *testing.T) runs.Store) {
	for _, c := range storeChecks() {
		t.Run(c.name, func(t *testing.T) {
			store := open(t)
			t.Cleanup(func() {
				if err := store.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			if err := store.Ready(t.Context()); err != nil {
				t.Fatalf("a new store is not ready: %v", err)
			}
			c.run(t, store)
		})
	}
}

func storeChecks() []check {
	return []check{
		{"Fields", checkFields},
		{"NotFound", checkNotFound},
		{"Keys", checkKeys},
		{"KeysTogether", checkKeysTogether},
		{"Alone", checkAlone},
		{"AloneTogether", checkAloneTogether},
		{"SameID", checkSameID},
		{"Room", checkRoom},
		{"RoomTogether", checkRoomTogether},
		{"Revisions", checkRevisions},
		{"DecideError", checkDecideError},
		{"Events", checkEvents},
		{"EventsAtomic", checkEventsAtomic},
		{"UpdatesTogether", checkUpdatesTogether},
		{"Isolation", checkIsolation},
		{"EndedContext", checkEndedContext},
		{"TooLarge", checkTooLarge},
		{"Slot", checkSlot},
		{"SlotTogether", checkSlotTogether},
		{"Line", checkLine},
		{"Fairness", checkFairness},
		{"ClaimQueries", checkClaimQueries},
		{"Due", checkDue},
		{"Pages", checkPages},
		{"FewQueries", checkFewQueries},
		{"Queries", checkQueries},
		{"Changes", checkChanges},
		{"LogOffsets", checkLogOffsets},
		{"LogAllow", checkLogAllow},
		{"LogReads", checkLogReads},
		{"LogReplace", checkLogReplace},
		{"LogTogether", checkLogTogether},
		{"Files", checkFiles},
		{"FileAllow", checkFileAllow},
		{"Uploads", checkUploads},
		{"FileStays", checkFileStays},
		{"FileWhole", checkFileWhole},
		{"Remove", checkRemove},
		{"RemoveLarge", checkRemoveLarge},
		{"Strip", checkStrip},
		{"Bytes", checkBytes},
		{"Pools", checkPools},
		{"Agents", checkAgents},
		{"AgentsLeave", checkAgentsLeave},
	}
}
