//go:build e2e

package test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver for onPostgres

	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/serverdb/servertest"
)

// databaseKind is a kind of database servers, as settings name it.
type databaseKind string

const (
	onMySQL    databaseKind = "mysql"
	onPostgres databaseKind = "postgres"
)

// onEach runs a test on each kind of server, all at once.
func onEach(t *testing.T, test func(t *testing.T, on databaseKind)) {
	t.Helper()
	for _, on := range []databaseKind{onMySQL, onPostgres} {
		t.Run(string(on), func(t *testing.T) {
			t.Parallel()
			test(t, on)
		})
	}
}

// engines are the settings of a server that keeps everything in its database.
func (on databaseKind) engines() []string {
	return []string{"STATE_STORAGE=" + string(on), "HOLDFAST_RUNS_STORAGE=" + string(on), "STORAGE_TYPE=" + string(on)}
}

func (on databaseKind) servers() servertest.Kind {
	if on == onPostgres {
		return pgtest.Kind()
	}
	return mysqltest.Kind()
}

// need skips the test where no server can be had, or has it fail.
func (on databaseKind) need(t testing.TB, err error) {
	t.Helper()
	if err != nil && on.servers().IsRequired() {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
}

// ownDatabase is a database of the test's own.
type ownDatabase struct {
	on       databaseKind
	mysql    mysqltest.Address // where it is, or
	postgres string            // the URL of its server's database postgres
	name     string
}

// testDatabase finds or starts a server, and drops the database at the end.
func testDatabase(t testing.TB, on databaseKind) ownDatabase {
	t.Helper()
	d := ownDatabase{on: on}
	var release func() error
	var err error
	if on == onPostgres {
		d.postgres, release, err = pgtest.Find(t.Context())
	} else {
		d.mysql, release, err = mysqltest.Find(t.Context())
	}
	on.need(t, err)
	t.Cleanup(func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	})
	return d.more(t)
}

// more returns one more database of the server, which is dropped at the end.
func (d ownDatabase) more(t testing.TB) ownDatabase {
	t.Helper()
	d.name = "holdfast_test_" + strings.ToLower(rand.Text()[:12])
	if d.on == onPostgres { // nobody makes it but us
		if err := d.create(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := d.drop(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d ownDatabase) create() error {
	statement := "CREATE DATABASE " + d.name
	if d.on == onPostgres {
		statement += " ENCODING 'UTF8' TEMPLATE template0"
	}
	return d.atServer(statement)
}

func (d ownDatabase) drop() error {
	statement := "DROP DATABASE IF EXISTS " + d.name
	if d.on == onPostgres {
		statement += " WITH (FORCE)"
	}
	return d.atServer(statement)
}

// atServer runs a statement in no database of the tests.
func (d ownDatabase) atServer(statement string) error {
	if d.on == onPostgres {
		return pgtest.Exec(context.Background(), d.postgres, statement)
	}
	return d.mysql.Exec(context.Background(), "", statement)
}

// environ is where the database is, as settings say it.
func (d ownDatabase) environ() []string {
	if d.on == onPostgres {
		return []string{"DATABASE_URL=" + pgtest.At(d.postgres, d.name)}
	}
	return append(d.mysql.Environ(), "DB_NAME="+d.name)
}

// pool returns connections to it.
func (d ownDatabase) pool() (*sql.DB, error) {
	if d.on == onPostgres {
		return sql.Open("pgx", pgtest.At(d.postgres, d.name))
	}
	return d.mysql.Open(d.name)
}

// address is where its server is, as host:port.
func (d ownDatabase) address(t testing.TB) string {
	t.Helper()
	if d.on == onMySQL {
		return net.JoinHostPort(d.mysql.Host, strconv.Itoa(d.mysql.Port))
	}
	u, err := url.Parse(d.postgres)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// by is the database by way of another port of this machine.
func (d ownDatabase) by(t testing.TB, port int) ownDatabase {
	t.Helper()
	if d.on == onMySQL {
		d.mysql.Host, d.mysql.Port = "127.0.0.1", port
		return d
	}
	u, err := url.Parse(d.postgres)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	d.postgres = u.String()
	return d
}

// databaseServer is a server for one test alone, which may kill it.
type databaseServer struct {
	*servertest.Process
	ownDatabase
}

// ownServer starts a database server for this test. One of MySQL's protocol has a binary log, as one with replicas
// has: without it InnoDB shows a commit to others before it is on disk, and a kill takes that back.
func ownServer(t *testing.T, on databaseKind) *databaseServer {
	t.Helper()
	d := &databaseServer{ownDatabase: ownDatabase{on: on, name: "holdfast"}}
	var err error
	if on == onPostgres {
		var s *pgtest.Server
		if s, err = pgtest.Start(t.Context(), "max_connections=300"); err == nil {
			d.Process, d.postgres = s.Process, s.URL
		}
	} else {
		var s *mysqltest.Server
		s, err = mysqltest.Start(t.Context(), "--log-bin=binlog", "--sync-binlog=1", "--server-id=1")
		if err == nil {
			d.Process, d.mysql = s.Process, s.Address
		}
	}
	on.need(t, err)
	t.Cleanup(func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	})
	if on == onPostgres {
		if err := d.create(); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// password is that of the server's user.
func (d *databaseServer) password() string {
	if d.on == onPostgres {
		return pgtest.Password(d.postgres)
	}
	return d.mysql.Password
}

// flush has the server write all tables to its files.
func (d *databaseServer) flush(t testing.TB) {
	t.Helper()
	statements := []string{"CHECKPOINT"}
	if d.on == onMySQL {
		statements = []string{"SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0", "SET GLOBAL innodb_max_dirty_pages_pct = 0"}
	}
	for _, statement := range statements {
		if err := d.atServer(statement); err != nil {
			t.Fatal(err)
		}
	}
}
