package states

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

// TestPageEndsWhenItsTimeIsOver: a list that has come some way by then is a page, and no fault.
func TestPageEndsWhenItsTimeIsOver(t *testing.T) {
	s := open(t, optionsFor(mysqltest.New(t)))
	timed, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := s.current(t.Context(), timed, func(ctx context.Context, db querier) error {
		var slept int
		if err := db.QueryRowContext(ctx, "SELECT SLEEP(10)").Scan(&slept); err == nil {
			t.Error("nobody ended the query")
		}
		return nil // as for a page that has something
	})
	if err != nil {
		t.Error(err)
	}
}
