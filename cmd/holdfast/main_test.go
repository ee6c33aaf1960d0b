package main

import (
	"os"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
)

// TestMain is the program itself where a server under test starts it, as the shim of a command:
// else that would be these tests once more.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		main()
	}
	os.Exit(sqldbtest.Main(m))
}
