package sqlite

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// listedOrgs are those of the events that recordMany makes.
func listedOrgs() []uuid.UUID { return []uuid.UUID{{1}, {2}} }

// recordMany records n events of three states of each organization, and returns them as
// they are listed, the newest first.
func recordMany(t *testing.T, s *Store, n int) (all []audit.Event) {
	t.Helper()
	for at := range n {
		org, name := listedOrgs()[at%2], state.Name(fmt.Sprint("state", at%3))
		event := audit.Event{Action: audit.LockTake, Note: fmt.Sprint(at), Actor: audit.Actor{KeyID: fmt.Sprint("key", at%5)}}
		if at%100 == 50 {
			event.Action = audit.VersionPurge
		}
		change := state.Change{At: time.UnixMicro(int64(at)).UTC(), Events: []audit.Event{event}}
		if _, err := s.Update(t.Context(), state.Ref{Org: org, Name: name}, nil, always(change)); err != nil {
			t.Fatal(err)
		}
		event.Sequence, event.At, event.Org, event.State = uint64(at+1), change.At, org, string(name)
		all = append(all, event)
	}
	slices.Reverse(all)
	return all
}

// wantLists wants the lists of these events, whole and by page, filtered and not.
func wantLists(t *testing.T, s *Store, all []audit.Event) {
	t.Helper()
	for _, q := range []audit.Query{
		{}, {State: "state1"}, {State: "none"}, {KeyID: "key2"}, {Action: audit.LockTake}, {Action: audit.VersionPurge},
		{Action: audit.VersionPurge, State: "state2"}, {Since: time.UnixMicro(30), Until: time.UnixMicro(unlisted + 3)},
	} {
		for _, org := range listedOrgs() {
			for q.Limit = 7; q.Limit < 10_000; q.Limit *= 1_000 {
				wantList(t, s, org, q, all)
			}
		}
	}
}

// wantList goes through a list page by page.
func wantList(t *testing.T, s *Store, org uuid.UUID, q audit.Query, all []audit.Event) {
	t.Helper()
	var got, want []audit.Event
	for _, event := range all {
		if event.Org == org && q.Matches(event) {
			want = append(want, event)
		}
	}
	for more := true; more; more = q.Before > 0 {
		page, err := s.Events(t.Context(), org, q)
		if err != nil {
			t.Fatal(err)
		}
		got, q.Before = append(got, page.Events...), page.Next
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v has %d events, want %d", q, len(got), len(want))
	}
}

// TestEventLists lists events before and after the last of them were added to the lists, at
// every distance that matters.
func TestEventLists(t *testing.T) {
	suite.Deep(t)
	for _, n := range []int{1, unlisted - 1, unlisted, unlisted + 1, 2*unlisted + 1} {
		s := open(t, t.TempDir())
		all := recordMany(t, s, n)
		wantLists(t, s, all)
		if got, want := count(t, s, "SELECT count(*) FROM events WHERE listed"), n/unlisted*unlisted; got != want {
			t.Errorf("%d of %d events are listed, want %d", got, n, want)
		}
		if n := count(t, s, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"); n != 0 {
			t.Errorf("the database has %d faults", n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestEventListsUndone undoes a transaction in which events were listed.
func TestEventListsUndone(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	s.session.listEvery = 2
	all := recordMany(t, s, 1)
	err := s.transact(t.Context(), server(), func(w *session) error {
		if err := w.recordEvent(audit.Event{Org: listedOrgs()[0], Action: audit.LockTake}); err != nil {
			return err
		}
		return w.run("DELETE FROM nothing")
	})
	if err == nil {
		t.Fatal("the transaction was not undone")
	}
	wantLists(t, s, all)
}
