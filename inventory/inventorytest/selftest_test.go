package inventorytest_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

// brokenInventory is the environment variable that names the broken store for a process.
const brokenInventory = "HOLDFAST_INVENTORYTEST_BROKEN"

// flaw is a broken store and the checks that have to notice.
type flaw struct {
	wrap   func(inventory.Store) inventory.Store
	checks []string
}

func flaws() map[string]flaw {
	return map[string]flaw{
		"keeps uploads":      {keepsUploads, []string{"Shred"}},
		"shreds all uploads": {shredsAllUploads, []string{"Shred"}},
		"keeps old uploads":  {keepsOldUploads, []string{"Expire", "Model"}},
		"expires too soon":   {expiresTooSoon, []string{"Expire", "Model"}},
		"expires by Shred":   {expiresByShredding, []string{"Expire"}},
		"drops a resource":   {sends(dropsLast), []string{"Order", "WholeBatches", "Replay"}},
		"reorders":           {sends(func(b *inventory.Batch) { reverse(b.Resources) }), []string{"Order", "WholeBatches"}},
		"normalizes JSON":    {sends(normalizes), []string{"Attributes"}},
		"trims names":        {sends(trimsNames), []string{"ResourceNames"}},
		"splits batches":     {splits, []string{"WholeBatches", "Timestamps"}},
		"forgets IDs":        {forgetsIDs, []string{"Replay", "ConcurrentReplays", "Mismatch", "Model"}},
		"ignores digests": {sends(func(b *inventory.Batch) { b.Digest = [32]byte{} }),
			[]string{"Mismatch", "ConcurrentMismatch", "Model"}},
		"folds IDs": {sends(func(b *inventory.Batch) { b.ID = strings.ToLower(b.ID) }),
			[]string{"ReplayElsewhere"}},
		"ignores given times": {sends(func(b *inventory.Batch) { b.At = time.Time{} }),
			[]string{"GivenTimestamps", "Periods"}},
		"never says replayed": {answers(func(r *inventory.Receipt) { r.Replayed = false }), []string{"Replay", "Model"}},
		"answers local times": {answers(func(r *inventory.Receipt) { r.At = r.At.In(time.FixedZone("", 60)) }),
			[]string{"Timestamps"}},
		"counts replays": {func(s inventory.Store) inventory.Store { return &countsReplays{Store: s} },
			[]string{"Usage"}},
		"asks for replays": {asksForReplays, []string{"Allow"}},
		"never asks":       {sends(func(b *inventory.Batch) { b.Allow = nil }), []string{"Allow", "AllowTogether"}},
		"loses batches":    {losesSome, []string{"ManyTimestamps", "WholeBatches", "ManyOrganizations"}},
		"ignores contexts": {ignoresAppendContexts, []string{"EndedContext"}},
		"denies appends":   {deniesAppends, []string{"EndingContext"}},
		"goes back in time": {yields(func(p *inventory.Positioned) {
			p.Timestamp = p.Timestamp.Add(-time.Second * time.Duration(p.Next[9]%3))
		}), []string{"Timestamps", "ManyTimestamps"}},
		"stands still": {standsStill, []string{"ClockAhead", "Timestamps"}},
		"cuts times": {yields(func(p *inventory.Positioned) { p.Timestamp = p.Timestamp.Truncate(time.Millisecond) }),
			[]string{"GivenTimestamps", "Timestamps"}},
		"has one room": {func(s inventory.Store) inventory.Store { return oneRoom{s} },
			[]string{"Model", "ReplayElsewhere", "ManyOrganizations"}},
		"hides errors":       {hidesErrors, []string{"Close", "CursorInvalid"}},
		"misses what is new": {yields(func(p *inventory.Positioned) { p.Later = "" }), []string{"Later"}},
		"goes on backwards":  {yields(func(p *inventory.Positioned) { p.Later = p.Next }), []string{"Later"}},
		"restarts":           {restarts, []string{"CursorInvalid"}},
		"lags":               {lags, []string{"EveryCursor", "Pages", "PagesWhileAppending", "Model"}},
		"ignores the order": {asks(func(q *inventory.Query) { q.Order = inventory.Ascending }),
			[]string{"Filters", "EveryCursor"}},
		"folds case": {asks(func(q *inventory.Query) { q.ResourceName = strings.ToLower(q.ResourceName) }),
			[]string{"Filters", "ResourceNames"}},
		"includes the end": {asks(func(q *inventory.Query) { q.Until = q.Until.Add(time.Microsecond) }),
			[]string{"Periods", "Filters"}},
		"ignores attributes": {asks(func(q *inventory.Query) { q.Attributes = nil }),
			[]string{"AttributeFilters", "Filters"}},
		"asks for no memory":  {asks(func(q *inventory.Query) { q.Memory = nil }), []string{"Memory"}},
		"asks for too little": {asks(asksForHalf), []string{"Memory"}},
		"takes it anyway":     {asks(takesAnyway), []string{"Memory"}},
		"shares bytes":        {sharesBytes, []string{"NothingShared"}},
		"runs ahead":          {runsAhead, []string{"EarlyStop"}},
		"summarizes too late": {func(s inventory.Store) inventory.Store { return bent{Store: s, summary: losesOne} },
			[]string{"Summary", "Model"}},
		"goes on":              {goesOnBehind, []string{"AppendAllStops"}},
		"takes all or nothing": {allOrNothing, []string{"AppendAllStops"}},
		"forgets the rest":     {forgetsTheRest, []string{"AppendAll"}},
		"appends in disorder":  {runsThemAtOnce, []string{"AppendAll", "AppendAllTogether"}},
		"reverses the tenants": {func(s inventory.Store) inventory.Store {
			return bent{Store: s,
				organizations: reversesOrgs}
		}, []string{"Organizations", "ManyOrganizations"}},
	}
}

// durableFlaws only show after the process.
func durableFlaws() map[string]flaw {
	return map[string]flaw{
		"loses batches":      {losesSome, []string{"Kill", "ReopenAfterLoad"}},
		"forgets at restart": {forgetsAtRestart, []string{"Kill", "Reopen", "ReopenAfterLoad"}},
		"drops a resource":   {sends(dropsLast), []string{"Kill"}},
		"in disorder":        {runsThemAtOnce, []string{"Kill"}},
	}
}

// wrapBroken breaks the store of a process that is to have a broken one.
func wrapBroken(store inventory.Store) inventory.Store {
	if f, ok := durableFlaws()[os.Getenv(brokenInventory)]; ok {
		return f.wrap(store)
	}
	return store
}

func losesOne(groups []inventory.Group) []inventory.Group {
	if len(groups) > 0 {
		groups[len(groups)-1].Count--
	}
	return groups
}

func reverse(resources []inventory.Resource) {
	for i, j := 0, len(resources)-1; i < j; i, j = i+1, j-1 {
		resources[i], resources[j] = resources[j], resources[i]
	}
}

// TestBrokenInventory is what TestInventorySuiteNotices runs in a process of its own.
func TestBrokenInventory(t *testing.T) {
	f, ok := flaws()[os.Getenv(brokenInventory)]
	if !ok {
		t.Skip("only TestInventorySuiteNotices runs this")
	}
	inventorytest.RunStore(t, func(*testing.T) inventory.Store { return f.wrap(inventorytest.New()) })
}

// TestInventorySuiteNotices proves that the suite can fail: each of the checks fails on
// the store that breaks its promise.
func TestInventorySuiteNotices(t *testing.T) {
	suite.Deep(t)
	for name, f := range flaws() {
		for _, check := range f.checks {
			t.Run(name+"/"+check, func(t *testing.T) {
				t.Parallel()
				suite.Fails(t, brokenInventory+"="+name, "TestBrokenInventory/"+check)
			})
		}
	}
	for name, f := range durableFlaws() {
		for _, check := range f.checks {
			t.Run("durable/"+name+"/"+check, func(t *testing.T) {
				t.Parallel()
				suite.Fails(t, brokenInventory+"="+name, "TestInventoryDurable/"+check)
			})
		}
	}
}
