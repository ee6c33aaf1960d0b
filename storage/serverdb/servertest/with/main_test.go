package main

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
)

// Without a server of PostgreSQL tests are skipped, and where it is required nothing is run.
func TestWithoutPostgres(t *testing.T) {
	t.Setenv(pgtest.Programs, t.TempDir())
	t.Setenv(pgtest.Environment, "")
	t.Setenv("HOLDFAST_POSTGRES", "")
	found, err := find(t.Context(), "postgres")
	said := strings.Join(found.Environ, " ")
	if err != nil || !strings.HasPrefix(said, "HOLDFAST_POSTGRES_MISSING=initdb") {
		t.Errorf("%s, %v", said, err)
	}
	t.Setenv("HOLDFAST_POSTGRES", "required")
	if found, err := find(t.Context(), "postgres"); err == nil {
		t.Errorf("it is required, and %v is found", found.Environ)
	}
}
