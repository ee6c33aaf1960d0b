package sqlrepos_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/repostest"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlrepos"
)

func TestMain(m *testing.M) { os.Exit(mysqltest.Main(m)) }

func TestStore(t *testing.T) {
	for name, options := range map[string]func(t *testing.T) sqldb.Options{
		"memory": func(*testing.T) sqldb.Options { return sqldb.Options{} },
		"sqlite": func(t *testing.T) sqldb.Options { return sqldb.Options{Path: filepath.Join(t.TempDir(), "runs.db")} },
		"mysql":  onServer,
	} {
		t.Run(name, func(t *testing.T) {
			repostest.RunStore(t, func(t *testing.T) repos.Store {
				db, err := sqldb.Open(t.Context(), options(t))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := db.Close(); err != nil {
						t.Errorf("Close: %v", err)
					}
				})
				return sqlrepos.New(db)
			})
		})
	}
}

func onServer(t *testing.T) sqldb.Options {
	d := mysqltest.New(t)
	return sqldb.Options{MySQL: &mysqldb.Options{
		Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
		TLS: mysqldb.TLSOff, MaxOpenConns: 8, Log: slog.New(slog.DiscardHandler),
	}}
}
