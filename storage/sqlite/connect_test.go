package sqlite

import (
	"database/sql"
	"strings"
	"testing"
)

// TestPragmas asks the connections what is in force.
func TestPragmas(t *testing.T) {
	s, _ := opened(t)
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "fullfsync": "1", "checkpoint_fullfsync": "1",
		"page_size": "4096", "foreign_keys": "1", "secure_delete": "1", "busy_timeout": "5000",
		"wal_autocheckpoint": "1000", "journal_size_limit": "67108864", "application_id": "1215261796",
		"temp_store": "2", "query_only": "0",
	} {
		wantPragma(t, s.writer.session.conn, pragma, want)
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

// TestPlans holds every statement to index lookups: nothing may grow with the number of
// states, versions or organizations.
func TestPlans(t *testing.T) {
	s, _ := opened(t)
	texts := []string{sqlCurrent, sqlVersion, sqlReadProbe,
		// What later removes one version's bytes, and lists.
		`DELETE FROM bodies WHERE id = (SELECT id FROM versions WHERE state = ? AND number = ?)`,
		`DELETE FROM versions WHERE state = ? AND number = ?`,
		`SELECT name, lock_id FROM states WHERE org = ? AND name > ? ORDER BY name LIMIT 100`,
		`SELECT number, size FROM versions WHERE state = ? AND number < ? ORDER BY number DESC LIMIT 100`,
	}
	for _, statement := range s.writer.session.statements() {
		texts = append(texts, statement.text)
	}
	for _, text := range texts {
		for _, step := range plan(t, s.writer.session.conn, text) {
			if strings.Contains(step, "SCAN") && step != "SCAN CONSTANT ROW" || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s\n%s", text, step)
			}
		}
	}
}

func plan(t *testing.T, conn *sql.Conn, text string) (steps []string) {
	t.Helper()
	args := make([]any, strings.Count(text, "?"))
	rows, err := conn.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps
}
