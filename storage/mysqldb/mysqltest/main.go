package mysqltest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/storage/serverdb/servertest"
)

// Required is the environment variable that, set to "required", makes tests fail rather
// than be skipped where no server can be had.
const Required = "HOLDFAST_MYSQL"

// Kind is that of the servers of MySQL's protocol.
func Kind() servertest.Kind {
	return servertest.Kind{Name: "mysqltest", Required: Required, Port: 23306}
}

// Main runs a package's tests with a server: m.Run with DB_HOST and the others set.
func Main(m *testing.M) int {
	return Kind().Main(m.Run, func(ctx context.Context) (servertest.Found, error) {
		address, release, err := Find(ctx)
		return servertest.Found{Environ: address.Environ(), Release: release}, err
	})
}

// Database is a database that one test has for itself.
type Database struct {
	Address
	Name string
}

// New returns a database for the test, which is made by who connects to it first and
// dropped at the end.
func New(t testing.TB) Database {
	t.Helper()
	return Named(t, "holdfast_test_"+strings.ToLower(rand.Text()[:12]))
}

// Named is New with a name of the test's choice.
func Named(t testing.TB, name string) Database {
	t.Helper()
	Kind().Need(t)
	d := Database{FromEnvironment(), name}
	t.Cleanup(func() {
		if err := d.Address.Exec(context.Background(), "", fmt.Sprintf("DROP DATABASE IF EXISTS `%s`", name)); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return d
}

// Exec runs statements in the database.
func (d Database) Exec(t testing.TB, statements ...string) {
	t.Helper()
	if err := d.Address.Exec(context.Background(), d.Name, statements...); err != nil {
		t.Fatal(err)
	}
}

// Private returns a server that the test may kill, and a database on it. Where none can be
// had, New skips the test or fails it.
func Private(t testing.TB, args ...string) (*Server, Database) {
	t.Helper()
	New(t)
	server, err := Start(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("stop the server: %v", err)
		}
	})
	return server, Database{Address: server.Address, Name: "holdfast_test"}
}
