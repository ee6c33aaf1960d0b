package runstest_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/runs/runstest"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlruns"
)

// brokenName is the environment variable that names the broken store for a process.
const brokenName = "HOLDFAST_RUNSTEST_BROKEN"

// breakage is a broken store and the checks that have to notice.
type breakage struct {
	wrap   func(runs.Store) runs.Store
	checks []string
}

func breakages() map[string]breakage {
	return map[string]breakage{
		"makes runs beside others": {beside, []string{"Alone", "AloneTogether"}},
		"forgets keys":             {forgetsKeys, []string{"Keys", "KeysTogether"}},
		"shares keys":              {sharesKeys, []string{"Keys", "Isolation"}},
		"checks, then writes":      {checksThenWrites, []string{"UpdatesTogether"}},
		"drops updates":            {dropsUpdates, []string{"UpdatesTogether", "Queries"}},
		"records events apart":     {recordsTwice, []string{"EventsAtomic"}},
		"records the refused":      {recordsRefused, []string{"DecideError"}},
		"wraps errors":             {wrapsErrors, []string{"DecideError"}},
		"hides blocks":             {hidesBlocks, []string{"Slot", "SlotTogether", "Queries"}},
		"ignores contexts":         {ignoresContexts, []string{"EndedContext"}},
		"loses events": {changes(func(_ runs.Run, c *runs.Change) { c.Events = c.Events[:min(len(c.Events), 1)] }),
			[]string{"Events", "Revisions"}},
		"makes events up": {changes(func(_ runs.Run, c *runs.Change) { c.Events = append(c.Events, runs.Event{}) }),
			[]string{"Revisions"}},
		"truncates texts": {changes(func(_ runs.Run,
			c *runs.Change) {
			c.Run.Reason = c.Run.Reason[:min(len(c.Run.Reason), 3)]
		}), []string{"Fields", "Revisions"}},
		"keeps priorities": {changes(func(was runs.Run, c *runs.Change) { c.Run.Priority = was.Priority }),
			[]string{"Line", "Queries"}},
		"forgets leases": {changes(func(was runs.Run, c *runs.Change) { c.Run.LeaseUntil = was.LeaseUntil }),
			[]string{"Due"}},
		"knows no turns":       {claims(byID), []string{"Fairness", "Queries"}},
		"offers whole lines":   {claims(wholeLines), []string{"Line", "Queries"}},
		"offers too early":     {ignoresTimes, []string{"ClaimQueries", "Queries"}},
		"offers anybody's":     {ignoresOrganizations, []string{"ClaimQueries"}},
		"filters pages":        {filtersPages, []string{"Queries"}},
		"skips one":            {skipsOne, []string{"Pages", "Queries"}},
		"forgets the lost":     {forgetsLost, []string{"Queries"}},
		"counts twice":         {countsTwice, []string{"Queries"}},
		"tells again":          {func(next runs.Store) runs.Store { return keepsChanges{next} }, []string{"Changes"}},
		"skips a change":       {func(next runs.Store) runs.Store { return skipsChanges{next} }, []string{"Changes"}},
		"forgets days":         {func(next runs.Store) runs.Store { return forgetsDays{next} }, []string{"Queries"}},
		"always has room":      {alwaysHasRoom, []string{"Room", "RoomTogether"}},
		"asked before":         {askedBefore, []string{"Room", "RoomTogether"}},
		"skips twins":          {skipsTwins, []string{"Due"}},
		"forgets the newest":   {forgetsTheNewest, []string{"Queries"}},
		"appends anywhere":     {appendsAnywhere, []string{"LogOffsets"}},
		"keeps the replaced":   {keepsReplaced, []string{"LogReplace"}},
		"asks nobody":          {asksNobody, []string{"LogAllow", "FileAllow"}},
		"mixes uploads":        {mixesUploads, []string{"Uploads"}},
		"shows halves":         {showsHalves, []string{"Files", "FileWhole"}},
		"keeps removed runs":   {keepsRuns, []string{"Remove", "Queries"}},
		"removes running runs": {removesBusy, []string{"Remove"}},
		"repeats events":       {eventsFromZero, []string{"Events"}},
		"keeps all agents":     {keepsAgents, []string{"AgentsLeave"}},
	}
}

// whole is a store that holds its promises, alone in its database.
type whole struct {
	*sqlruns.Store
	db *sqldb.DB
}

func (w whole) Close() error { return errors.Join(w.Store.Close(), w.db.Close()) }

// TestBrokenStore is what TestSuiteNotices runs in a process of its own.
func TestBrokenStore(t *testing.T) {
	b, ok := breakages()[os.Getenv(brokenName)]
	if !ok {
		t.Skip("only TestSuiteNotices runs this")
	}
	runstest.RunStore(t, func(t *testing.T) runs.Store {
		db, err := sqldb.Open(context.Background(), sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return b.wrap(whole{sqlruns.New(db), db})
	})
}

// TestSuiteNotices proves that the suite can fail: each of the checks fails on the store that
// breaks its promise.
func TestSuiteNotices(t *testing.T) {
	suite.Deep(t)
	for name, b := range breakages() {
		for _, check := range b.checks {
			t.Run(name+"/"+check, func(t *testing.T) {
				t.Parallel()
				suite.Fails(t, brokenName+"="+name, "TestBrokenStore/"+check)
			})
		}
	}
}
