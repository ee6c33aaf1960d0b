package sqlworkspace_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
	"github.com/holdfast/holdfast/workspace"
	"github.com/holdfast/holdfast/workspace/workspacetest"
)

func TestMain(m *testing.M) { os.Exit(mysqltest.Main(m)) }

func TestStore(t *testing.T) {
	for name, options := range map[string]func(t *testing.T) sqldb.Options{
		"memory": func(*testing.T) sqldb.Options { return sqldb.Options{} },
		"sqlite": inFile,
		"mysql":  onServer,
	} {
		t.Run(name, func(t *testing.T) {
			workspacetest.RunStore(t,
				func(t *testing.T, now func() time.Time) workspace.Store { return open(t, options(t), now) })
		})
	}
}

func inFile(t *testing.T) sqldb.Options {
	return sqldb.Options{Path: filepath.Join(t.TempDir(), "runs.db")}
}

func onServer(t *testing.T) sqldb.Options {
	d := mysqltest.New(t)
	return sqldb.Options{MySQL: &mysqldb.Options{
		Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
		TLS: mysqldb.TLSOff, MaxOpenConns: 8, Log: slog.New(slog.DiscardHandler),
	}}
}

func open(t *testing.T, o sqldb.Options, now func() time.Time) *sqlworkspace.Store {
	t.Helper()
	db, err := sqldb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	master, err := sealtest.NewMaster()
	if err != nil {
		t.Fatal(err)
	}
	return sqlworkspace.New(db, seal.New(master, sqldb.NewKeys(db)), now)
}
