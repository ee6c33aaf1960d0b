package dual

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// wantBoth holds both sides to these records, in this order.
func (r *rig) wantBoth(org uuid.UUID, want []string) {
	r.t.Helper()
	for _, side := range []*faulty{r.csv, r.mysql} {
		if got := lines(r.t, side, org); !slices.Equal(want, got) {
			r.t.Fatalf("csv: %v\ngot:\n%s\nwant:\n%s", side == r.csv, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestOneSideFails breaks each side in each way, and mends it.
func TestOneSideFails(t *testing.T) {
	for _, name := range []string{"csv", "mysql"} {
		for m := fails; m < modes; m++ {
			t.Run(name+" "+[...]string{"", "fails", "lies", "rejects", "hangs", "hangs late", "flaps"}[m], func(t *testing.T) {
				t.Parallel()
				r := newRig(t, func(o *Options) { o.SideTimeout = 200 * time.Millisecond })
				broken := map[string]*faulty{"csv": r.csv, "mysql": r.mysql}[name]
				org := uuid.New()
				var want []string
				upload := func(ids ...string) {
					for _, id := range ids {
						batch := newBatch(org, id, 3)
						want = append(want, linesOf(batch, r.mustAppend(batch).At)...)
					}
				}
				upload("a", "b")
				broken.set(m)
				upload("c", "d", "e")
				r.heal()
				upload("f")
				r.wantBoth(org, want)
			})
		}
	}
}

// TestDegraded follows the status and the backlog through an outage.
func TestDegraded(t *testing.T) {
	now := &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	r := newRig(t, func(o *Options) { o.Now = now.Now })
	org := uuid.New()
	status := func() error {
		now.advance(time.Second)
		return r.Status(t.Context())
	}
	r.mustAppend(newBatch(org, "a", 1))
	if err := status(); err != nil {
		t.Fatalf("status: %v", err)
	}
	r.mysql.set(fails)
	wantCode(t, "status when a side is away", status(), fault.StoreDegraded)
	r.mustAppend(newBatch(org, "b", 1))
	r.mustAppend(newBatch(org, "c", 1))
	err := status()
	wantCode(t, "status when a side is behind", err, fault.StoreDegraded)
	if !strings.Contains(err.Error(), "mysql is behind by 2 requests") {
		t.Errorf("status: %v", err)
	}
	if b := r.Backlog(); b["mysql"] != 2 || b["csv"] != 0 {
		t.Errorf("backlog: %v", b)
	}
	r.reopen()
	if b := r.Backlog(); b["mysql"] != 2 || b["csv"] != 0 {
		t.Errorf("backlog after a restart: %v", b)
	}
	r.csv.set(fails)
	wantCode(t, "status when both are away", status(), fault.StoreUnavailable)
	r.heal()
	if err := status(); err != nil {
		t.Fatalf("status after all: %v", err)
	}
}

// TestBothFail claims nothing, and what a side recorded all the same comes to both.
func TestBothFail(t *testing.T) {
	r := newRig(t, nil)
	org, refusedOrg := uuid.New(), uuid.New()
	var want []string
	first := newBatch(org, "first", 2)
	want = append(want, linesOf(first, r.mustAppend(first).At)...)
	r.mustAppend(newBatch(refusedOrg, "first", 1))

	r.csv.set(rejects)
	r.mysql.set(rejects)
	_, err := r.Append(t.Context(), newBatch(refusedOrg, "second", 1))
	wantCode(t, "Append when both reject", err, fault.StoreUnavailable)
	if b := r.Backlog(); b["csv"]+b["mysql"] != 0 {
		t.Errorf("nothing was recorded, and the backlog is %v", b)
	}

	r.csv.set(lies)
	r.mysql.set(fails)
	open := newBatch(org, "open", 2)
	for range 2 {
		_, err = r.Append(t.Context(), open)
		if err == nil {
			break // the lie came out: CSV has it
		}
		wantCode(t, "Append when nobody knows", err, fault.StoreUnavailable)
	}
	r.heal()
	receipt := r.mustAppend(open)
	if !receipt.Replayed {
		t.Errorf("the batch was there, and its receipt is %+v", receipt)
	}
	r.wantBoth(org, append(want, linesOf(open, receipt.At)...))
	if got := lines(t, r.csv, refusedOrg); len(got) != 1 {
		t.Errorf("a batch that was answered with an error is there: %v", got)
	}
}

// TestReplayWhileOwed sends batches again that a side still lacks.
func TestReplayWhileOwed(t *testing.T) {
	r := newRig(t, nil)
	org, batch := uuid.New(), newBatch(uuid.Nil, "again", 2)
	batch.Org = org
	r.mustAppend(newBatch(org, "before", 1))
	r.mysql.set(fails)
	first := r.mustAppend(batch)
	first.Replayed = true
	for range 2 {
		if again := r.mustAppend(batch); again != first {
			t.Errorf("first %+v, then %+v", first, again)
		}
		other := batch
		other.Digest[0]++
		_, err := r.Append(t.Context(), other)
		wantCode(t, "Append of another digest", err, fault.IdempotencyMismatch)
		r.reopen()
	}
	if b := r.Backlog(); b["mysql"] != 1 {
		t.Errorf("backlog: %v", b)
	}
	r.heal()
	if again := r.mustAppend(batch); again != first {
		t.Errorf("first %+v, then %+v", first, again)
	}
}

// TestOneOrganization has a side refuse one organization: the others go on.
func TestOneOrganization(t *testing.T) {
	for _, m := range []mode{rejects, fails, hangs} {
		r := newRig(t, func(o *Options) { o.SideTimeout = 100 * time.Millisecond })
		bad := uuid.New()
		r.csv.org = bad
		r.csv.set(m)
		want := map[uuid.UUID][]string{}
		for i := range 5 {
			for _, org := range []uuid.UUID{bad, {1}, {2}} {
				batch := newBatch(org, string(rune('a'+i)), 2)
				want[org] = append(want[org], linesOf(batch, r.mustAppend(batch).At)...)
			}
		}
		if !soon(func() bool { return r.Backlog()["csv"] == 5 }) {
			t.Fatalf("backlog: %v", r.Backlog())
		}
		r.wantBoth(uuid.UUID{1}, want[uuid.UUID{1}])
		r.wantBoth(uuid.UUID{2}, want[uuid.UUID{2}])
		r.heal()
		r.wantBoth(bad, want[bad])
	}
}

// TestBacklogFull refuses what would be owed beyond the limit, and nothing else.
func TestBacklogFull(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxBacklogBytes = 1000 })
	org := uuid.New()
	r.mysql.set(fails)
	var err error
	count := 0
	for ; err == nil && count < 100; count++ {
		_, err = r.Append(t.Context(), newBatch(org, string(rune('A'+count)), 1))
	}
	wantCode(t, "Append beyond the limit", err, fault.BacklogFull)
	if count < 2 || count > 10 {
		t.Errorf("refused after %d uploads", count)
	}
	if got := lines(t, r.csv, org); len(got) != count-1 {
		t.Errorf("CSV has %d records, %d were acknowledged", len(got), count-1)
	}
	r.heal()
	r.mustAppend(newBatch(org, "after", 1))
	r.settled()
	r.wantBoth(org, lines(t, r.csv, org))
}

// TestSeed starts from what the sides have from before.
func TestSeed(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	old := newBatch(org, "old", 1)
	old.At = time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	if _, err := r.mysql.Store.Append(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if at := r.mustAppend(newBatch(org, "new", 1)).At; !at.After(old.At) {
		t.Errorf("recorded at %v, a side has a record of %v", at, old.At)
	}
	r.settled()
}
