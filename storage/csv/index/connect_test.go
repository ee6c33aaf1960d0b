package index

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
)

// TestPragmas asks the connections what is in force.
func TestPragmas(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "uploads.db"))
	err := x.do(uuid.Nil, func(tx tx) error {
		for pragma, want := range map[string]string{
			"journal_mode": "wal", "synchronous": "2", "fullfsync": "1", "checkpoint_fullfsync": "1",
			"busy_timeout": "5000", "journal_size_limit": "67108864", "application_id": "1214666096",
			"temp_store": "2", "trusted_schema": "0", "query_only": "0", "secure_delete": "0", "foreign_keys": "0",
		} {
			wantPragma(t, tx.Conn(), pragma, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for range readConnections {
		conn, err := x.readers.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		wantPragma(t, conn, "query_only", "1")
		wantPragma(t, conn, "journal_mode", "wal")
		if _, err := conn.ExecContext(t.Context(), "DELETE FROM meta"); err == nil {
			t.Error("a reader could write")
		}
	}
}

func wantPragma(t *testing.T, conn *sql.Conn, pragma, want string) {
	t.Helper()
	var got string
	if err := conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("%s is %s, want %s", pragma, got, want)
	}
}
