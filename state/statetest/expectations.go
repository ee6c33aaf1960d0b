package statetest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// expected is an announcement with all that one can have.
func expected(reason string) *state.Expectation {
	return &state.Expectation{
		Findings: state.WarnEmptied | state.WarnShrunk, Since: noon(), Until: noon().Add(time.Hour + time.Microsecond),
		Reason: reason, KeyID: "oidc.github", KeyName: "ci é", Subject: "sub\x00ject \"quoted\"", LockID: "lock-1",
	}
}

func expect(e *state.Expectation) state.Decide { return always(state.Change{Expect: e}) }

// checkExpectations follows an announcement through all that can become of its state: nothing but
// another one, or its end, changes it, and nothing of it leaves its state.
func checkExpectations(t *testing.T, store state.Store) {
	ref, neighbour := newRef("expected"), newRef("expected")
	put(t, store, neighbour, stateBody(1, ""))
	put(t, store, ref, stateBody(1, ""))
	want := expected("the network is taken down")
	used := usage(t, store, ref.Org)
	keeps := func(what string, head state.Head) {
		t.Helper()
		suite.Equal(t, "what is expected "+what, want, head.Expected)
		wantHead(t, store, ref, head)
	}
	given := *want
	given.Since = given.Since.In(time.FixedZone("east", 3600)).Add(time.Nanosecond) // stores keep microseconds, UTC
	keeps("of a state", update(t, store, ref, nil, expect(&given)))
	given.Reason = "changed afterwards"
	keeps("beside a lock", update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "lock-1")})))
	keeps("after a write", put(t, store, ref, stateBody(2, "")))
	keeps("after a sign of life", update(t, store, ref, nil, always(state.Change{Seen: true, At: noon()})))
	keeps("after a release", update(t, store, ref, nil, always(state.Change{Release: true})))
	keeps("of a deleted state", update(t, store, ref, nil, always(state.Change{Delete: true})))
	keeps("of one that was brought back", update(t, store, ref, nil, always(state.Change{Undelete: true})))
	want = &state.Expectation{Findings: state.WarnShrunk, Since: noon(), Until: noon()}
	keeps("that took its place", update(t, store, ref, nil, expect(want)))
	want = expected(strings.Repeat("é", 1000))
	body := stateBody(3, "")
	version := describe(body)
	version.Number = 3
	keeps("that came with a write", update(t, store, ref, body, always(state.Change{Version: &version, Expect: want})))
	want = nil
	keeps("that was ended", update(t, store, ref, nil, expect(&state.Expectation{Reason: "over"})))
	keeps("that was ended again", update(t, store, ref, nil, expect(&state.Expectation{})))
	wantUsage(t, store, ref.Org, used+usageOfVersions(t, store, ref, 2, 3))
	if head, err := store.Head(t.Context(), neighbour); err != nil || head.Expected != nil {
		t.Errorf("another organization's state expects %+v, %v", head.Expected, err)
	}
}

// usageOfVersions is what Usage counts of these versions: how engines store a body is their own.
func usageOfVersions(t *testing.T, store state.Store, ref state.Ref, numbers ...uint64) int64 {
	t.Helper()
	fresh := newRef("same")
	put(t, store, fresh, stateBody(1, ""))
	before := usage(t, store, fresh.Org)
	for _, number := range numbers {
		v, err := store.Version(t.Context(), ref, number)
		if err != nil {
			t.Fatal(err)
		}
		put(t, store, fresh, v.Body)
	}
	return usage(t, store, fresh.Org) - before
}

func usage(t *testing.T, store state.Store, org uuid.UUID) int64 {
	t.Helper()
	bytes, err := store.Usage(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// checkExpectationSeen shows each decision what the one before has announced.
func checkExpectationSeen(t *testing.T, store state.Store) {
	ref := newRef("seen")
	put(t, store, ref, stateBody(1, ""))
	var before *state.Expectation
	for _, reason := range []string{"first", "second", "", "third", ""} {
		next := &state.Expectation{}
		if reason != "" {
			next = expected(reason)
		}
		update(t, store, ref, nil, func(h state.Head) (state.Change, error) {
			suite.Equal(t, "what the decision sees", before, h.Expected)
			return state.Change{Expect: next}, nil
		})
		if before = next; reason == "" {
			before = nil
		}
	}
}

// checkExpectationAtomic lets a change fail for another reason: what it announces is not there
// either, and what it ends goes on.
func checkExpectationAtomic(t *testing.T, store state.Store) {
	ref := newRef("atomic")
	put(t, store, ref, stateBody(1, ""))
	update(t, store, ref, nil, expect(expected("old")))
	update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "used")}))
	before := update(t, store, ref, nil, always(state.Change{Release: true}))
	for _, e := range []*state.Expectation{expected("new"), {}} {
		_, err := store.Update(t.Context(), ref, nil, always(state.Change{Lock: newLock(t, "used"), Expect: e}))
		suite.Fault(t, "a lock of a used ID, with an announcement", err, fault.LockIDUsed)
		wantHead(t, store, ref, before)
	}
}

// checkExpectationList lists the states of which a change is expected, page by page.
func checkExpectationList(t *testing.T, store state.Store) {
	first := newRef("a")
	ref := func(name state.Name) state.Ref { return state.Ref{Org: first.Org, Name: name} }
	stranger := newRef("b")
	for _, r := range []state.Ref{first, ref("b"), ref("c"), ref("ca"), stranger} {
		put(t, store, r, stateBody(1, ""))
	}
	for _, r := range []state.Ref{first, ref("c"), ref("ca"), stranger} {
		update(t, store, r, nil, expect(expected("why")))
	}
	update(t, store, ref("ca"), nil, always(state.Change{Delete: true}))
	wantExpected := func(q state.StatesQuery, next state.Name, names ...state.Name) {
		t.Helper()
		q.Expected = true
		page, err := store.States(t.Context(), first.Org, q)
		if err != nil || page.Next != next || len(page.States) != len(names) {
			t.Fatalf("%+v has %+v, %v; want %q and then %q", q, page, err, names, next)
		}
		for i, one := range page.States {
			if one.Name != names[i] || one.Head.Expected == nil || one.Head.Expected.Reason != "why" {
				t.Errorf("%+v has %q with %+v at %d", q, one.Name, one.Head.Expected, i)
			}
		}
	}
	wantExpected(state.StatesQuery{Limit: 9}, "", "a", "c", "ca")
	wantExpected(state.StatesQuery{Limit: 2}, "c", "a", "c")
	wantExpected(state.StatesQuery{Limit: 2, After: "c"}, "", "ca")
	wantExpected(state.StatesQuery{Limit: 9, Prefix: "c"}, "", "c", "ca")
	update(t, store, ref("c"), nil, expect(&state.Expectation{}))
	wantExpected(state.StatesQuery{Limit: 9}, "", "a", "ca")
}

// checkTwins settles candidates by their content, with one that has it and without.
func checkTwins(t *testing.T, store state.Store) {
	ref, stranger := newRef("twins"), newRef("twins")
	bring := func(to state.Ref, id string, content byte) state.Candidate {
		c := candidate(id, stateBody(1, id))
		c.Content = state.Digest{content}
		update(t, store, to, stateBody(1, id), always(state.Change{Candidate: c}))
		return *c
	}
	one, twin, other, old := bring(ref, "one", 1), bring(ref, "twin", 1), bring(ref, "other", 2), bring(ref, "old", 0)
	foreign := bring(stranger, "foreign", 1)
	neighbour := state.Ref{Org: ref.Org, Name: "neighbour"}
	beside := bring(neighbour, "beside", 1)
	wantCandidates(t, store, ref, 0, old, other, twin, one)

	full := usage(t, store, ref.Org)
	s := settle("one", state.Promoted)
	s.Content = one.Content
	update(t, store, ref, nil, always(state.Change{Settle: s}))
	one.Status, one.Decided, twin.Status, twin.Decided = state.Promoted, noon(), state.Promoted, noon()
	wantCandidates(t, store, ref, 9, old, other, twin, one)
	wantCandidate(t, store, ref, state.CandidateBody{Candidate: twin})
	if freed := full - usage(t, store, ref.Org); freed <= 0 {
		t.Errorf("two candidates were settled, and Usage fell by %d", freed)
	}
	wantCandidates(t, store, stranger, 0, foreign)
	wantCandidates(t, store, neighbour, 0, beside)

	// What was settled stays as it is, and there may be none to settle.
	late := &state.Settlement{Status: state.Discarded, At: noon().Add(time.Hour), Content: one.Content}
	update(t, store, ref, nil, always(state.Change{Settle: late, Events: events("late")}))
	wantCandidates(t, store, ref, 9, old, other, twin, one)
	wantEvents(t, store, ref.Org, audit.Query{Limit: 9}, 1)

	// The zero content is nobody's.
	update(t, store, ref, nil, always(state.Change{Settle: settle("other", state.Discarded)}))
	other.Status, other.Decided = state.Discarded, noon()
	wantCandidates(t, store, ref, 9, old, other, twin, one)

	// A settlement that is refused ends no twins either.
	again := bring(ref, "again", 1)
	s = settle("one", state.Promoted)
	s.Content = one.Content
	_, err := store.Update(t.Context(), ref, nil, always(state.Change{Settle: s}))
	suite.Fault(t, "to settle again", err, fault.CandidateSettled)
	wantCandidates(t, store, ref, 0, again, old)
}
