package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
)

// through returns options that reach a server by a proxy.
func through(t *testing.T, o sqldb.Options) (sqldb.Options, *mysqltest.Proxy) {
	t.Helper()
	var to mysqltest.Address
	if o.MySQL != nil {
		to.Host, to.Port = o.MySQL.Host, o.MySQL.Port
	} else {
		u, err := url.Parse(o.Postgres.URL)
		if err != nil {
			t.Fatal(err)
		}
		to.Host = u.Hostname()
		if to.Port, err = strconv.Atoi(u.Port()); err != nil {
			t.Fatal(err)
		}
	}
	proxy, err := mysqltest.NewProxy(to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	if o.MySQL != nil {
		server := *o.MySQL
		server.Host, server.Port = proxy.Host, proxy.Port
		o.MySQL = &server
		return o, proxy
	}
	server := *o.Postgres
	u, _ := url.Parse(server.URL)
	u.Host = net.JoinHostPort(proxy.Host, strconv.Itoa(proxy.Port))
	server.URL = u.String()
	o.Postgres = &server
	return o, proxy
}

// TestLostCommit loses the answer to a COMMIT: the store finds out what became of it, and makes nothing twice.
func TestLostCommit(t *testing.T) {
	suite.Deep(t)
	servers := map[string]func(testing.TB) sqldb.Options{"mysql": sqldbtest.OnMySQL, "postgres": sqldbtest.OnPostgres}
	for name, o := range servers {
		t.Run(name, func(t *testing.T) {
			options, proxy := through(t, o(t))
			db, err := sqldb.Open(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			org := uuid.New()
			add := func(tx sqldb.Tx) error {
				_, err := tx.Exec("UPDATE organizations SET bytes = bytes + 1 WHERE org = ?", org.String())
				return err
			}
			for _, text := range []string{"FOR UPDATE", "INTO organizations", "SET bytes", ";COMMIT"} {
				proxy.CutAnswer(text)
				if err := db.Write(t.Context(), org, add); err != nil {
					t.Errorf("%s: %v", text, err)
				}
				proxy.Mend()
			}
			var n int
			err = db.Read(t.Context(), org, func(q sqldb.Querier) error {
				_, err := sqldb.One(q, []any{&n}, "SELECT bytes FROM organizations WHERE org = ?", org.String())
				return err
			})
			if err != nil || n != 4 {
				t.Errorf("%d of 4 writes are there, %v", n, err)
			}
		})
	}
}

// TestUndoneAgainAndAgain cuts each attempt of a transaction off before its COMMIT: the caller is told to try again.
func TestUndoneAgainAndAgain(t *testing.T) {
	suite.Deep(t)
	for name, c := range map[string]struct {
		on          func(testing.TB) sqldb.Options
		which, kill string
	}{
		"mysql":    {sqldbtest.OnMySQL, "SELECT CONNECTION_ID()", "KILL %d"},
		"postgres": {sqldbtest.OnPostgres, "SELECT pg_backend_pid()", "SELECT pg_terminate_backend(%d)"},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.on(t)
			a, b := opened(t, o), opened(t, o)
			var written error
			err := a.Write(t.Context(), uuid.New(), func(tx sqldb.Tx) error {
				var session int64
				if err := tx.QueryRow(c.which).Scan(&session); err != nil {
					return err
				}
				tx.(*sqldb.Session).Writes()
				written = b.Write(t.Context(), uuid.New(), func(tx sqldb.Tx) error {
					_, err := tx.Exec(fmt.Sprintf(c.kill, session))
					return err
				})
				return nil
			})
			if !fault.Is(err, fault.StoreUnavailable) || written != nil {
				t.Errorf("%v, %v", err, written)
			}
		})
	}
}

func opened(t *testing.T, o sqldb.Options) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestSettledWhereStandbysAre gives up a COMMIT that waits for a standby: the server then has it happen by itself, but
// it does not count as durable before a standby has it, too.
func TestSettledWhereStandbysAre(t *testing.T) {
	suite.Deep(t)
	server, at := pgtest.Private(t)
	ctx := t.Context()
	options := pgdb.Options{URL: at, Log: slog.New(slog.DiscardHandler)}
	opened(t, sqldb.Options{Postgres: &options})
	db, err := options.Plain(pgdb.AsTexts, nil).Open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	transactor := sqldb.NewTransactor(sqldb.Postgres, db, db, "outcomes", options.Log)
	defer transactor.Close()
	standbys := func(names string) {
		t.Helper()
		for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + names + "'", "SELECT pg_reload_conf()"} {
			if err := pgtest.Exec(ctx, server.URL, statement); err != nil {
				t.Fatal(err)
			}
		}
		for set := ""; set != names; {
			if err := db.QueryRowContext(ctx, "SHOW synchronous_standby_names").Scan(&set); err != nil {
				t.Fatal(err)
			}
		}
	}
	waits := func() (n int) {
		t.Helper()
		query := "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
		if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}

	standbys("nobody")
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	short, giveUp := context.WithCancel(ctx)
	defer giveUp()
	s, err := transactor.Begin(short, conn)
	if err == nil {
		err = s.Later("INSERT INTO organizations (org, bytes) VALUES ('a', 1)")
	}
	if err != nil {
		t.Fatal(err)
	}
	committed := make(chan error, 1)
	go func() { committed <- transactor.Commit(s) }()
	for waits() == 0 {
	}
	giveUp()
	lost := <-committed
	if lost == nil {
		t.Fatal("the COMMIT did not wait for a standby")
	}
	sqldb.Postgres.Abandon(conn, errors.Join(lost, sql.ErrConnDone))
	for n := 0; n == 0; { // until the server has noticed
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM organizations WHERE org = 'a'").Scan(&n); err != nil {
			t.Fatal(err)
		}
	}

	settled := make(chan error, 1)
	go func() { settled <- transactor.Settle(s.Token(), time.Now(), lost) }()
	for waits() == 0 {
		select {
		case err := <-settled:
			t.Fatalf("settled before a standby has it: %v", err)
		default:
		}
	}
	standbys("")
	if err := <-settled; err != nil {
		t.Error(err)
	}
}

// TestSomeThatOthersRemove has the rows that are to go first be removed by somebody else: the next ones go then. That
// nothing went says that nothing is left.
func TestSomeThatOthersRemove(t *testing.T) {
	o := sqldbtest.OnPostgres(t)
	opened(t, o)
	db, err := o.Postgres.Plain(pgdb.AsTexts, nil).Open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, some := t.Context(), sqldb.Postgres.DeleteSome("organizations", "org", "org > ?", "org")
	if _, err := db.ExecContext(ctx, "INSERT INTO organizations (org, bytes) VALUES ('a', 1), ('b', 1), ('c', 1)"); err != nil {
		t.Fatal(err)
	}
	other, err := db.BeginTx(ctx, nil)
	if err == nil {
		_, err = other.ExecContext(ctx, some, "9", 2)
	}
	if err != nil {
		t.Fatal(err)
	}
	removed := make(chan int64, 1)
	go func() {
		var n int64
		result, err := db.ExecContext(ctx, some, "9", 2)
		if err == nil {
			n, err = result.RowsAffected()
		}
		if err != nil {
			t.Error(err)
		}
		removed <- n
	}()
	for n := 0; n == 0; {
		query := "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
		if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := <-removed; n != 1 {
		t.Errorf("%d rows went, and 1 was left", n)
	}
}
