package dual

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/logctx/logtest"
	"github.com/holdfast/holdfast/inventory"
)

// status asks for the status when the last answer is too old to count.
func (r *rig) status(now *clock) error {
	now.advance(time.Second)
	return r.Status(r.t.Context())
}

// TestRefusedForGood has one side refuse batches for good: it takes what comes after them,
// over restarts, and an operator is told.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	for _, name := range []name{csv, mysql} {
		now := &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
		var log logtest.Journal
		r := newRig(t, func(o *Options) { o.Now, o.Log, o.Watched = now.Now, slog.New(slog.NewTextHandler(&log, nil)), true })
		refusing, other := r.csv, r.mysql
		if name == mysql {
			refusing, other = r.mysql, r.csv
		}
		refusing.refusing(tooLarge("b", "d"))
		org := uuid.New()
		var want, rest []string
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			batch := newBatch(org, id, 2)
			got := linesOf(batch, r.mustAppend(batch).At)
			want = append(want, got...)
			if id != "b" && id != "d" {
				rest = append(rest, got...)
			}
			r.settled()
		}
		for range 2 {
			if letters := r.letters(); len(letters) != 2 || letters[0].Org != org || letters[0].Side != name.String() ||
				letters[0].Records != 2 ||
				letters[0].Request != "request b" || !strings.HasPrefix(letters[1].Reason, "body_too_large: ") {
				t.Errorf("dead letters: %+v", letters)
			}
			if got := lines(t, other, org); !slices.Equal(got, want) {
				t.Errorf("the other side has %v", got)
			}
			if got := lines(t, refusing, org); !slices.Equal(got, rest) {
				t.Errorf("the side that refuses has %v", got)
			}
			err := r.status(now)
			wantCode(t, "status", err, fault.StoreDegraded)
			if text := name.String() + " refuses 2 requests for good"; !strings.Contains(err.Error(), text) ||
				r.DeadLetterCounts()[name.String()] != 2 {
				t.Errorf("status %v, counts %v", err, r.DeadLetterCounts())
			}
			r.reopen()
		}
		if text := log.String(); strings.Count(text, "refuses an upload for good that the other one has") != 2 ||
			!strings.Contains(text, "refuses uploads for good") {
			t.Errorf("log:\n%s", text)
		}
	}
}

// TestRetryDeadLetter sends dead letters again when the side takes them: in their place if
// nothing came after them, else behind what did.
func TestRetryDeadLetter(t *testing.T) {
	for _, later := range []bool{false, true} {
		now := &clock{now: time.Now()}
		r := newRig(t, func(o *Options) { o.Now = now.Now })
		org := uuid.New()
		r.mysql.refusing(tooLarge("b"))
		for _, id := range []string{"a", "b"} {
			r.mustAppend(newBatch(org, id, 2))
		}
		r.settled()
		if later {
			r.mustAppend(newBatch(org, "c", 1))
		}
		number := r.letters()[0].Number
		_, err := r.RetryDeadLetter(t.Context(), number)
		wantCode(t, "a retry that is refused", err, fault.BodyTooLarge)
		r.mysql.refusing(nil)
		r.reopen()
		letter, records, err := r.DeadLetter(t.Context(), number)
		if err != nil || len(records) != 2 || !records[0].Timestamp.Equal(letter.At) || records[1].ResourceName != "b 1" {
			t.Errorf("%+v, %v, %v", letter, records, err)
		}
		receipt, err := r.RetryDeadLetter(t.Context(), number)
		if err != nil || receipt.At.Equal(letter.At) == later {
			t.Errorf("retry: %+v, %v; the letter's time is %v", receipt, err, letter.At)
		}
		got, want := lines(t, r.mysql, org), lines(t, r.csv, org)
		if same := slices.Equal(got, want); len(got) != len(want) || same == later {
			t.Errorf("mysql:\n%s\ncsv:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if _, err := r.RetryDeadLetter(t.Context(), number); err == nil {
			t.Error("a letter that is gone was tried again")
		}
		r.mustAppend(newBatch(org, "d", 1))
		r.settled()
		if err := r.status(now); err != nil || len(r.letters()) != 0 {
			t.Errorf("status %v, dead letters %v", err, r.letters())
		}
	}
}

// TestDiscardDeadLetter gives a dead letter up: the sides are known to lack it, no more.
func TestDiscardDeadLetter(t *testing.T) {
	now := &clock{now: time.Now()}
	r := newRig(t, func(o *Options) { o.Now, o.Watched = now.Now, true })
	org := uuid.New()
	r.mysql.refusing(tooLarge("a"))
	r.mustAppend(newBatch(org, "a", 1))
	r.settled()
	if err := r.DiscardDeadLetter(t.Context(), r.letters()[0].Number+1); err == nil {
		t.Error("another letter was discarded")
	}
	if err := r.DiscardDeadLetter(t.Context(), r.letters()[0].Number); err != nil {
		t.Fatal(err)
	}
	r.reopen()
	r.settled()
	if n := len(r.letters()); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	<-r.compared
	if err := r.status(now); err != nil || r.SidesDiffer() {
		t.Errorf("status %v, differ %v", err, r.SidesDiffer())
	}
	if c := r.comparisons()[org]; c.Differ || c.MySQL.Refused != 1 {
		t.Errorf("%+v", c)
	}
}

// TestPatience keeps what a side refuses an organization as a whole, for a while: an operator
// may mend that, and then nothing is lost of order and timestamps. After that it goes on.
func TestPatience(t *testing.T) {
	t.Parallel()
	for _, refusal := range []error{fault.New(fault.StoreCorrupt, "line 17 was edited"),
		errors.New("Error 1406: Data too long")} {
		now := &clock{now: time.Now()}
		r := newRig(t, func(o *Options) { o.Now = now.Now })
		org := uuid.New()
		damage := func(b inventory.Batch) error {
			if b.Org != org {
				return nil
			}
			return refusal
		}
		r.csv.refusing(damage)
		r.mustAppend(newBatch(org, "a", 1))
		now.advance(59 * time.Minute)
		r.mustAppend(newBatch(org, "b", 1))
		if n := len(r.letters()); n != 0 || r.Backlog()["csv"] != 2 {
			t.Errorf("%d dead letters, backlog %v", n, r.Backlog())
		}
		r.csv.refusing(nil)
		r.settled()
		r.wantBoth(org, lines(t, r.mysql, org))
		r.csv.refusing(damage)
		r.mustAppend(newBatch(org, "c", 1))
		now.advance(61 * time.Minute)
		r.settledBeside(t)
		if letters := r.letters(); len(letters) != 1 || strings.Contains(letters[0].Reason, "Data too long") {
			t.Errorf("dead letters: %+v", letters)
		}
		r.csv.refusing(nil)
		r.mustAppend(newBatch(org, "d", 1))
		r.settled()
		if got := lines(t, r.csv, org); len(got) != 3 {
			t.Errorf("CSV has %v", got)
		}
	}
}

// settledBeside waits until nothing is owed, while another organization uploads.
func (r *rig) settledBeside(t *testing.T) {
	t.Helper()
	other, n := uuid.New(), 0
	paid := func() bool {
		n++
		r.mustAppend(newBatch(other, fmt.Sprint(n), 1))
		b := r.Backlog()
		return b["csv"]+b["mysql"] == 0
	}
	if !soon(paid) {
		t.Fatalf("still owed: %v", r.Backlog())
	}
}

// TestLongOutage has a side take nothing of anybody for longer than Patience, for reasons
// that nobody has foreseen: nothing becomes a dead letter, over restarts too, and all of it
// is there when the side takes uploads again.
func TestLongOutage(t *testing.T) {
	t.Parallel()
	for _, code := range []fault.Code{fault.InternalError, fault.StoreCorrupt} {
		now := &clock{now: time.Now()}
		r := newRig(t, func(o *Options) { o.Now = now.Now })
		orgs := []uuid.UUID{{1}, {2}, {3}}
		for _, org := range orgs {
			r.mustAppend(newBatch(org, "before", 1))
		}
		r.mysql.refusing(func(inventory.Batch) error { return fault.New(code, "not foreseen") })
		for _, org := range orgs {
			r.mustAppend(newBatch(org, "a", 1))
			r.mustAppend(newBatch(org, "b", 1))
		}
		now.advance(2 * time.Hour)
		for range 2 {
			r.tries(r.mysql, 20*len(orgs))
			if n := len(r.letters()); n != 0 || r.Backlog()["mysql"] != 6 {
				t.Fatalf("%s: %d dead letters, backlog %v", code, n, r.Backlog())
			}
			r.reopen()
		}
		r.mysql.refusing(nil)
		r.settled()
		for _, org := range orgs {
			r.wantBoth(org, lines(t, r.csv, org))
		}
		if n := len(r.letters()); n != 0 {
			t.Errorf("%s: %d dead letters when all is well", code, n)
		}
	}
}

// tries waits until a side was sent so many batches more.
func (r *rig) tries(f *faulty, n int) {
	r.t.Helper()
	calls := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.calls
	}
	before := calls()
	if !soon(func() bool { return calls() >= before+n }) {
		r.t.Fatalf("the side was tried %d times", calls()-before)
	}
}

// TestDamagedRow goes on behind a row that can't be read any more.
func TestDamagedRow(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	r.mysql.set(fails)
	for _, id := range []string{"a", "b", "c"} {
		r.mustAppend(newBatch(org, id, 1))
	}
	r.change(`UPDATE batches SET body = x'00' WHERE id = 'b'`)
	r.mysql.set(works)
	r.reopen()
	if !soon(func() bool { return r.Backlog()["mysql"] == 0 }) {
		t.Fatalf("backlog: %v", r.Backlog())
	}
	if letters := r.letters(); len(letters) != 1 || !strings.Contains(letters[0].Reason, "damaged") {
		t.Errorf("dead letters: %+v", letters)
	}
	if got := lines(t, r.mysql, org); len(got) != 2 {
		t.Errorf("mysql has %v", got)
	}
}

// TestShareOfTheBacklog has organizations take all they may, of what a side misses and of
// what it refuses: others always have room, and the refusal says which side it is.
func TestShareOfTheBacklog(t *testing.T) {
	t.Parallel()
	for what, begin := range map[string]func(*rig, uuid.UUID){
		"mysql is behind": func(r *rig, greedy uuid.UUID) { r.mysql.set(fails) },
		"mysql refuses uploads for good": func(r *rig, greedy uuid.UUID) {
			r.mysql.refusing(func(b inventory.Batch) error { return refuseOf(b, greedy) })
		},
	} {
		r := newRig(t, func(o *Options) { o.MaxBacklogBytes = 32 << 10 })
		greedy, other := uuid.New(), uuid.New()
		begin(r, greedy)
		var err error
		count := 0
		for ; err == nil && count < 1000; count++ {
			_, err = r.Append(t.Context(), newBatch(greedy, fmt.Sprint(count), 1))
			if what != "mysql is behind" {
				r.settled()
			}
		}
		wantCode(t, "Append beyond the share", err, fault.BacklogFull)
		if !strings.Contains(err.Error(), what) {
			t.Errorf("the refusal says %v", err)
		}
		if held := r.lane(greedy).held(); held > 17<<10 || held < 12<<10 {
			t.Errorf("one organization takes %d bytes of %d", held, 32<<10)
		}
		for i := range 5 {
			r.mustAppend(newBatch(other, fmt.Sprint(i), 1))
		}
		r.reopen()
		if _, err := r.Append(t.Context(), newBatch(greedy, "again", 1)); !fault.Is(err, fault.BacklogFull) {
			t.Errorf("after a restart: %v", err)
		}
		r.mustAppend(newBatch(other, "again", 1))
	}
}

func refuseOf(b inventory.Batch, org uuid.UUID) error {
	if b.Org != org {
		return nil
	}
	return fault.New(fault.BodyTooLarge, "the upload is larger than the database takes")
}
