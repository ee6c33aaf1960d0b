package states

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// TestPageEndsWhenItsTimeIsOver: a list that has come some way by then is a page, and no fault.
func TestPageEndsWhenItsTimeIsOver(t *testing.T) { onEach(t, testPageEndsWhenItsTimeIsOver) }

func testPageEndsWhenItsTimeIsOver(t *testing.T, on kind) {
	s := open(t, on.new(t).options())
	timed, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := s.current(t.Context(), timed, func(ctx context.Context, db querier) error {
		var slept any
		if err := db.QueryRowContext(ctx, on.sleep()).Scan(&slept); err == nil {
			t.Error("nobody ended the query")
		}
		return nil // as for a page that has something
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNamesContainNothingOdd: names with bytes that are in none are looked for, and not found.
func TestNamesContainNothingOdd(t *testing.T) { onEach(t, testNamesContainNothingOdd) }

func testNamesContainNothingOdd(t *testing.T, on kind) {
	s, org := open(t, on.new(t).options()), uuid.New()
	put(t, s, state.Ref{Org: org, Name: "prod/Network"}, []byte("a"))
	for contains, want := range map[string]int{"d/net": 1, "\x00": 0, "\xff": 0, "\xc3\x28": 0, "é": 0, "'": 0, "\\": 0} {
		page, err := s.States(t.Context(), org, state.StatesQuery{Contains: contains, Limit: 9})
		if err != nil || len(page.States) != want {
			t.Errorf("%q: %d states, %v", contains, len(page.States), err)
		}
	}
}
