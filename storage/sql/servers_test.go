package sqluploads

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/serverdb/servertest"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// childServer tells the child of a crash test which server its database is on.
const childServer = "HOLDFAST_UPLOADS_SERVER"

func TestMain(m *testing.M) {
	inventorytest.ChildMain(func(dir string) (inventory.Store, error) {
		o := mysqlOptions(mysqltest.Database{Address: mysqltest.FromEnvironment(), Name: nameFor(dir)})
		if os.Getenv(childServer) == "postgres" {
			if err := pgtest.Make(context.Background(), nameFor(dir)); err != nil {
				return nil, err
			}
			o = postgresOptions(pgtest.At(os.Getenv(pgtest.Environment), nameFor(dir)))
		}
		return Open(context.Background(), o)
	})
	inventorytest.FewChecks()
	os.Exit(pgtest.Main(func() int { return mysqltest.Main(m) }))
}

// nameFor returns the database that stands for a directory.
func nameFor(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("holdfast_test_%x", sum[:8])
}

// database is one that a test has for itself.
type database struct {
	Options         // for a store in it
	secret   string // of its server
	driver   string
	database string // as the driver is told of it
}

// pool returns connections of the test's own.
func (d database) pool(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.driver, d.database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (d database) exec(t testing.TB, statements ...string) {
	t.Helper()
	db := d.pool(t)
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%.80s: %v", statement, err)
		}
	}
}

// limited returns options for so many connections.
func (o Options) limited(connections int) Options {
	if o.MySQL != nil {
		mine := *o.MySQL
		mine.MaxOpenConns, o.MySQL = connections, &mine
		return o
	}
	mine := *o.Postgres
	mine.MaxOpenConns, o.Postgres = connections, &mine
	return o
}

// logging returns options with a log.
func (o Options) logging(log *slog.Logger) Options {
	o = o.limited(testConnections)
	if o.MySQL != nil {
		o.MySQL.Log = log
	} else {
		o.Postgres.Log = log
	}
	return o
}

const testConnections = 8

// mysqlOptions returns options for a store in the database.
func mysqlOptions(d mysqltest.Database) Options {
	return Options{Now: time.Now, MySQL: &mysqldb.Options{
		Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
		TLS: mysqldb.TLSOff, MaxOpenConns: testConnections, Log: slog.New(slog.DiscardHandler),
	}}
}

func postgresOptions(url string) Options {
	return Options{Now: time.Now,
		Postgres: &pgdb.Options{URL: url, MaxOpenConns: testConnections, Log: slog.New(slog.DiscardHandler)}}
}

func onMySQL(d mysqltest.Database) database {
	return database{mysqlOptions(d), d.Password, "mysql",
		fmt.Sprintf("%s:%s@tcp(%s:%d)/%s", d.User, d.Password, d.Host, d.Port, d.Name)}
}

func onPostgres(url string) database {
	return database{postgresOptions(url), pgtest.Password(url), "pgx", url}
}

// killable is a server that a test may kill.
type killable interface {
	Kill() error
	Run(context.Context) error
}

// testServer is a kind of server that tests run on.
type testServer struct {
	name    string
	speaks  dialect
	fresh   func(testing.TB) database
	named   func(t testing.TB, name string) database
	private func(testing.TB) (killable, database)
	proxied func(testing.TB) (database, *servertest.Proxy)
}

var testServers = []testServer{
	{
		name: "mysql", speaks: dialect{sqldb.MySQL},
		fresh: func(t testing.TB) database { return onMySQL(mysqltest.New(t)) },
		named: func(t testing.TB, name string) database { return onMySQL(mysqltest.Named(t, name)) },
		private: func(t testing.TB) (killable, database) {
			server, d := mysqltest.Private(t)
			return server, onMySQL(d)
		},
		proxied: func(t testing.TB) (database, *servertest.Proxy) {
			d, proxy := mysqltest.Proxied(t)
			return onMySQL(d), proxy.Proxy
		},
	},
	{
		name: "postgres", speaks: dialect{sqldb.Postgres},
		fresh: func(t testing.TB) database { return onPostgres(pgtest.New(t)) },
		named: func(t testing.TB, name string) database { return onPostgres(pgtest.Named(t, name)) },
		private: func(t testing.TB) (killable, database) {
			server, url := pgtest.Private(t)
			return server, onPostgres(url)
		},
		proxied: func(t testing.TB) (database, *servertest.Proxy) {
			url, proxy := pgtest.Proxied(t)
			return onPostgres(url), proxy
		},
	},
}

// onServers runs a test with each kind of server. With -short that is MySQL's alone.
func onServers(t *testing.T, test func(t *testing.T, on testServer)) {
	for _, server := range testServers {
		t.Run(server.name, func(t *testing.T) {
			if server.speaks.isPostgres() {
				suite.Deep(t)
			}
			test(t, server)
		})
	}
}
