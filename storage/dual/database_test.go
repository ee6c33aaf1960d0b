package dual

import (
	"testing"

	"github.com/google/uuid"
)

// TestPragmas asks the outbox's connection what is in force.
func TestPragmas(t *testing.T) {
	r := newRig(t, nil)
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "fullfsync": "1", "checkpoint_fullfsync": "1",
		"auto_vacuum": "1", "secure_delete": "1", "busy_timeout": "5000", "journal_size_limit": "33554432",
		"temp_store": "2", "trusted_schema": "0", "query_only": "0", "application_id": "1215261807",
	} {
		var got string
		if err := r.outbox.do(uuid.Nil, func(t tx) error { return t.QueryRow("PRAGMA " + pragma).Scan(&got) }); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
}
