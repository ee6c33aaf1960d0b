package storage_test

import (
	"os"
	"testing"

	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

func TestMain(m *testing.M) { os.Exit(mysqltest.Main(m)) }
