package dual

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// verdict is how a side answers the batch of TestVerdicts.
type verdict struct {
	name    string
	mode    mode
	refuses bool
}

// TestVerdicts has each side answer in each way, and holds the answer to the caller, what is
// owed and refused, and what the sides have when they work again to what they said.
func TestVerdicts(t *testing.T) {
	verdicts := []verdict{{"records", works, false}, {"refuses", works, true}, {"rejects", rejects, false},
		{"fails", fails, false}, {"lies", lies, false}}
	for _, csv := range verdicts {
		for _, mysql := range verdicts {
			for _, crash := range []bool{false, true} {
				t.Run(fmt.Sprintf("csv %s, mysql %s, crash %v", csv.name, mysql.name, crash), func(t *testing.T) {
					t.Parallel()
					checkVerdicts(t, csv, mysql, crash)
				})
			}
		}
	}
}

func checkVerdicts(t *testing.T, csv, mysql verdict, crash bool) {
	r := newRig(t, nil)
	org := uuid.New()
	r.mustAppend(newBatch(org, "before", 1))
	batch := newBatch(org, "this", 2)
	for side, v := range map[*faulty]verdict{r.csv: csv, r.mysql: mysql} {
		if v.refuses {
			side.refusing(tooLarge("this"))
		}
		side.set(v.mode)
	}
	_, err := r.Append(t.Context(), batch)
	want := answerTo(csv, mysql)
	if want == "" && err != nil || want != "" && !fault.Is(err, want) {
		t.Fatalf("Append: %v, want %q", err, want)
	}
	if crash {
		r.crash()
	}
	r.heal()
	there := csv.isThere(mysql) || mysql.isThere(csv)
	if there && !crash { // a crash forgets what was counted
		r.wantRefused(one(csv.refuses), one(mysql.refuses))
	}
	r.wantThere(r.csv, batch, there && !csv.refuses)
	r.wantThere(r.mysql, batch, there && !mysql.refuses)
	// The client sends it again.
	receipt, err := r.Append(t.Context(), batch)
	switch {
	case csv.refuses && mysql.refuses:
		wantCode(t, "Append again", err, fault.BodyTooLarge)
	case err != nil || receipt.Replayed != there:
		t.Errorf("Append again: %+v, %v", receipt, err)
	}
	r.mustAppend(newBatch(org, "after", 1))
	r.settled()
	for _, side := range []*faulty{r.csv, r.mysql} {
		if got := lines(t, side, org); len(got) > 4 || !slices.IsSortedFunc(got, compareTimes) {
			t.Errorf("a side has %v", got)
		}
	}
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// answerTo is what the caller is told: success when a side has recorded the batch, a refusal
// only when it is certain that none has.
func answerTo(a, b verdict) fault.Code {
	has := func(v verdict) bool { return v.mode == works && !v.refuses }
	unknown := func(v verdict) bool { return v.mode == fails || v.mode == lies }
	switch {
	case has(a) || has(b):
		return ""
	case unknown(a) || unknown(b):
		return fault.StoreUnavailable
	case a.refuses || b.refuses:
		return fault.BodyTooLarge
	}
	return fault.StoreUnavailable
}

// isThere says whether the side comes to have the batch without a retry: not if it refuses
// it, and not if it is certain that no side had recorded it.
func (v verdict) isThere(other verdict) bool {
	certain := func(v verdict) bool { return v.refuses || v.mode == rejects }
	return !v.refuses && (!certain(v) || !certain(other))
}

// wantThere looks for the batch in the store beneath a side.
func (r *rig) wantThere(f *faulty, batch inventory.Batch, want bool) {
	r.t.Helper()
	remembered, found, err := f.Store.Recorded(r.t.Context(), batch.Org, batch.ID)
	if err != nil || found != want || found && remembered.Digest != batch.Digest {
		r.t.Errorf("csv: %v; recorded: %v, want %v; %v", f == r.csv, found, want, err)
	}
}

// TestDoubtIsNotForgotten refuses a batch on one side while the other one records it and
// does not say so: a retry is no success before that is known, and then it is one.
func TestDoubtIsNotForgotten(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	batch := newBatch(org, "large", 2)
	r.mysql.refusing(tooLarge("large"))
	r.csv.set(fails)
	for range 3 {
		_, err := r.Append(t.Context(), batch)
		wantCode(t, "Append", err, fault.StoreUnavailable)
		if _, found, err := r.Recorded(t.Context(), org, batch.ID); found {
			t.Errorf("nobody has it, and it is recorded: %v", err)
		}
		r.reopen()
	}
	r.heal()
	if receipt := r.mustAppend(batch); !receipt.Replayed {
		t.Errorf("%+v", receipt)
	}
	if got := lines(t, r.mysql, org); len(got) != 0 {
		t.Errorf("mysql has %v", got)
	}
}
