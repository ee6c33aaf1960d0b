package mysqldump

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/dump"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// TestTableComes: a table that is made after a moment was begun, and is found among its tables, has the moment be begun
// again, since what is in it can't be read.
func TestTableComes(t *testing.T) {
	suite.Deep(t)
	d := mysqltest.New(t)
	o, err := mysqldb.Options{Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
		TLS: mysqldb.TLSOff, Log: slog.New(slog.DiscardHandler)}.WithDefaults()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	db, err := o.OpenPool(o.Name)
	must(err)
	must(o.Reach(t.Context(), db))
	m := &dump.Moment{Dialect: sqldb.MySQL, DB: db}
	m.Conn, err = db.Conn(t.Context())
	must(err)
	defer func() { must(m.Close()) }()
	_, err = m.Conn.ExecContext(t.Context(), "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
	must(err)
	tries := 0
	must(dump.Fix(isAnother, func() error {
		tries++
		_, err := m.Conn.ExecContext(t.Context(), "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
		must(err)
		if tries == 1 {
			_, err := db.ExecContext(t.Context(), "CREATE TABLE org_a (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY)")
			must(err)
		}
		return hold(t.Context(), m)
	}))
	if tries != 2 || !m.Has("org_a") {
		t.Errorf("after %d tries it has %v", tries, m.Tables)
	}
	refused := errors.New("refused")
	if err := dump.Fix(isAnother, func() error { tries++; return refused }); !errors.Is(err, refused) || tries != 3 {
		t.Errorf("what is no change of a table: %v, after %d tries", err, tries)
	}
}
