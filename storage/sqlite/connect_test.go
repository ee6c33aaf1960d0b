package sqlite

import (
	"database/sql"
	"testing"
)

// TestPragmas asks the connections what is in force.
func TestPragmas(t *testing.T) {
	s, _ := opened(t)
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "fullfsync": "1", "checkpoint_fullfsync": "1",
		"page_size": "4096", "foreign_keys": "1", "secure_delete": "1", "busy_timeout": "5000",
		"wal_autocheckpoint": "4000", "journal_size_limit": "67108864", "application_id": "1215261796",
		"temp_store": "2", "query_only": "0",
	} {
		wantPragma(t, s.session.conn, pragma, want)
	}
	for range readerCount {
		r := <-s.readers
		wantPragma(t, r.conn, "query_only", "1")
		wantPragma(t, r.conn, "journal_mode", "wal")
		if _, err := r.conn.ExecContext(t.Context(), "DELETE FROM probe"); err == nil {
			t.Error("a reader could write")
		}
		defer func() { s.readers <- r }()
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
