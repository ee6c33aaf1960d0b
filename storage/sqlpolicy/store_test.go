package sqlpolicy_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/insight/policy/policytest"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlpolicy"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
)

func TestMain(m *testing.M) { os.Exit(mysqltest.Main(m)) }

func TestStore(t *testing.T) {
	for name, options := range map[string]func(t *testing.T) sqldb.Options{
		"memory": func(*testing.T) sqldb.Options { return sqldb.Options{} },
		"sqlite": func(t *testing.T) sqldb.Options {
			return sqldb.Options{Path: filepath.Join(t.TempDir(), "runs.db")}
		},
		"mysql": onServer,
	} {
		t.Run(name, func(t *testing.T) {
			policytest.RunStore(t, func(t *testing.T) (policy.Store, func() ([]audit.Event, error)) {
				return open(t, options(t))
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

func open(t *testing.T, o sqldb.Options) (policy.Store, func() ([]audit.Event, error)) {
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
	outbox := sqlworkspace.New(db, nil, time.Now)
	return sqlpolicy.New(db), func() (all []audit.Event, err error) {
		kept, err := outbox.Undelivered(t.Context(), uuid.Nil, 100)
		for _, one := range kept {
			all = append(all, one.Event)
		}
		return all, err
	}
}
