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
	"io"
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
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver that databases are made with

	"github.com/holdfast/holdfast/storage/serverdb/serverdbtest"
)

// Environment is the variable that names a server which is there, by a URL of its database postgres.
const Environment = "HOLDFAST_POSTGRES_URL"

// missing tells New why Main found no server, and required has New fail then.
const (
	missing  = "HOLDFAST_POSTGRES_MISSING"
	required = "HOLDFAST_POSTGRES"
)

// Main runs a package's tests with a server, by m.Run, or what else has them run. With -short no test has one.
func Main(run func() int) int {
	flag.Parse()
	if testing.Short() || os.Getenv(Environment) != "" {
		return run()
	}
	s, err := Start(context.Background())
	if err != nil {
		_ = os.Setenv(missing, err.Error())
		return run()
	}
	_ = os.Setenv(Environment, s.URL)
	code := run()
	if err := s.Stop(); err != nil {
		fmt.Fprintf(os.Stderr, "pgtest: end the server: %v\n", err)
		return max(code, 1)
	}
	return code
}

// New returns the URL of a database that the test has for itself. Where no server can be had, it skips the test.
func New(t testing.TB) string {
	t.Helper()
	return Named(t, "holdfast_test_"+strings.ToLower(rand.Text()[:12]))
}

// Named is New with a name of the test's choice.
func Named(t testing.TB, name string) string {
	t.Helper()
	if reason := os.Getenv(missing); reason != "" {
		if os.Getenv(required) == "required" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
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
func Proxied(t testing.TB) (string, *serverdbtest.Proxy) {
	t.Helper()
	u, err := url.Parse(New(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := serverdbtest.NewProxy(u.Host)
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
	URL     string
	dir     string
	args    []string // the program and its arguments
	owner   *syscall.Credential
	process *exec.Cmd
	orders  io.WriteCloser // of the shell that runs it: a signal's name
}

// startTimeout is how long a server may take to let us in.
const startTimeout = time.Minute

// Start runs a private server, with settings besides the usual ones, such as "fsync=on".
func Start(ctx context.Context, settings ...string) (_ *Server, err error) {
	programs, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "holdfast-postgres-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	owner, err := account(dir)
	if err != nil {
		return nil, err
	}
	password := rand.Text()
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(password), 0o600); err != nil {
		return nil, err
	}
	if owner != nil {
		if err := os.Chown(secret, int(owner.Uid), int(owner.Gid)); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(dir, "data")
	initdb := s.command(filepath.Join(programs, "initdb"), owner, "-D", data, "-U", "holdfast", "--pwfile="+secret,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s.args = []string{filepath.Join(programs, "postgres"), "-D", data, "-p", strconv.Itoa(port), "-k", dir}
	usual := []string{"listen_addresses=127.0.0.1", "fsync=off", "max_connections=200"}
	for _, setting := range append(usual, settings...) {
		s.args = append(s.args, "-c", setting)
	}
	s.owner = owner
	s.URL = (&url.URL{Scheme: "postgres", User: url.UserPassword("holdfast", password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/postgres", RawQuery: "sslmode=disable"}).String()
	return s, s.Run(ctx)
}

// Run starts the server, for the first time or after Kill, and waits until it is up.
func (s *Server) Run(ctx context.Context) (err error) {
	// The shell ends the server when its input ends: also when this process is killed.
	s.process = s.command("/bin/sh", s.owner, append([]string{"-c",
		`"$@" <&- & p=$!; read how; kill -${how:-INT} $p; wait $p`, "sh"}, s.args...)...)
	if s.orders, err = s.process.StdinPipe(); err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		s.process = nil
		return err
	}
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := Exec(ctx, s.URL, "SELECT 1")
		if err == nil || time.Since(began) > startTimeout {
			return err
		}
	}
}

// command runs as somebody who is not root: the server refuses that.
func (s *Server) command(program string, owner *syscall.Credential, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Dir = s.dir
	c.SysProcAttr = &syscall.SysProcAttr{Credential: owner, Setpgid: true}
	return c
}

// Kill ends the server as a power cut does.
func (s *Server) Kill() error {
	_, err := io.WriteString(s.orders, "QUIT\n")
	_ = s.process.Wait()
	s.process = nil
	return err
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() error {
	if s.process != nil {
		_ = s.orders.Close() // INT, the fast way: it ends the sessions
		_ = s.process.Wait()
	}
	return os.RemoveAll(s.dir)
}

// programs returns the folder of the newest server that the machine has.
func programs() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		if path, err := exec.LookPath("postgres"); err == nil {
			return filepath.Dir(path), nil
		}
		return "", errors.New("PostgreSQL is not installed: apt-get install postgresql")
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

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
