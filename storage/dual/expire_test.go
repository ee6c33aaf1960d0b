package dual

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestExpireWithASideAway removes on the side that is there, says which one is not, and goes on when it is back, also
// with what that side was owed.
func TestExpireWithASideAway(t *testing.T) {
	for _, name := range []string{"csv", "mysql"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			sides := map[string]*faulty{"csv": r.csv, "mysql": r.mysql}
			broken := sides[name]
			other := sides[map[string]string{"csv": "mysql", "mysql": "csv"}[name]]
			org, start := uuid.New(), time.Date(2025, 2, 3, 0, 0, 0, 0, time.UTC)
			var want []string
			upload := func(id string, days int) {
				batch := newBatch(org, id, 3)
				batch.At = start.AddDate(0, 0, days)
				want = append(want, linesOf(batch, r.mustAppend(batch).At)...)
			}
			upload("a", 0)
			upload("b", 1)
			broken.set(fails)
			upload("c", 2) // is owed
			upload("d", 9)
			before := start.AddDate(0, 0, 5)
			removed, err := r.Expire(t.Context(), org, before, 100)
			if removed != 9 || err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("removed %d, %v; the side %s is away", removed, err, name)
			}
			if got := lines(t, other, org); !slices.Equal(got, want[9:]) {
				t.Errorf("the other side has\n%s", strings.Join(got, "\n"))
			}
			r.heal()
			for removed := 1; removed > 0; {
				if removed, err = r.Expire(t.Context(), org, before, 2); err != nil {
					t.Fatal(err)
				}
			}
			r.wantBoth(org, want[9:])
			if receipt := r.mustAppend(newBatch(org, "a", 3)); !receipt.Replayed {
				t.Error("what expired is not recognised")
			}
		})
	}
}
