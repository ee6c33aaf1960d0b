package resourcestest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// RunDurable holds an engine to what is left of an index whose process is killed while
// it is filled. open opens the index in a directory, a new one or one that was used before;
// the suite closes it. The engine's TestMain has to call ChildMain.
func RunDurable(t *testing.T, open func(t *testing.T, dir string) resources.Index) {
	t.Run("Kill", func(t *testing.T) { checkIndexKill(t, open) })
}

// checkIndexKill goes on with an index after each kill, and finds in it then what one has
// that is made from scratch.
func checkIndexKill(t *testing.T, open func(t *testing.T, dir string) resources.Index) {
	dir, steps, wentOn := t.TempDir(), 0, 0
	for _, moments := range []uint64{4, 2, 3, 7, 11} { // the first one is in the middle of a Replace
		told := killtest.Kill[indexStep](t, indexDir, dir, uint64(steps)<<32|moments, never)
		steps = told[len(told)-1].Steps
		s := newScript(steps)
		x := indexed{t, open(t, dir)}
		p, err := x.Position(t.Context())
		x.must(err)
		indexer := s.indexer(x.Index)
		x.must(indexer.CatchUp(t.Context()))
		if p.Complete && indexer.Activity().States < 6 { // one for each that is looked for
			wentOn++
		}
		fresh := indexed{t, open(t, t.TempDir())}
		x.must(s.indexer(fresh.Index).CatchUp(t.Context()))
		if diff := cmp.Diff(fresh.all(), x.all()); diff != "" {
			t.Fatalf("killed within the last of %d steps: what a rebuild has, and what is there:\n%.3000s", steps, diff)
		}
		x.must(x.Close())
		x.must(fresh.Close())
		x.must(s.close())
	}
	if wentOn == 0 {
		t.Error("the index was made anew after each kill: nothing was tried")
	}
}

// never is after how many acknowledgements a child is killed that sees to that by itself.
const never = 1 << 30

// all is what an index answers.
func (x indexed) all() map[string]any {
	x.t.Helper()
	ctx, all := x.t.Context(), map[string]any{}
	held, err := x.Holdings(ctx, state.Ref{}, 100)
	x.must(err)
	all["held"] = held
	p, err := x.Position(ctx)
	x.must(err)
	all["position"] = p
	for _, org := range []uuid.UUID{indexOrg, otherIndexOrg} {
		for _, q := range []resources.Query{{}, {Words: []string{"i-7"}},
			{Attributes: []resources.Pair{{Name: "id", Value: "i-77"}}}} {
			q.Limit = 10_000
			found, _, err := x.Search(ctx, org, everything, q)
			x.must(err)
			all[fmt.Sprint(org, q)] = found
		}
		counts, err := x.Count(ctx, org, everything, resources.CoverageQuery{})
		x.must(err)
		all[fmt.Sprint("counts ", org)] = counts
		cursor, err := x.Cursor(ctx, org)
		x.must(err)
		all[fmt.Sprint("cursor ", org)] = cursor
	}
	return all
}
