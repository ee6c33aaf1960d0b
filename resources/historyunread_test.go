package resources_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

func (w *world) encrypted(name state.Name, from, to int) {
	w.t.Helper()
	for serial := from; serial <= to; serial++ {
		w.write(acme, name, fmt.Sprintf(`{"serial":%d,"lineage":"l","encrypted_data":"%d"}`, serial, serial))
	}
}

// everyStep reads a history to its end, and how many versions could not be read.
func (w *world) everyStep(name state.Name) (steps []string, unread int, err error) {
	w.t.Helper()
	q := resources.HistoryQuery{State: name, Address: "aws_vpc.old", Limit: 10}
	for pages := 1; ; pages++ {
		h, err := w.service.History(w.t.Context(), owner(acme), q)
		if err != nil {
			return steps, unread, err
		}
		for _, s := range h.Steps {
			steps = append(steps, fmt.Sprintf("%d<%d", s.Version.Number, s.Against))
		}
		unread += len(h.Unread)
		if q = h.Next; q.From == 0 {
			return steps, unread, nil
		}
		if pages == 10 {
			w.t.Fatalf("%s: no end, at %+v", name, q)
		}
	}
}

// More versions than one call reads can't be read: the next call goes on below them, and
// compares across.
func TestHistoryAcrossManyUnreadable(t *testing.T) {
	w := newWorld(t)
	w.write(acme, "between", named(1, "old", `"size":1`))
	w.encrypted("between", 2, 251)
	w.write(acme, "between", named(252, "old", `"size":2`))
	w.write(acme, "below", named(1, "old", `"size":1`))
	w.encrypted("below", 2, 101)
	for name, want := range map[state.Name][]string{"between": {"252<1", "1<0"}, "below": {"1<0"}} {
		steps, unread, err := w.everyStep(name)
		must(t, err)
		if diff := cmp.Diff(want, steps); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if all := map[state.Name]int{"between": 250, "below": 100}[name]; unread != all {
			t.Errorf("%s: %d unread, want %d", name, unread, all)
		}
	}
}

// Only the end of the versions tells that none can be read.
func TestHistoryOfUnreadableOnly(t *testing.T) {
	w := newWorld(t)
	w.encrypted("e", 1, 100)
	w.encrypted("f", 1, 101)
	for name, before := range map[state.Name]int{"e": 0, "f": 100} {
		if _, unread, err := w.everyStep(name); !fault.Is(err, fault.StateEncrypted) || unread != before {
			t.Errorf("%s: %v after %d", name, err, unread)
		}
	}
}

// What was read last may be purged before the next call: the history goes on without it.
func TestHistoryGoesOnPastWhatWasPurged(t *testing.T) {
	w := newWorld(t)
	for n := 1; n <= 4; n++ {
		w.write(acme, "a", named(n, "old", fmt.Sprintf(`"size":%d`, n)))
	}
	q := resources.HistoryQuery{State: "a", Address: "aws_vpc.old", Limit: 1}
	h, err := w.service.History(t.Context(), owner(acme), q)
	must(t, err)
	must(t, w.purge("a", 3))
	q, q.Limit = h.Next, 10
	h, err = w.service.History(t.Context(), owner(acme), q)
	must(t, err)
	if len(h.Steps) != 2 || h.Steps[0].Version.Number != 2 || len(h.Unread) != 1 || h.Unread[0].Version != 3 {
		t.Errorf("%+v", h)
	}
}
