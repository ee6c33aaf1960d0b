package sqlruns_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/runs/runstest"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
	"github.com/holdfast/holdfast/storage/sqlruns"
)

// onServer is in the environment of a child that works in a database on a server.
const onServer = "HOLDFAST_SQLRUNS_SERVER"

func TestMain(m *testing.M) {
	runstest.ChildMain(func(dir string) (runs.Store, error) {
		if os.Getenv(onServer) != "" {
			return openMySQL(databaseFor(dir))
		}
		return openSQLite(dir)
	})
	os.Exit(sqldbtest.Main(m))
}

// alone is a store that has its database to itself.
type alone struct {
	*sqlruns.Store
	db *sqldb.DB
}

func (a alone) Close() error { return errors.Join(a.Store.Close(), a.db.Close()) }

func open(o sqldb.Options) (runs.Store, error) {
	db, err := sqldb.Open(context.Background(), o)
	if err != nil {
		return nil, err
	}
	return alone{sqlruns.New(db), db}, nil
}

// openSQLite opens the database in a folder.
func openSQLite(dir string) (runs.Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return open(sqldb.Options{Path: filepath.Join(dir, "runs.db")})
}

func openMySQL(d mysqltest.Database) (runs.Store, error) {
	return open(sqldb.Options{MySQL: &mysqldb.Options{
		Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
		TLS: mysqldb.TLSOff, MaxOpenConns: 8, Log: slog.New(slog.DiscardHandler),
	}})
}

// databaseFor returns the database that stands for a folder.
func databaseFor(dir string) mysqltest.Database {
	sum := sha256.Sum256([]byte(dir))
	return mysqltest.Database{Address: mysqltest.FromEnvironment(), Name: fmt.Sprintf("holdfast_test_%x", sum[:8])}
}

// opened is a store that has to be there.
func opened(t testing.TB) func(runs.Store, error) runs.Store {
	return func(store runs.Store, err error) runs.Store {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
}

func TestSQLite(t *testing.T) {
	runstest.RunStore(t, func(t *testing.T) runs.Store { return opened(t)(openSQLite(t.TempDir())) })
}

func TestMemory(t *testing.T) {
	suite.Deep(t)
	runstest.RunStore(t, func(t *testing.T) runs.Store { return opened(t)(open(sqldb.Options{})) })
}

func TestMySQL(t *testing.T) {
	runstest.RunStore(t, func(t *testing.T) runs.Store { return opened(t)(openMySQL(mysqltest.New(t))) })
}

func TestPostgres(t *testing.T) {
	runstest.RunStore(t, func(t *testing.T) runs.Store { return opened(t)(open(sqldbtest.OnPostgres(t))) })
}

func TestSQLiteDurable(t *testing.T) {
	runstest.RunDurable(t, func(t *testing.T, dir string) runs.Store { return opened(t)(openSQLite(dir)) })
}

func TestMySQLDurable(t *testing.T) {
	suite.Deep(t)
	t.Setenv(onServer, "yes")
	named := map[string]bool{}
	runstest.RunDurable(t, func(t *testing.T, dir string) runs.Store {
		d := databaseFor(dir)
		if !named[dir] {
			named[dir] = true
			mysqltest.Named(t, d.Name)
		}
		return opened(t)(openMySQL(d))
	})
}
