package dual

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

func TestMain(m *testing.M) {
	sqlitetest.ChildMain(outboxEngine())
	inventorytest.ChildMain(func(dir string) (inventory.Store, error) {
		if os.Getenv(realSides) != "" {
			return openReal(context.Background(), dir, childDatabase(dir))
		}
		return openJournals(dir)
	})
	inventorytest.FewChecks()
	os.Exit(pgtest.Main(func() int { return mysqltest.Main(m) }))
}

// TestInventory runs the suite over two stores that never fail.
func TestInventory(t *testing.T) {
	suite.Deep(t)
	inventorytest.RunStore(t, func(t *testing.T) inventory.Store {
		return open(t, Options{Dir: t.TempDir(), CSV: inventorytest.New(), Database: inventorytest.New()})
	})
}

func TestDurable(t *testing.T) {
	inventorytest.RunDurable(t, func(t *testing.T, dir string) inventory.Store {
		s, err := openJournals(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// openJournals opens a store whose sides are beside its outbox.
func openJournals(dir string) (*Store, error) {
	one, err := inventorytest.Open(filepath.Join(dir, "csv"))
	if err != nil {
		return nil, err
	}
	two, err := inventorytest.Open(filepath.Join(dir, "mysql"))
	if err != nil {
		return nil, errors.Join(err, one.Close())
	}
	return Open(context.Background(), Options{Dir: filepath.Join(dir, "outbox"), CSV: one, Database: two})
}

// open opens a store that the test closes.
func open(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
