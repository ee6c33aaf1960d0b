package sqldb_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqldb"
)

// TestAskAnything asks more than stays prepared, many at once, and what is no statement.
func TestAskAnything(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				for i := range 300 {
					n, want := 0, i+worker
					err := db.Ask(t.Context(), uuid.New(), func(q sqldb.Querier) error {
						_, err := sqldb.One(q, []any{&n}, fmt.Sprintf("SELECT %d + ?", i), worker)
						return err
					})
					if err != nil || n != want {
						t.Errorf("asked for %d: %d, %v", want, n, err)
					}
				}
			})
		}
		all.Wait()
		if err := db.Ask(t.Context(), uuid.New(), func(q sqldb.Querier) error {
			_, err := sqldb.One(q, []any{new(int)}, "SELECT nothing FROM nowhere")
			return err
		}); err == nil {
			t.Error("what is no statement has an answer")
		}
	})
}
