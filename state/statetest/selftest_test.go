package statetest_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/memory"
)

// brokenName is the environment variable that names the broken store for a process.
const brokenName = "HOLDFAST_STATETEST_BROKEN"

// breakage is a broken store and the checks that have to notice.
type breakage struct {
	wrap   func(state.Store) state.Store
	checks []string
}

func breakages() map[string]breakage {
	return map[string]breakage{
		"drops writes":        {dropsWrites, []string{"Versions", "ManyWriters", "Rules"}},
		"checks, then writes": {checksThenWrites, []string{"ManyWriters", "OneHolder", "Linearizable"}},
		"double-grants":       {doubleGrants, []string{"OneHolder", "Rules", "Linearizable"}},
		"forgets the released": {seesHeads(func(h *state.Head) { h.ReleasedID = "" }),
			[]string{"Replays", "LateReplays", "Rules"}},
		"restarts numbers": {seesHeads(func(h *state.Head) {
			if h.Deleted {
				h.Version = state.Version{}
			}
		}), []string{"Recreation", "Rules"}},
		"truncates times":     {bendsChanges(truncatesTimes), []string{"VersionFields"}},
		"compacts lock infos": {bendsChanges(compactsLockInfos), []string{"LockFields"}},
		"never releases": {bendsChanges(func(c *state.Change) { c.Release = false }),
			[]string{"ReleasedID", "WriteAndRelease"}},
		"deletes nothing":     {bendsChanges(func(c *state.Change) { c.Delete = false }), []string{"Deletion", "Reads"}},
		"records the refused": {recordsRefused, []string{"DecideError"}},
		"wraps errors":        {wrapsErrors, []string{"DecideError"}},
		"ignores contexts":    {ignoresContexts, []string{"EndedContext"}},
		"goes on":             {goesOn, []string{"EndingContext"}},
		"truncates bodies":    {truncatesBodies, []string{"ExactBytes"}},
		"leaks organizations": {func(s state.Store) state.Store { return leaksOrganizations{s} },
			[]string{"Isolation", "Rules"}},
		"leaks versions": {func(s state.Store) state.Store {
			return &leaksVersions{Store: s,
				refs: map[state.Name]state.Ref{}}
		}, []string{"Isolation"}},
		"says not found": {func(s state.Store) state.Store { return saysNotFound{s} },
			[]string{"EndedContext", "Close"}},
		"serves stale":          {func(s state.Store) state.Store { return &servesStale{Store: s} }, []string{"Reads"}},
		"leaves a goroutine":    {leavesGoroutine, []string{"Close"}},
		"closes ahead of calls": {func(s state.Store) state.Store { return &closesEarly{Store: s} }, []string{"CloseWaits"}},
	}
}

func allBreakages() map[string]breakage {
	all := breakages()
	maps.Copy(all, historyBreakages())
	maps.Copy(all, usageBreakages())
	maps.Copy(all, fenceBreakages())
	maps.Copy(all, expectationBreakages())
	maps.Copy(all, newestBreakages())
	maps.Copy(all, shredBreakages())
	return all
}

// TestBrokenStore is what TestSuiteNotices runs in a process of its own.
func TestBrokenStore(t *testing.T) {
	b, ok := allBreakages()[os.Getenv(brokenName)]
	if !ok {
		t.Skip("only TestSuiteNotices runs this")
	}
	statetest.RunStore(t, func(*testing.T) state.Store { return b.wrap(memory.New(1 << 30)) })
}

// TestSuiteNotices proves that the suite can fail: each of the checks fails on the store
// that breaks its promise.
func TestSuiteNotices(t *testing.T) {
	suite.Deep(t)
	for name, b := range allBreakages() {
		for _, check := range b.checks {
			t.Run(name+"/"+check, func(t *testing.T) {
				t.Parallel()
				suite.Fails(t, brokenName+"="+name, "TestBrokenStore/"+check)
			})
		}
	}
}

// TestChildDiesWithParent starts a child whose parent's end of the pipe is closed.
func TestChildDiesWithParent(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "HOLDFAST_STATETEST_DIR="+t.TempDir())
	if err := cmd.Run(); err == nil || !cmd.ProcessState.Exited() {
		t.Errorf("the child ended with %v, %v", cmd.ProcessState, err)
	}
}
