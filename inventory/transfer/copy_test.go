package transfer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/transfer"
)

func TestCopy(t *testing.T) {
	all := history(acme)
	from, to := filled(t, all...), openCSV(t)
	write(t, to, record(globex, start.Add(time.Hour), "other", `{}`)) // another organization's are no concern
	read := 0
	for run, want := range []transfer.Tally{{Added: int64(len(all))}, {Present: int64(len(all))}} {
		copied, err := transfer.Copy(t.Context(), from, to, acme, transfer.Options{Request: "copy"}, func() { read++ })
		if err != nil || copied.Tally != want {
			t.Fatalf("run %d: %+v, %v; want %+v", run, copied.Tally, err, want)
		}
		if got := measure(t, to, acme); got != copied.Source || got != measure(t, from, acme) ||
			got.Count != int64(len(all)) {
			t.Fatalf("run %d: target %+v, source %+v", run, got, copied.Source)
		}
	}
	if read != 2*len(all) {
		t.Errorf("%d records were reported read", read)
	}
}

// Scenario: a copy is interrupted at each of its batches, which was recorded or not, and
// the store has forgotten their IDs or not. Check: another run makes both sides equal.
func TestCopyContinues(t *testing.T) {
	all := history(acme)
	from := filled(t, all...)
	for after := range 9 { // which is how many batches there are
		for _, recorded := range []bool{false, true} {
			for _, forgets := range []bool{false, true} {
				to := filled(t)
				first := &failing{Store: to, after: after, recorded: recorded}
				_, err := transfer.Copy(t.Context(), from, first, acme, transfer.Options{Request: "copy"}, nil)
				if !errors.Is(err, errFailing) {
					t.Fatalf("interrupted after %d: %v", after, err)
				}
				var second inventory.Store = to
				if forgets {
					second = forgetful{to}
				}
				copied, err := transfer.Copy(t.Context(), from, second, acme, transfer.Options{Request: "copy"}, nil)
				if err != nil || copied.Present+copied.Added != int64(len(all)) || (after > 0) != (copied.Present > 0) &&
					!recorded {
					t.Errorf("after %d: %+v, %v", after, copied, err)
				}
				if got, want := measure(t, to, acme), measure(t, from, acme); got != want {
					t.Errorf("after %d, recorded %t, forgets %t: %+v, want %+v", after, recorded, forgets, got, want)
				}
			}
		}
	}
}

func TestCopyEndsWithItsContext(t *testing.T) {
	from, to := filled(t, history(acme)...), openCSV(t)
	ctx, cancel := context.WithCancel(t.Context())
	read := 0
	_, err := transfer.Copy(ctx, from, to, acme, transfer.Options{Request: "copy"}, func() {
		if read++; read == 50 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if got := measure(t, to, acme); got.Count >= int64(len(history(acme))) {
		t.Errorf("%d records were copied", got.Count)
	}
	if _, err := transfer.Copy(t.Context(), from, to, acme, transfer.Options{Request: "copy"}, nil); err != nil {
		t.Error(err)
	}
	if got, want := measure(t, to, acme), measure(t, from, acme); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// What else the target may hold stays as it is, and the copy is refused.
func TestCopyRefusesOtherRecords(t *testing.T) {
	all := history(acme)
	other := record(acme, start.Add(-time.Hour), "older", `{}`)
	changed := all[1]
	changed.Attributes = []byte(`{"id":9007199254740992,"n":"<&>\",\r\n=1"}`)
	for name, have := range map[string][]inventory.Record{
		"older":      {other},
		"changed":    {all[0], changed},
		"newer":      append(history(acme), record(acme, start.Add(time.Hour), "newer", `{}`)),
		"a gap":      all[1:4],
		"much newer": {record(acme, start.Add(time.Hour), "newer", `{}`)},
	} {
		from, to := filled(t, all...), filled(t, have...)
		before := measure(t, to, acme)
		_, err := transfer.Copy(t.Context(), from, to, acme, transfer.Options{}, nil)
		if !errors.Is(err, transfer.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
		if measure(t, to, acme) != before {
			t.Errorf("%s: the target was changed", name)
		}
	}
	if _, err := transfer.Copy(t.Context(), filled(t), filled(t, other), acme, transfer.Options{}, nil); !errors.Is(err,
		transfer.ErrConflict) {
		t.Errorf("from an empty source: %v", err)
	}
}

func TestDryRunChangesNothing(t *testing.T) {
	all := history(acme)
	from, to := filled(t, all...), filled(t, all[:4]...)
	copied, err := transfer.Copy(t.Context(), from, to, acme, transfer.Options{DryRun: true}, nil)
	if want := (transfer.Tally{Present: 4, Added: int64(len(all) - 4)}); err != nil || copied.Tally != want {
		t.Errorf("%+v, %v; want %+v", copied.Tally, err, want)
	}
	if got := measure(t, to, acme); got.Count != 4 {
		t.Errorf("the target has %d records", got.Count)
	}
}

// TestCopyRefusesBrokenAttributes: what somebody broke in one store does not get into another.
func TestCopyRefusesBrokenAttributes(t *testing.T) {
	for _, broken := range []string{"", `{"a":`, `[]`, `{}{}`} {
		from, to := filled(t, record(acme, start, "whole", `{}`), record(acme, start.Add(time.Second), "broken", broken)),
			openCSV(t)
		_, err := transfer.Copy(t.Context(), from, to, acme, transfer.Options{Request: "copy"}, nil)
		if err == nil || !strings.Contains(err.Error(), "vm broken") {
			t.Errorf("attributes %q: %v", broken, err)
		}
		if found := measure(t, to, acme).Count; found > 1 {
			t.Errorf("attributes %q: %d records were copied", broken, found)
		}
	}
}
