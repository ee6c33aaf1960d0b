package sqlruns_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/runs/runstest"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlruns"
)

// alone is a store that has its database to itself.
type alone struct {
	*sqlruns.Store
	db *sqldb.DB
}

func (a alone) Close() error { return errors.Join(a.Store.Close(), a.db.Close()) }

func open(ctx context.Context, o sqldb.Options) (runs.Store, error) {
	db, err := sqldb.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return alone{sqlruns.New(db), db}, nil
}

func openSQLite(dir string) (runs.Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return open(context.Background(), sqldb.Options{Path: filepath.Join(dir, "runs.db")})
}

func TestSQLite(t *testing.T) {
	runstest.RunStore(t, func(t *testing.T) runs.Store {
		store, err := openSQLite(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return store
	})
}

func TestMemory(t *testing.T) {
	runstest.RunStore(t, func(t *testing.T) runs.Store {
		store, err := open(t.Context(), sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return store
	})
}
