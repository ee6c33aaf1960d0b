package mysqltest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Required is the environment variable that, set to "required", makes tests fail rather
// than be skipped where no server can be had.
const Required = "HOLDFAST_MYSQL"

// missing tells New why Main found no server.
const missing = "HOLDFAST_MYSQL_MISSING"

// Main runs a package's tests with a server: m.Run with DB_HOST and the others set.
func Main(m *testing.M) int {
	address, release, err := Find(context.Background())
	if err != nil {
		say("%v", err)
		_ = os.Setenv(missing, err.Error())
		return m.Run()
	}
	for _, entry := range address.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		_ = os.Setenv(name, value)
	}
	code := m.Run()
	if err := release(); err != nil {
		say("end the server: %v", err)
		return max(code, 1)
	}
	return code
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
	if reason := os.Getenv(missing); reason != "" {
		if os.Getenv(Required) == "required" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
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
