package sqlite

import (
	"sync/atomic"
	"testing"

	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// failSyncs makes the given number of SQLite's next fsyncs fail.
func failSyncs(t *testing.T, s *Store) *atomic.Int64 {
	t.Helper()
	return sqlitetest.FailSyncs(t, s.path)
}
