package sqlruns_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

// grown is a store with as many runs as a benchmark wants.
type grown struct {
	alone
	b     *testing.B
	floor *floor // of the same database, beside it
	orgs  []uuid.UUID
	made  int
}

// onEach runs a benchmark on SQLite in a file, and on a server.
func onEach(b *testing.B, bench func(b *testing.B, g *grown)) {
	b.Run("sqlite", func(b *testing.B) { onOne(b, opened(b)(openSQLite(b.TempDir())), floorOnSQLite, bench) })
	b.Run("mysql", func(b *testing.B) { onOne(b, opened(b)(openMySQL(mysqltest.New(b))), floorOnMySQL, bench) })
}

func onOne(b *testing.B, store runs.Store, beside func(*testing.B) *floor, bench func(b *testing.B, g *grown)) {
	defer store.Close()
	bench(b, &grown{alone: store.(alone), b: b, floor: beside(b)})
}

func (g *grown) org(i int) uuid.UUID {
	for len(g.orgs) <= i {
		g.orgs = append(g.orgs, uuid.New())
	}
	return g.orgs[i]
}

// next returns a run about as large as one that has planned.
func (g *grown) next(org int, workspace string, kind runs.Kind, status runs.Status) runs.Run {
	g.made++
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).Add(time.Duration(g.made) * time.Second)
	run := runs.Run{
		Org: g.org(org), ID: fmt.Sprintf("01J%023d", g.made), Workspace: workspace, Kind: kind, Status: status, Attempt: 1,
		CreatedAt: at,
		Order: runs.Order{Snapshot: "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b",
			Message: "a change of some network"},
		Terms: runs.Terms{Tool: "opentofu", Version: "1.12.6",
			Timeout: map[runs.Stage]time.Duration{runs.PlanStage: time.Hour}},
	}
	if status.Ended() {
		run.StartedAt, run.PlannedAt, run.FinishedAt = at, at, at.Add(time.Minute)
		run.Reports = []string{"plan/1/1/prepare", "plan/1/1/init", "plan/1/1/plan", "plan/1/1/show"}
	}
	return run
}

// fill stores runs in transactions of many.
func (g *grown) fill(n int, next func(i int) runs.Run) {
	g.b.Helper()
	for i := 0; i < n; {
		var all []runs.Run
		for ; i < n && len(all) < 500; i++ {
			run := next(i)
			if len(all) > 0 && run.Org != all[0].Org {
				g.store(all)
				all = nil
			}
			all = append(all, run)
		}
		g.store(all)
	}
}

func (g *grown) store(all []runs.Run) {
	g.b.Helper()
	if err := g.CreateAll(context.Background(), all); err != nil {
		g.b.Fatal(err)
	}
}

// took has how long something took each time.
type took struct {
	mu  sync.Mutex
	all []time.Duration
}

func (t *took) time(fn func() error) error {
	begin := time.Now()
	err := fn()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, time.Since(begin))
	return err
}

func (t *took) report(b *testing.B) {
	slices.Sort(t.all)
	at := func(p float64) float64 { return float64(t.all[int(p*float64(len(t.all)-1))].Microseconds()) / 1000 }
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkClaim claims while 10,000 runs wait, as the service does: it asks what may be claimed
// first, and claims that.
func BenchmarkClaim(b *testing.B) {
	const waiting = 10000
	for name, spread := range map[string]func(g *grown, i int) runs.Run{
		"one-workspace": func(g *grown, i int) runs.Run { return g.next(0, "w", runs.Apply, runs.Pending) },
		"100-workspaces": func(g *grown,
			i int) runs.Run {
			return g.next(0, fmt.Sprint("w", i%100), runs.Apply, runs.Pending)
		},
		"100-orgs": func(g *grown,
			i int) runs.Run {
			return g.next(i*100/waiting%100, "w", runs.Apply, runs.Pending)
		},
		"one-org-of-plans": func(g *grown, i int) runs.Run { return g.next(0, "w", runs.Plan, runs.Pending) },
	} {
		b.Run(name, func(b *testing.B) {
			onEach(b, func(b *testing.B, g *grown) {
				g.fill(waiting, func(i int) runs.Run { return spread(g, i) })
				var t took
				for i := 0; b.Loop(); i++ {
					ref := g.claim(&t)
					b.StopTimer()
					g.replace(ref, spread(g, i*97))
					b.StartTimer()
				}
				t.report(b)
			})
		})
	}
	b.Run("floor", func(b *testing.B) {
		onEach(b, func(b *testing.B, g *grown) {
			g.floor.fill(waiting, "pending")
			var t took
			for b.Loop() {
				if err := t.time(g.floor.claim); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				g.floor.fill(g.floor.made+1, "pending")
				b.StartTimer()
			}
			t.report(b)
		})
	})
}

func (g *grown) claim(t *took) (ref runs.Ref) {
	err := t.time(func() error {
		refs, err := g.Claimable(context.Background(), runs.ClaimQuery{Now: time.Now(), Limit: 1})
		if err != nil || len(refs) == 0 {
			return fmt.Errorf("%d runs to claim, %v", len(refs), err)
		}
		ref = refs[0]
		_, err = g.Update(context.Background(), ref, become(runs.Preparing))
		return err
	})
	if err != nil {
		g.b.Fatal(err)
	}
	return ref
}

// replace ends a run and makes another one.
func (g *grown) replace(ref runs.Ref, next runs.Run) {
	if _, err := g.Update(context.Background(), ref, become(runs.Succeeded)); err != nil {
		g.b.Fatal(err)
	}
	g.store([]runs.Run{next})
}

func become(status runs.Status) runs.Decide {
	return func(r runs.Run) (runs.Change, error) {
		event := runs.Event{At: r.CreatedAt, Type: runs.EventClaimed, From: r.Status, To: status}
		r.Status, r.Executor, r.LeaseUntil = status, &runs.Executor{Agent: "agent"}, time.Now().Add(time.Hour)
		return runs.Change{Run: r, Events: []runs.Event{event}}, nil
	}
}

// BenchmarkHistory reads of an organization that has had many runs: by default up to 100,000,
// up to HOLDFAST_BENCH_RUNS if that is set.
func BenchmarkHistory(b *testing.B) {
	most := 100000
	if n, err := strconv.Atoi(os.Getenv("HOLDFAST_BENCH_RUNS")); err == nil {
		most = n
	}
	onEach(b, func(b *testing.B, g *grown) {
		for size := 100; size <= most; size *= 10 {
			begin := time.Now()
			g.fill(size-g.made, func(int) runs.Run { return g.past() })
			g.floor.fill(size, "succeeded")
			b.Logf("%d runs, after %s", size, time.Since(begin))
			b.Run(fmt.Sprint(size), g.reads)
		}
	})
}

// past returns a run that ended: every 1,000th failed, in one of 100 workspaces.
func (g *grown) past() runs.Run {
	status, kind := runs.Succeeded, runs.Apply
	if g.made%1000 == 17 {
		status, kind = runs.Failed, runs.Plan
	}
	return g.next(0, fmt.Sprint("workspace/", g.made*7%100), kind, status)
}

// reads times each way of reading.
func (g *grown) reads(b *testing.B) {
	org, ctx := g.org(0), context.Background()
	list := func(q runs.Query) func() error {
		q.Org, q.Limit = org, 20
		return func() error {
			_, err := g.List(ctx, q)
			return err
		}
	}
	middle := runs.Ref{Org: org, ID: fmt.Sprintf("01J%023d", g.made/2)}
	for name, read := range map[string]func() error{
		"list":                     list(runs.Query{}),
		"list-middle":              list(runs.Query{Before: middle.ID}),
		"list-workspace":           list(runs.Query{Workspace: "workspace/7"}),
		"list-failed":              list(runs.Query{Status: []runs.Status{runs.Failed, runs.Cancelled}}),
		"list-orphaned":            list(runs.Query{Status: []runs.Status{runs.Orphaned}}),
		"list-workspace-of-a-kind": list(runs.Query{Workspace: "workspace/7", Kind: runs.Plan}),
		"floor-list":               g.floor.list,
		"floor-show":               g.floor.show,
		"show":                     func() error { _, err := g.Run(ctx, middle); return err },
		"events":                   func() error { _, err := g.Events(ctx, middle, 0, 100); return err },
		"open":                     func() error { _, err := g.Open(ctx, org, "workspace/7"); return err },
		"due":                      func() error { _, err := g.Due(ctx, time.Now(), runs.Mark{}, 100); return err },
		"claimable": func() error {
			_, err := g.Claimable(ctx, runs.ClaimQuery{Now: time.Now(), Limit: 10})
			return err
		},
		"create-and-cancel": func() error {
			run, err := g.Create(ctx, g.next(0, "workspace/7", runs.Apply, runs.Pending), "", nil, nil)
			if err == nil {
				_, err = g.Update(ctx, run.Ref(), become(runs.Cancelled))
			}
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			var t took
			for b.Loop() {
				if err := t.time(read); err != nil {
					b.Fatal(err)
				}
			}
			t.report(b)
		})
	}
}
