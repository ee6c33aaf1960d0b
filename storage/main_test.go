package storage_test

import (
	"os"
	"testing"

	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
)

func TestMain(m *testing.M) { os.Exit(sqldbtest.Main(m)) }
