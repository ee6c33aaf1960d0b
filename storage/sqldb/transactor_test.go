package sqldb_test

import (
	"net"
	"net/url"
	"strconv"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
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
	for name, o := range map[string]func(testing.TB) sqldb.Options{"mysql": sqldbtest.OnMySQL, "postgres": sqldbtest.OnPostgres} {
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
