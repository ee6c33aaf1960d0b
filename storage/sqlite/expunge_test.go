package sqlite

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

// TestExpungeLeavesNothing counts the rows of a state that is gone: only events stay.
func TestExpungeLeavesNothing(t *testing.T) {
	s, _ := opened(t)
	ref, body := newRef("gone"), []byte("{}")
	for range 3 {
		mustPut(t, s, ref, body)
	}
	for _, change := range []state.Change{
		{Lock: &state.Lock{Info: state.LockInfo{ID: "id"}},
			Candidate: &state.Candidate{ID: "c", Version: describe(body), Status: state.Open}},
		{Release: true, Delete: true, Events: []audit.Event{{Action: audit.StateDelete}}},
		{Settle: &state.Settlement{ID: "c", Status: state.Discarded}},
	} {
		if _, err := s.Update(t.Context(), ref, body, always(change)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Purge(t.Context(), ref, 1, audit.Event{Action: audit.VersionPurge}); err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		var err error
		if done, err = s.Expunge(t.Context(), ref, time.Now(), 2, audit.Event{Action: audit.StateExpire}); err != nil {
			t.Fatal(err)
		}
	}
	for table, want := range map[string]int{"states": 0, "versions": 0, "bodies": 0, "candidates": 0, "lock_ids": 0,
		"purged": 0, "events": 3} {
		var n int
		row := s.session.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table)
		if err := row.Scan(&n); err != nil || n != want {
			t.Errorf("%s has %d rows (%v), want %d", table, n, err, want)
		}
	}
}
