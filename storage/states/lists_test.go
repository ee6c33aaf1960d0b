package states

import (
	"context"
	"testing"
	"time"
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
