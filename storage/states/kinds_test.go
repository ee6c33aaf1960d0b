package states

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
)

// kind is a kind of server that the tests run on.
type kind string

const (
	onMySQL    kind = "mysql"
	onPostgres kind = "postgres"
)

// each runs a test on each kind of server.
func onEach(t *testing.T, test func(t *testing.T, on kind)) {
	t.Helper()
	t.Run(string(onMySQL), func(t *testing.T) { test(t, onMySQL) })
	t.Run(string(onPostgres), func(t *testing.T) {
		suite.Deep(t)
		test(t, onPostgres)
	})
}

// database is one on a server.
type database struct {
	kind
	mysql mysqltest.Database
	url   string
}

// new returns a database that the test has for itself.
func (k kind) new(t testing.TB) database {
	t.Helper()
	if k == onPostgres {
		return database{kind: k, url: pgtest.New(t)}
	}
	return database{kind: k, mysql: mysqltest.New(t)}
}

// named is new with a name of the test's choice.
func (k kind) named(t testing.TB, name string) database {
	t.Helper()
	if k == onPostgres {
		return database{kind: k, url: pgtest.Named(t, name)}
	}
	return database{kind: k, mysql: mysqltest.Named(t, name)}
}

// there is a database that named has made.
func (k kind) there(name string) database {
	if k == onPostgres {
		return database{kind: k, url: pgtest.At(os.Getenv(pgtest.Environment), name)}
	}
	return database{kind: k, mysql: mysqltest.Database{Address: mysqltest.FromEnvironment(), Name: name}}
}

// address is where the server is, as host:port.
func (d database) address() string {
	if d.kind == onPostgres {
		u, _ := url.Parse(d.url)
		return u.Host
	}
	return net.JoinHostPort(d.mysql.Host, strconv.Itoa(d.mysql.Port))
}

// by is the database as it is reached by another address.
func (d database) by(address string) database {
	if d.kind == onPostgres {
		u, _ := url.Parse(d.url)
		u.Host = address
		d.url = u.String()
		return d
	}
	host, port, _ := net.SplitHostPort(address)
	d.mysql.Host = host
	d.mysql.Port, _ = strconv.Atoi(port)
	return d
}

// proxied is new with a proxy before it.
func (k kind) proxied(t testing.TB) (database, *mysqltest.Proxy) {
	t.Helper()
	d := k.new(t)
	host, port, err := net.SplitHostPort(d.address())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := mysqltest.NewProxy(mysqltest.Address{Host: host, Port: number})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return d.by(net.JoinHostPort(proxy.Host, strconv.Itoa(proxy.Port))), proxy
}

// options are for a store in the database.
func (d database) options() Options {
	o := Options{Log: slog.New(slog.DiscardHandler), Master: sealtest.Master()}
	if d.kind == onPostgres {
		o.Postgres = &pgdb.Options{URL: d.url, MaxOpenConns: 16, Log: o.Log}
		return o
	}
	o.MySQL = &mysqldb.Options{
		Host: d.mysql.Host, Port: d.mysql.Port, User: d.mysql.User, Password: d.mysql.Password, Name: d.mysql.Name,
		TLS: mysqldb.TLSOff, MaxOpenConns: 16, Log: o.Log,
	}
	return o
}

// open returns a pool of connections to it.
func (d database) open(t testing.TB) *sql.DB {
	t.Helper()
	server, err := serverOf(d.options())
	if err != nil {
		t.Fatal(err)
	}
	db, err := server.fewPool(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// exec runs statements in it.
func (d database) exec(t testing.TB, statements ...string) {
	t.Helper()
	db := d.open(t)
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// session asks for a session's number.
func (k kind) session() string {
	if k == onPostgres {
		return "SELECT pg_backend_pid()"
	}
	return "SELECT CONNECTION_ID()"
}

// kill ends a session.
func (k kind) kill(session int64) string {
	if k == onPostgres {
		return fmt.Sprintf("SELECT pg_terminate_backend(%d)", session)
	}
	return fmt.Sprint("KILL ", session)
}

// writing asks for the sessions that are in a transaction.
func (k kind) writing() string {
	if k == onPostgres {
		return `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND state LIKE 'idle in transaction%'`
	}
	return `SELECT trx_mysql_thread_id FROM information_schema.innodb_trx
		JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE db = DATABASE()`
}

// tables asks for the names of all tables.
func (k kind) tables() string {
	if k == onPostgres {
		return "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
	}
	return "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
}

// leftAlone waits until the server has ended the sessions of a process that was killed: until then a COMMIT that it had
// sent may take effect, behind who looks what there is.
func leftAlone(t *testing.T, d database) {
	t.Helper()
	query := "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()"
	if d.kind == onPostgres {
		query = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() " +
			"AND backend_type = 'client backend'"
	}
	db := d.open(t)
	defer db.Close()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		var sessions int
		err := db.QueryRowContext(t.Context(), query).Scan(&sessions)
		if d.kind == onMySQL && mysqldb.Number(err) == 1049 {
			return // there is no such database yet
		}
		if err != nil || sessions > 0 && time.Now().After(end) {
			t.Fatalf("%d sessions are left, %v", sessions, err)
		}
		if sessions == 0 {
			return
		}
	}
}

// mysqlOptions are for a store in a database of MySQL's.
func mysqlOptions(d mysqltest.Database) Options { return database{kind: onMySQL, mysql: d}.options() }

// sleep is a query that takes long.
func (k kind) sleep() string {
	if k == onPostgres {
		return "SELECT pg_sleep(10)"
	}
	return "SELECT SLEEP(10)"
}
