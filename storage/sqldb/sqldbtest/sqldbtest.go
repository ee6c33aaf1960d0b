// Package sqldbtest gives the tests of stores over sqldb each database that they run on: a file, memory, and real
// servers of MySQL's protocol and of PostgreSQL.
package sqldbtest

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// Main runs a package's tests with the servers.
func Main(m *testing.M) int { return pgtest.Main(func() int { return mysqltest.Main(m) }) }

// On runs a test on each database. Shared says that several nodes may open it at once. With -short these are a file,
// and PostgreSQL where a server is there for many packages (scripts/postgres.sh).
func On(t *testing.T, test func(t *testing.T, o sqldb.Options, shared bool)) {
	t.Run("sqlite", func(t *testing.T) { test(t, InFile(t), false) })
	t.Run("memory", func(t *testing.T) {
		suite.Deep(t)
		test(t, sqldb.Options{}, false)
	})
	t.Run("mysql", func(t *testing.T) {
		suite.Deep(t)
		test(t, OnMySQL(t), true)
	})
	t.Run("postgres", func(t *testing.T) { test(t, OnPostgres(t), true) })
}

// InFile is a new database in a file.
func InFile(t testing.TB) sqldb.Options {
	return sqldb.Options{Path: filepath.Join(t.TempDir(), "runs.db")}
}

// OnMySQL is a new database on a server of MySQL's protocol.
func OnMySQL(t testing.TB) sqldb.Options {
	d := mysqltest.New(t)
	return sqldb.Options{MySQL: &mysqldb.Options{
		Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
		TLS: mysqldb.TLSOff, MaxOpenConns: 8, Log: slog.New(slog.DiscardHandler),
	}}
}

// OnPostgres is a new database of PostgreSQL's.
func OnPostgres(t testing.TB) sqldb.Options {
	return sqldb.Options{Postgres: &pgdb.Options{URL: pgtest.New(t), MaxOpenConns: 8, Log: slog.New(slog.DiscardHandler)}}
}
