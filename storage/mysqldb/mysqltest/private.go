package mysqltest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/holdfast/holdfast/storage/serverdb/servertest"
)

// Server is a private server.
type Server struct {
	*servertest.Process
	Address
	Socket string // also leads to it
	dir    string
}

// Start runs a private server on a free port, with arguments besides the usual ones. Its user is not root, and has a
// password.
func Start(ctx context.Context, args ...string) (*Server, error) {
	port, err := servertest.FreePort()
	if err != nil {
		return nil, err
	}
	return start(ctx, port, rand.Text(), args)
}

// StartShared is Start for a command that runs the tests of many packages: see servertest.Kind.Shared. The server does
// not wait for the disk: it outlives the tests, which lose nothing of it.
func StartShared(ctx context.Context, args ...string) (*Server, error) {
	port, password, err := Kind().Shared()
	if err != nil {
		return nil, err
	}
	args = append(args, "--innodb-flush-log-at-trx-commit=0", "--sync-binlog=0", "--innodb-doublewrite=OFF")
	return start(ctx, port, password, args)
}

// start makes and runs a server at the port, for a user with the password.
func start(ctx context.Context, port int, password string, args []string) (*Server, error) {
	program, err := binary(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "holdfast-mysql-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, Socket: filepath.Join(dir, "s.sock")}
	s.Address = Address{Host: "127.0.0.1", Port: port, User: "holdfast", Password: password}
	if err := s.initialize(ctx, program); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	line := append([]string{program, "--no-defaults"}, s.files()...)
	line = append(line, "--socket="+s.Socket, fmt.Sprintf("--port=%d", s.Port), "--skip-networking=0",
		"--bind-address=127.0.0.1", "--pid-file="+filepath.Join(s.dir, "pid"), "--init-file="+s.initFile(),
		"--max-connections=300", "--loose-mysqlx=OFF") // which would open another port, where there is such a thing
	s.Process, err = servertest.Start(ctx, servertest.Program{Dir: dir, Kill: "KILL", Line: append(line, args...),
		Up: func(ctx context.Context) error {
			_, err := s.version(ctx)
			return err
		}})
	if err != nil {
		return nil, err
	}
	version, err := s.version(ctx)
	say("started a private server for the tests on port %d, %s", s.Port, version)
	return s, err
}

// Saved copies what the server stores, and returns how to bring that back: then it is a replica that has
// not got what was written since. Both are for a server that was killed.
func (s *Server) Saved() (back func() error, err error) {
	data, saved := filepath.Join(s.dir, "data"), filepath.Join(s.dir, "saved")
	if err := os.CopyFS(saved, os.DirFS(data)); err != nil {
		return nil, err
	}
	return func() error { return errors.Join(os.RemoveAll(data), os.Rename(saved, data)) }, nil
}

// initialize makes the data directory.
func (s *Server) initialize(ctx context.Context, program string) error {
	if err := os.WriteFile(s.initFile(), []byte(s.grants()), 0o600); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, program, append([]string{"--no-defaults", "--initialize-insecure"}, s.files()...)...)
	if script, ok := lookUp("mariadb-install-db"); ok && strings.HasSuffix(program, "mariadbd") {
		c = exec.CommandContext(ctx, script,
			append([]string{"--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"}, s.files()...)...)
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(c.Path), err, out)
	}
	return nil
}

func (s *Server) initFile() string { return filepath.Join(s.dir, "init.sql") }

// grants has one statement in a line, as --init-file wants. The password is in no log.
func (s *Server) grants() string {
	var b strings.Builder
	b.WriteString("SET sql_log_bin = 0;\n")
	for _, host := range []string{"localhost", "127.0.0.1"} {
		fmt.Fprintf(&b, "CREATE USER IF NOT EXISTS '%s'@'%s' IDENTIFIED BY '%s';\n", s.User, host, s.Password)
		fmt.Fprintf(&b, "GRANT ALL ON *.* TO '%s'@'%s' WITH GRANT OPTION;\n", s.User, host)
	}
	return b.String()
}

// files are its own, temporary ones too: a server that starts deletes those that another
// one has in the same directory.
func (s *Server) files() []string {
	files := []string{"--datadir=" + filepath.Join(s.dir, "data"), "--tmpdir=" + s.dir}
	if isRoot() {
		files = append(files, "--user=root")
	}
	return files
}
