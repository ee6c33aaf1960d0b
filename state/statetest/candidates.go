package statetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// candidate describes a body as a guard would keep it back.
func candidate(id string, body []byte) *state.Candidate {
	v := describe(body)
	v.Number, v.Resources, v.Warnings = 7, 3, state.WarnShrunk|state.WarnLineage
	v.Author.Subject, v.Author.Who, v.Author.Operation = "sub\x00ject", "ann@laptop", "OperationTypeApply"
	v.Origin.Reason = "the run failed"
	return &state.Candidate{ID: id, Version: v, Source: state.Pushed, Status: state.Open}
}

func settle(id string, status state.CandidateStatus) *state.Settlement {
	return &state.Settlement{ID: id, Status: status, At: noon()}
}

// checkCandidates takes candidates from their coming to their end.
func checkCandidates(t *testing.T, store state.Store) {
	ref, body := newRef("candidates"), stateBody(1, "held")
	first := candidate("first", body)
	update(t, store, ref, body, always(state.Change{Candidate: first})) // on a state that was never written
	wantAbsent(t, store, ref)
	wantCandidates(t, store, ref, 0, *first)
	wantCandidate(t, store, ref, state.CandidateBody{Candidate: *first, Body: body})
	other := stateBody(2, "other")
	again := candidate("first", other)
	update(t, store, ref, other, always(state.Change{Candidate: again})) // keeps what is there
	wantCandidate(t, store, ref, state.CandidateBody{Candidate: *first, Body: body})
	empty := candidate("", nil)
	empty.ID = "odd ' \x00 ID"
	update(t, store, ref, nil, always(state.Change{Candidate: empty}))
	wantCandidates(t, store, ref, 0, *empty, *first)

	update(t, store, ref, nil, always(state.Change{Settle: settle("first", state.Discarded)}))
	first.Status, first.Decided = state.Discarded, noon()
	wantCandidate(t, store, ref, state.CandidateBody{Candidate: *first})
	wantCandidates(t, store, ref, 0, *empty)
	wantCandidates(t, store, ref, 1, *empty, *first)
	last := candidate("last", body)
	update(t, store, ref, body, always(state.Change{Candidate: last}))
	update(t, store, ref, nil, always(state.Change{Settle: settle("last", state.Promoted)}))
	last.Status, last.Decided = state.Promoted, noon()
	wantCandidates(t, store, ref, 1, *last, *empty)
	wantBehind(t, store, ref, "last", *first)
	wantBehind(t, store, ref, empty.ID, *first)
	wantBehind(t, store, ref, "first")
	wantBehind(t, store, ref, "unknown")
	for _, stranger := range []state.Ref{{Org: uuid.New(), Name: ref.Name}, {Org: ref.Org, Name: "stranger"}} {
		wantCandidates(t, store, stranger, 9)
		_, err := store.Candidate(t.Context(), stranger, "first")
		suite.Fault(t, "a stranger's Candidate", err, fault.CandidateNotFound)
	}
	_, err := store.Candidate(t.Context(), ref, "second")
	suite.Fault(t, "Candidate", err, fault.CandidateNotFound)
}

func wantCandidates(t *testing.T, store state.Store, ref state.Ref, limit int, want ...state.Candidate) {
	t.Helper()
	got, err := store.Candidates(t.Context(), ref, "", limit)
	if err != nil {
		t.Fatalf("Candidates: %v", err)
	}
	suite.Equal(t, "Candidates", append([]state.Candidate{}, want...), append([]state.Candidate{}, got...))
}

func wantBehind(t *testing.T, store state.Store, ref state.Ref, after string, want ...state.Candidate) {
	t.Helper()
	got, err := store.Candidates(t.Context(), ref, after, 9)
	if err != nil {
		t.Fatalf("Candidates: %v", err)
	}
	suite.Equal(t, "Candidates behind "+after, append([]state.Candidate{}, want...), append([]state.Candidate{}, got...))
}

func wantCandidate(t *testing.T, store state.Store, ref state.Ref, want state.CandidateBody) {
	t.Helper()
	got, err := store.Candidate(t.Context(), ref, want.ID)
	if err != nil {
		t.Fatalf("Candidate: %v", err)
	}
	suite.Equal(t, "Candidate", want.Candidate, got.Candidate)
	if string(got.Body) != string(want.Body) || (got.Body == nil) != (want.Status != state.Open) {
		t.Errorf("Candidate has the bytes %.100q, want %.100q", got.Body, want.Body)
	}
}

// checkCandidatesFull brings more candidates than a state may have.
func checkCandidatesFull(t *testing.T, store state.Store) {
	ref := newRef("crowded")
	bring := func(i int) error {
		body := stateBody(uint64(i), "")
		_, err := store.Update(t.Context(), ref, body,
			always(state.Change{Candidate: candidate(fmt.Sprint(i), body), Events: events("bring")}))
		return err
	}
	for i := range state.MaxOpenCandidates {
		if err := bring(i); err != nil {
			t.Fatal(err)
		}
	}
	suite.Fault(t, "one more", bring(99), fault.CandidatesFull)
	if err := bring(3); err != nil {
		t.Errorf("one that is there already: %v", err)
	}
	wantEvents(t, store, ref.Org, audit.Query{Limit: 100}, state.MaxOpenCandidates+1)
	update(t, store, ref, nil, always(state.Change{Settle: settle("5", state.Promoted)}))
	if err := bring(99); err != nil {
		t.Errorf("after one was promoted: %v", err)
	}
	got, err := store.Candidates(t.Context(), ref, "", 0)
	if err != nil || len(got) != state.MaxOpenCandidates {
		t.Errorf("%d open candidates, %v", len(got), err)
	}
}

// checkSettle refuses to settle what is not open: nothing of such an Update may be there.
func checkSettle(t *testing.T, store state.Store) {
	ref, body := newRef("settled"), stateBody(1, "held")
	before := put(t, store, ref, stateBody(0, ""))
	update(t, store, ref, body, always(state.Change{Candidate: candidate("c", body)}))
	promote := func(id string) error {
		v := describe(body)
		v.Number, v.Origin.Candidate = 2, id
		_, err := store.Update(t.Context(), ref, body, always(state.Change{
			At: noon(), Version: &v, Lock: newLock(t, "promoter"), Settle: settle(id, state.Promoted),
			Candidate: candidate("beside", body), Events: events("promote"),
		}))
		return err
	}
	untouched := func() {
		t.Helper()
		wantHead(t, store, ref, before)
		wantVersions(t, store, ref, 0, 9, []state.Version{before.Version})
		wantEvents(t, store, ref.Org, audit.Query{Limit: 9}, 0)
		_, err := store.Candidate(t.Context(), ref, "beside")
		suite.Fault(t, "the candidate that came with it", err, fault.CandidateNotFound)
	}
	suite.Fault(t, "an unknown one", promote("d"), fault.CandidateNotFound)
	untouched()
	before = update(t, store, ref, nil, always(state.Change{Settle: settle("c", state.Discarded)}))
	suite.Fault(t, "a discarded one", promote("c"), fault.CandidateSettled)
	untouched()
	update(t, store, ref, body, always(state.Change{Candidate: candidate("e", body)}))
	if err := promote("e"); err != nil {
		t.Fatal(err)
	}
	after, err := store.Current(t.Context(), ref)
	if err != nil || after.Origin.Candidate != "e" || string(after.Body) != string(body) {
		t.Errorf("the promoted one: %+v, %v", after.Version, err)
	}
}

// checkSettleOnce lets many settle one candidate, each with a version: one succeeds.
func checkSettleOnce(t *testing.T, store state.Store) {
	ref, body := newRef("once"), stateBody(1, "")
	update(t, store, ref, body, always(state.Change{Candidate: candidate("c", body)}))
	suite.Together(t, 8, func(ctx context.Context, worker int) error {
		_, err := store.Update(ctx, ref, body, func(h state.Head) (state.Change, error) {
			change, err := accept(describe(body))(h)
			change.Settle, change.Events = settle("c", state.Promoted), events("promote")
			return change, err
		})
		if fault.Is(err, fault.CandidateSettled) {
			err = nil
		}
		return err
	})
	head, err := store.Head(t.Context(), ref)
	if err != nil || head.Version.Number != 1 {
		t.Errorf("one candidate became %d versions, %v", head.Version.Number, err)
	}
	wantEvents(t, store, ref.Org, audit.Query{Limit: 9}, 1)
}
