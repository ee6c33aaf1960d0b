package sqlpulls_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/pulls/pullstest"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlpulls"
)

func TestMain(m *testing.M) { os.Exit(mysqltest.Main(m)) }

func open(t *testing.T, o sqldb.Options) pulls.Store {
	t.Helper()
	db, err := sqldb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return sqlpulls.New(db)
}

func TestStore(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		pullstest.RunStore(t, func(t *testing.T) (one, other pulls.Store) {
			store := open(t, sqldb.Options{})
			return store, store
		})
	})
	t.Run("sqlite", func(t *testing.T) {
		pullstest.RunStore(t, func(t *testing.T) (one, other pulls.Store) {
			store := open(t, sqldb.Options{Path: filepath.Join(t.TempDir(), "runs.db")})
			return store, store
		})
	})
	t.Run("mysql", func(t *testing.T) { // of two nodes
		pullstest.RunStore(t, func(t *testing.T) (one, other pulls.Store) {
			d := mysqltest.New(t)
			o := sqldb.Options{MySQL: &mysqldb.Options{Host: d.Host, Port: d.Port, User: d.User, Password: d.Password,
				Name: d.Name, TLS: mysqldb.TLSOff, MaxOpenConns: 4, Log: slog.New(slog.DiscardHandler)}}
			return open(t, o), open(t, o)
		})
	})
}
