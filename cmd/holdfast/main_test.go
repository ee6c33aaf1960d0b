package main

import (
	"os"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
)

// TestMain is the program itself where a server under test starts it, as the shim of a command:
// else that would be these tests once more.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		main()
	}
	os.Exit(pgtest.Main(func() int { return mysqltest.Main(m) }))
}
