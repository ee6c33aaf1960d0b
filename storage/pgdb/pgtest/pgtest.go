// Package pgtest runs a real PostgreSQL for tests: the one at HOLDFAST_POSTGRES_URL, or a private one of the machine's
// own programs, in a temporary folder and on a free port of the loopback interface. Debian has them in the package
// postgresql.
package pgtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver that databases are made with

	"github.com/holdfast/holdfast/storage/serverdb/servertest"
)

// Environment is the variable that names a server which is there, by a URL of its database postgres.
const Environment = "HOLDFAST_POSTGRES_URL"

// Programs is the variable that names the folder of the server's programs, where it is to be another one than the
// machine's.
const Programs = "HOLDFAST_POSTGRES_PROGRAMS"

// Kind is that of PostgreSQL's servers.
func Kind() servertest.Kind {
	return servertest.Kind{Name: "pgtest", Required: "HOLDFAST_POSTGRES", Port: 25432}
}

// Main runs a package's tests with a server, by m.Run, or what else has them run. With -short it starts none: tests
// have the one that the environment names.
func Main(run func() int) int {
	flag.Parse()
	return Kind().Main(run, func(ctx context.Context) (servertest.Found, error) {
		if testing.Short() && os.Getenv(Environment) == "" {
			return servertest.Found{}, errors.New("with -short no server of PostgreSQL is started: scripts/postgres.sh does")
		}
		at, release, err := Find(ctx)
		return servertest.Found{Environ: []string{Environment + "=" + at}, Release: release}, err
	})
}

// Find returns the URL of a server that a test can use, and how to let go of it.
func Find(ctx context.Context) (at string, release func() error, err error) {
	return find(ctx, func(ctx context.Context) (*Server, error) { return Start(ctx) })
}

// FindShared returns a server for a command that runs the tests of many packages. See servertest.Kind.Shared.
func FindShared(ctx context.Context) (servertest.Found, error) {
	at, release, err := find(ctx, func(ctx context.Context) (*Server, error) {
		port, password, err := Kind().Shared()
		if err != nil {
			return nil, err
		}
		return start(ctx, port, password, nil)
	})
	return servertest.Found{Environ: []string{Environment + "=" + at}, Release: release}, err
}

// find returns the server of the environment, or starts one.
func find(ctx context.Context, start func(context.Context) (*Server, error)) (string, func() error, error) {
	if at := os.Getenv(Environment); at != "" {
		return at, func() error { return nil }, Exec(ctx, at, "SELECT 1")
	}
	s, err := start(ctx)
	if err != nil {
		return "", nil, err
	}
	return s.URL, s.Stop, nil
}

// New returns the URL of a database that the test has for itself. Where no server can be had, it skips the test.
func New(t testing.TB) string {
	t.Helper()
	return Named(t, "holdfast_test_"+strings.ToLower(rand.Text()[:12]))
}

// Named is New with a name of the test's choice.
func Named(t testing.TB, name string) string {
	t.Helper()
	Kind().Need(t)
	if err := Make(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	server := os.Getenv(Environment)
	t.Cleanup(func() {
		if err := Exec(context.Background(), server, `DROP DATABASE IF EXISTS "`+name+`" WITH (FORCE)`); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return At(server, name)
}

// Make makes a database of that name, unless it is there.
func Make(ctx context.Context, name string) error {
	err := Exec(ctx, os.Getenv(Environment), `CREATE DATABASE "`+name+`" ENCODING 'UTF8' TEMPLATE template0`)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42P04" {
		return nil
	}
	return err
}

// Private returns a server that the test may kill, and the URL of a database on it.
func Private(t testing.TB, settings ...string) (*Server, string) {
	t.Helper()
	New(t) // which skips the test where no server can be had
	server, err := Start(t.Context(), settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("stop the server: %v", err)
		}
	})
	return server, server.URL
}

// Proxied returns the URL of a database for the test that is reached through a proxy. Statements are sent each in one
// request, with its text: a cut of an answer to that is one of what the statement did.
func Proxied(t testing.TB) (string, *servertest.Proxy) {
	t.Helper()
	u, err := url.Parse(New(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := servertest.NewProxy(u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(proxy.ListenPort))
	query := u.Query()
	query.Set("default_query_exec_mode", "exec")
	u.RawQuery = query.Encode()
	return u.String(), proxy
}

// At returns the URL of another database of a server.
func At(server, name string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	u.Path = "/" + name
	return u.String()
}

// Password returns the one in a URL.
func Password(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	password, _ := u.User.Password()
	return password
}

// Exec runs a statement in the database of a URL.
func Exec(ctx context.Context, at, statement string) (err error) {
	db, err := sql.Open("pgx", at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, statement)
	return err
}

// Server is a private server.
type Server struct {
	*servertest.Process
	URL string
	dir string
}

// Saved copies what the server stores, and returns how to bring that back: then it is a replica that has not got what
// was written since. Both are for a server that was killed.
func (s *Server) Saved() (back func() error, err error) {
	data, saved := filepath.Join(s.dir, "data"), filepath.Join(s.dir, "saved")
	if out, err := exec.Command("cp", "-a", data, saved).CombinedOutput(); err != nil { // the files stay the server's
		return nil, fmt.Errorf("copy the server's files: %w: %s", err, out)
	}
	return func() error { return errors.Join(os.RemoveAll(data), os.Rename(saved, data)) }, nil
}

// Start runs a private server on a free port, with settings besides the usual ones, such as "fsync=on".
func Start(ctx context.Context, settings ...string) (*Server, error) {
	port, err := servertest.FreePort()
	if err != nil {
		return nil, err
	}
	return start(ctx, port, rand.Text(), settings)
}

// start makes and runs a server at the port, for a user with the password. It runs as somebody who is not root: the
// server refuses that.
func start(ctx context.Context, port int, password string, settings []string) (_ *Server, err error) {
	programs, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "holdfast-postgres-")
	if err != nil {
		return nil, err
	}
	owner, err := initialize(ctx, programs, dir, password)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	line := []string{filepath.Join(programs, "postgres"), "-D", filepath.Join(dir, "data"), "-p", strconv.Itoa(port),
		"-k", dir}
	usual := []string{"listen_addresses=127.0.0.1", "fsync=off", "max_connections=200"}
	for _, setting := range append(usual, settings...) {
		line = append(line, "-c", setting)
	}
	s := &Server{dir: dir, URL: (&url.URL{Scheme: "postgres", User: url.UserPassword("holdfast", password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/postgres", RawQuery: "sslmode=disable"}).String()}
	// QUIT ends its sessions too, and nothing is put in order before.
	s.Process, err = servertest.Start(ctx, servertest.Program{Dir: dir, Line: line, Kill: "QUIT", Owner: owner,
		Up: func(ctx context.Context) error { return Exec(ctx, s.URL, "SELECT 1") }})
	return s, err
}

// initialize makes the data directory, and returns whose it is.
func initialize(ctx context.Context, programs, dir, password string) (*syscall.Credential, error) {
	owner, err := account(dir)
	if err != nil {
		return nil, err
	}
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(password), 0o600); err != nil {
		return nil, err
	}
	if owner != nil {
		if err := os.Chown(secret, int(owner.Uid), int(owner.Gid)); err != nil {
			return nil, err
		}
	}
	c := exec.CommandContext(ctx, filepath.Join(programs, "initdb"), "-D", filepath.Join(dir, "data"), "-U", "holdfast",
		"--pwfile="+secret, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	c.Dir, c.SysProcAttr = dir, &syscall.SysProcAttr{Credential: owner}
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	return owner, nil
}

// programs returns the folder of the newest server that the machine has.
func programs() (string, error) {
	if folder := os.Getenv(Programs); folder != "" {
		return folder, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		if path, err := exec.LookPath("postgres"); err == nil {
			return filepath.Dir(path), nil
		}
		return "", errors.New("PostgreSQL is not installed: apt-get install postgresql, or run scripts/postgres.sh")
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}

// account gives the folder to the server's user, where we are root.
func account(dir string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	found, err := user.Lookup("postgres")
	if err != nil {
		found, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(found.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(found.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
}
