package dual

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// schedule is a random run: uploads while the sides come and go, and the process too.
type schedule struct {
	*rig
	orgs  [3]uuid.UUID
	sent  []inventory.Batch // in the order of the first try
	acked map[string]inventory.Receipt
}

// TestSchedules lets the sides fail at random. In the end both have the same records, in
// the same order, each once, and everything that was acknowledged.
func TestSchedules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := &schedule{acked: map[string]inventory.Receipt{}}
		// A rig of its own, whose files go with this run.
		s.rig = newRig(t, func(o *Options) { o.SideTimeout = 8 * time.Millisecond })
		for i := range s.orgs {
			s.orgs[i] = uuid.New()
		}
		rt.Repeat(map[string]func(*rapid.T){
			"upload":   s.upload,
			"upload 2": s.upload,
			"upload 3": s.upload,
			"again":    s.again,
			"switch":   s.turn,
			"reopen":   func(*rapid.T) { s.reopen() },
			"crash":    func(*rapid.T) { s.crash() },
		})
		s.finish(rt)
	})
}

func (s *schedule) turn(t *rapid.T) {
	m := mode(rapid.IntRange(0, int(modes)-1).Draw(t, "mode"))
	if rapid.Bool().Draw(t, "csv") {
		s.csv.set(m)
	} else {
		s.mysql.set(m)
	}
}

func (s *schedule) upload(t *rapid.T) {
	org := s.orgs[rapid.IntRange(0, 2).Draw(t, "org")]
	batch := newBatch(org, fmt.Sprint("batch-", len(s.sent)), rapid.IntRange(1, 4).Draw(t, "size"))
	s.sent = append(s.sent, batch)
	s.send(t, batch)
}

func (s *schedule) again(t *rapid.T) {
	if len(s.sent) == 0 {
		t.Skip("nothing was sent yet")
	}
	s.send(t, s.sent[rapid.IntRange(0, len(s.sent)-1).Draw(t, "batch")])
}

// send uploads a batch and holds the answer to those before.
func (s *schedule) send(t *rapid.T, batch inventory.Batch) bool {
	receipt, err := s.Append(context.Background(), batch)
	first, before := s.acked[batch.ID]
	switch {
	case err != nil && !fault.Is(err, fault.StoreUnavailable):
		t.Fatalf("Append of %s: %v", batch.ID, err)
	case err != nil:
		return false
	case before && (!receipt.Replayed || !receipt.At.Equal(first.At) || receipt.Request != first.Request ||
		receipt.Count != first.Count):
		t.Fatalf("Append of %s: first %+v, then %+v", batch.ID, first, receipt)
	case !before:
		s.acked[batch.ID] = receipt
	}
	return true
}

// finish mends everything, sends what had no answer again, and compares the sides.
func (s *schedule) finish(t *rapid.T) {
	s.heal()
	for _, batch := range s.sent {
		if !soon(func() bool { return s.send(t, batch) }) {
			t.Fatalf("batch %s is not taken", batch.ID)
		}
	}
	s.heal()
	want := map[uuid.UUID][]string{}
	for _, batch := range s.sent {
		want[batch.Org] = append(want[batch.Org], linesOf(batch, s.acked[batch.ID].At)...)
	}
	for _, org := range s.orgs {
		got := lines(s.t, s.csv, org)
		if other := lines(s.t, s.mysql, org); !slices.Equal(got, other) {
			t.Fatalf("csv:\n%s\nmysql:\n%s", strings.Join(got, "\n"), strings.Join(other, "\n"))
		}
		slices.SortStableFunc(want[org], compareTimes)
		if !slices.Equal(want[org], got) {
			t.Fatalf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want[org], "\n"))
		}
	}
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// compareTimes compares lines by their timestamps; dual gives no two batches the same.
func compareTimes(a, b string) int {
	return timeOf(a).Compare(timeOf(b))
}

func timeOf(line string) time.Time {
	text, _, _ := strings.Cut(line, " ")
	at, _ := time.Parse(time.RFC3339Nano, text) // written by the test
	return at
}
