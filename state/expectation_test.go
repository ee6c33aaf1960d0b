package state

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

// announced is a head with ten resources whose change somebody expects for an hour.
func announced(c call, findings Warnings) Head {
	return Head{Version: counted('a', 5, 10), Expected: &Expectation{
		Findings: findings, Since: c.at, Until: c.at.Add(time.Hour), Reason: "it moves", KeyID: "k",
	}}
}

// holding is a call whose guards hold, and that has looked at the content.
func holding() call {
	c := today()
	c.policy.Guards, c.content = GuardsHold, &Digest{'c'}
	return c
}

func smaller(resources int) Version {
	v := counted('b', 6, resources)
	return v
}

func TestExpectedWrites(t *testing.T) {
	lock := &Lock{Info: LockInfo{ID: "A", Operation: "OperationTypeApply"}}
	for _, test := range []struct {
		name     string
		findings Warnings
		bend     func(*call, *Head, *Version, *Write)
		resource int
		passes   bool
		lockID   string // under which it is used from then on; empty when it is over
	}{
		{"emptied", WarnEmptied, nil, 0, true, ""},
		{"on its way", WarnEmptied, nil, 3, true, ""},
		{"shrunk", WarnShrunk, nil, 3, true, ""},
		{"emptied, though only less was said", WarnShrunk, nil, 0, false, ""},
		{"under a lock", WarnEmptied, func(_ *call, h *Head, _ *Version, w *Write) { h.Lock, w.LockID = lock, "A" }, 0, true,
			"A"},
		{"under the lock of its use", WarnEmptied, func(_ *call, h *Head, _ *Version, w *Write) {
			h.Lock, w.LockID, h.Expected.LockID = lock, "A", "A"
		}, 0, true, "A"},
		{"under another lock", WarnEmptied, func(_ *call, h *Head, _ *Version, w *Write) {
			h.Lock, w.LockID, h.Expected.LockID = lock, "A", "B"
		}, 0, false, ""},
		{"without the lock of its use", WarnEmptied, func(_ *call, h *Head, _ *Version, _ *Write) { h.Expected.LockID = "B" },
			0, false, ""},
		{"under a lock that goes with it", WarnEmptied, func(_ *call, h *Head, _ *Version, w *Write) {
			h.Lock, w.LockID, w.Release = lock, "A", true
		}, 0, true, ""},
		{"at its last moment", WarnEmptied, func(c *call, h *Head, _ *Version, _ *Write) { c.at = h.Expected.Until.Add(-1) },
			0, true, ""},
		{"after its time", WarnEmptied, func(c *call, h *Head, _ *Version, _ *Write) { c.at = h.Expected.Until }, 0, false,
			""},
		{"with another finding", WarnEmptied, func(_ *call, _ *Head, v *Version, _ *Write) { v.Lineage = "other" }, 0, false,
			""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, w := holding(), Write{}
			h, next := announced(c, test.findings), smaller(test.resource)
			if test.bend != nil {
				test.bend(&c, &h, &next, &w)
			}
			var out written
			change, err := c.decideWrite(next, w, &out)(h)
			switch {
			case err != nil:
				t.Fatal(err)
			case test.passes:
				checkUsed(t, change, w, test.lockID)
			case change.Candidate == nil || change.Version != nil || change.Expect != nil || out.held == nil ||
				out.held.Warnings == 0:
				t.Errorf("%+v; want it held, and the announcement untouched", change)
			}
		})
	}
}

// checkUsed holds what becomes of an announcement that a write has used.
func checkUsed(t *testing.T, change Change, w Write, lockID string) {
	t.Helper()
	if change.Version == nil || change.Candidate != nil || change.Version.Warnings != 0 {
		t.Fatalf("%+v; want a version without a mark", change)
	}
	if e := change.Expect; e == nil || e.LockID != lockID || (e.Findings == 0) != (lockID == "") {
		t.Errorf("it is expected from now on: %+v; want it bound to the lock %q", e, lockID)
	}
	if s := change.Settle; s == nil || s.ID != "" || s.Content != (Digest{'c'}) || s.Status != Promoted {
		t.Errorf("settles %+v; want the candidates with the same content", s)
	}
	used := false
	for _, e := range change.Events {
		if e.Action == audit.StateWrite && e.Note != "" {
			t.Errorf("the write is noted as %q: somebody would be told of it", e.Note)
		}
		used = used || e.Action == audit.ExpectUse && e.Reason == "it moves" && e.LockID == w.LockID && e.Version == 6-5+1
	}
	if !used {
		t.Errorf("the events are %+v", change.Events)
	}
}

// A write in which no guard finds anything uses nothing up, and what was looked at of the
// content is asked for only where it is needed.
func TestExpectationIsNotUsedInVain(t *testing.T) {
	c := holding()
	c.content = nil
	change, err := c.decideWrite(smaller(10), Write{}, new(written))(announced(c, WarnEmptied))
	if err != nil || change.Version == nil || change.Expect != nil {
		t.Errorf("%+v, %v", change, err)
	}
	if _, err := c.decideWrite(smaller(0), Write{}, new(written))(announced(c, WarnEmptied)); !errors.Is(err, errContent) {
		t.Errorf("a use of it: %v", err)
	}
}

// With guards that only warn, what was announced is not marked, and the rest is.
func TestExpectedWhereGuardsWarn(t *testing.T) {
	c, next := holding(), smaller(0)
	c.policy.Guards, next.Lineage = GuardsWarn, "other"
	change, err := c.decideWrite(next, Write{}, new(written))(announced(c, WarnEmptied))
	if err != nil || change.Version == nil || change.Version.Warnings != WarnLineage || change.Expect == nil {
		t.Errorf("%+v, %v", change, err)
	}
}

// The lock's end, by whomever, is the end of what was used under it, and of what is over.
func TestExpectationEndsWithItsLock(t *testing.T) {
	for _, test := range []struct {
		name   string
		usedBy string
		late   time.Duration
		ends   bool
	}{
		{"its lock", "A", 0, true}, {"another one", "B", 0, false}, {"not used", "", 0, false},
		{"over", "", 2 * time.Hour, true},
	} {
		c := holding()
		h := announced(c, WarnEmptied)
		h.Lock, h.Expected.LockID = lockOf("A", "ada"), test.usedBy
		c.at = c.at.Add(test.late)
		unlock, err := c.decideUnlock("A", audit.LockRelease, new(*Lock))(h)
		forced, err2 := c.decideForceUnlock(Forcing{}, new(*Lock))(h)
		for _, change := range []Change{unlock, forced} {
			if ended := change.Expect != nil && change.Expect.Findings == 0; err != nil || err2 != nil || !change.Release ||
				ended != test.ends {
				t.Errorf("%s: %+v, %v, %v", test.name, change, err, err2)
			}
		}
	}
}

func TestAnnouncements(t *testing.T) {
	for _, a := range []Announcement{
		{0, time.Hour, "x"}, {WarnLineage, time.Hour, "x"}, {WarnEmptied | WarnSerialBack, time.Hour, "x"},
		{WarnEmptied, MinExpected - 1, "x"}, {WarnEmptied, MaxExpected + 1, "x"}, {WarnEmptied, -time.Hour, "x"},
	} {
		if err := a.check(); !fault.Is(err, fault.ParameterInvalid) {
			t.Errorf("%+v: %v", a, err)
		}
	}
	c := holding()
	good := Announcement{WarnEmptied, MaxExpected, "it moves"}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for _, h := range []Head{{}, {Version: counted('a', 5, 10), Deleted: true}} {
		if _, err := c.decideExpect(good)(h); !fault.Is(err, fault.StateNotFound) {
			t.Errorf("of no state: %v", err)
		}
	}
	deleted, err := c.decideDelete("", Condition{})(announced(c, WarnEmptied))
	if err != nil || deleted.Expect == nil || deleted.Expect.Findings != 0 {
		t.Errorf("a deletion leaves what is expected: %+v, %v", deleted, err)
	}
	var taken *Expectation
	over := c
	over.at = c.at.Add(time.Hour)
	for name, test := range map[string]struct {
		c    call
		h    Head
		ends bool
	}{"expected": {c, announced(c, WarnEmptied), true}, "over": {over, announced(c, WarnEmptied), false},
		"nothing": {c, Head{}, false}} {
		change, err := test.c.decideUnexpect("not today", &taken)(test.h)
		if err != nil || change.Empty() == test.ends || (taken != nil) != test.ends {
			t.Errorf("%s taken back: %+v, %+v, %v", name, change, taken, err)
		}
	}
}

// What a run writes may take away as much as its plan does, over all of its writes, and nothing else is passed.
func TestWritesOfAPlannedRun(t *testing.T) {
	for _, test := range []struct {
		name              string
		removes, of, left int
		bend              func(*call, *Version)
		passes            bool
	}{
		{name: "all of a destroy", removes: 10, of: 10, left: 0, passes: true},
		{name: "on its way", removes: 10, of: 10, left: 3, passes: true},
		{name: "replaced, and made again later", removes: 8, of: 10, left: 2, passes: true},
		{name: "one more than planned", removes: 8, of: 10, left: 1},
		{name: "after it has taken some before", removes: 12, of: 20, left: 4},
		{name: "of what it has made itself", removes: 3, of: 4, left: 2},
		{name: "nothing is taken away by the plan", removes: 0, of: 10, left: 0},
		{name: "nobody knows of how many", removes: 10, of: -1, left: 0},
		{name: "what can't be counted", removes: 10, of: 10, left: -1},
		{name: "with another finding", removes: 10, of: 10, left: 0, bend: func(_ *call, v *Version) { v.Lineage = "other" }},
		{name: "by somebody with a key", removes: 10, of: 10, left: 0, bend: func(c *call, _ *Version) { c.run = nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, next := holding(), smaller(test.left)
			c.run, c.removes, c.of, c.pinned = &RunRef{ID: "r", Epoch: 1}, test.removes, test.of, 1
			if test.bend != nil {
				test.bend(&c, &next)
			}
			h := Head{Version: counted('a', 5, 10), Fence: Fence{Run: "r", Epoch: 1, Open: true}}
			var out written
			change, err := c.decideWrite(next, Write{}, &out)(h)
			if err != nil {
				t.Fatal(err)
			}
			if held := change.Candidate != nil; held == test.passes {
				t.Fatalf("%+v; want it to pass: %t", change, test.passes)
			}
			if !test.passes {
				return
			}
			if change.Version.Warnings != 0 || out.expected == 0 {
				t.Errorf("marked with %q, expected %q", change.Version.Warnings, out.expected)
			}
			noted := func(e audit.Event) bool {
				return e.Action == audit.ExpectUse && strings.Contains(e.Reason, "run r") && e.Note != ""
			}
			if !slices.ContainsFunc(change.Events, noted) {
				t.Errorf("it is not on record: %+v", change.Events)
			}
		})
	}
}

// A run's write that its plan covers leaves what somebody has announced for another one.
func TestAPlannedWriteUsesNoAnnouncement(t *testing.T) {
	c := holding()
	c.run, c.removes, c.of, c.pinned = &RunRef{ID: "r", Epoch: 1}, 10, 10, 1
	h := announced(c, WarnEmptied)
	h.Fence = Fence{Run: "r", Epoch: 1, Open: true}
	change, err := c.decideWrite(smaller(0), Write{}, new(written))(h)
	if err != nil || change.Version == nil || change.Expect != nil || change.Settle != nil {
		t.Errorf("%+v, %v", change, err)
	}
}
