package mysqltest

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// startTimeout is how long a server may take to let us in.
const startTimeout = time.Minute

// supervisor is a shell that starts and kills the server as it is told on stdin. When
// stdin ends, because this process has, it kills the server and removes its directory: so
// nothing stays behind, however a test ends.
const supervisor = `
dir=$1; shift; pid=
end() { if [ -n "$pid" ]; then kill -9 "$pid"; wait "$pid"; pid=; fi; } 2>/dev/null
while read -r command; do
  case $command in
    start) "$@" >>"$dir/log" 2>&1 </dev/null & pid=$! ;;
    kill) end ;;
  esac
  echo "$command"
done
end
rm -rf "$dir"
`

// Server is a private server.
type Server struct {
	Address
	Socket string // also leads to it
	dir    string
	shell  *exec.Cmd
	orders io.WriteCloser
	echo   *bufio.Reader
}

// Start runs a private server, with arguments besides the usual ones. Its user is not
// root, and has a password.
func Start(ctx context.Context, args ...string) (*Server, error) {
	program, err := binary(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "holdfast-mysql-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, Socket: filepath.Join(dir, "s.sock")}
	s.Address = Address{Host: "127.0.0.1", User: "holdfast", Password: rand.Text()}
	if s.Port, err = freePort(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.initialize(ctx, program); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.supervise(program, args); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.Run(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	version, err := s.version(ctx)
	say("started a private server for the tests on port %d, %s", s.Port, version)
	return s, err
}

// initialize makes the data directory.
func (s *Server) initialize(ctx context.Context, program string) error {
	if err := os.WriteFile(s.initFile(), []byte(s.grants()), 0o600); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, program, append([]string{"--no-defaults", "--initialize-insecure"}, s.files()...)...)
	if script, ok := lookUp("mariadb-install-db"); ok && strings.HasSuffix(program, "mariadbd") {
		c = exec.CommandContext(ctx, script, append([]string{"--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"}, s.files()...)...)
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(c.Path), err, out)
	}
	return nil
}

func (s *Server) initFile() string { return filepath.Join(s.dir, "init.sql") }

// grants has one statement in a line, as --init-file wants.
func (s *Server) grants() string {
	var b strings.Builder
	for _, host := range []string{"localhost", "127.0.0.1"} {
		fmt.Fprintf(&b, "CREATE USER IF NOT EXISTS '%s'@'%s' IDENTIFIED BY '%s';\n", s.User, host, s.Password)
		fmt.Fprintf(&b, "GRANT ALL ON *.* TO '%s'@'%s' WITH GRANT OPTION;\n", s.User, host)
	}
	return b.String()
}

func (s *Server) files() []string {
	files := []string{"--datadir=" + filepath.Join(s.dir, "data")}
	if isRoot() {
		files = append(files, "--user=root")
	}
	return files
}

// supervise starts the shell, in a process group of its own: an interrupt at the terminal
// is for the tests, and ends the server through them.
func (s *Server) supervise(program string, more []string) error {
	args := append([]string{"-c", supervisor, "sh", s.dir, program, "--no-defaults"}, s.files()...)
	args = append(args, "--socket="+s.Socket, fmt.Sprintf("--port=%d", s.Port), "--skip-networking=0", "--bind-address=127.0.0.1",
		"--pid-file="+filepath.Join(s.dir, "pid"), "--init-file="+s.initFile(), "--max-connections=300")
	s.shell = exec.Command("sh", append(args, more...)...)
	s.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if s.orders, err = s.shell.StdinPipe(); err != nil {
		return err
	}
	echo, err := s.shell.StdoutPipe()
	if err != nil {
		return err
	}
	s.echo = bufio.NewReader(echo)
	return s.shell.Start()
}

func (s *Server) order(command string) error {
	if _, err := fmt.Fprintln(s.orders, command); err != nil {
		return err
	}
	_, err := s.echo.ReadString('\n')
	return err
}

// Run starts the server, for the first time or after Kill, and waits until it is up.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.order("start"); err != nil {
		return err
	}
	for {
		_, err := s.version(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("the server did not start: %w\n%s", err, log)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Kill ends the server at once, as a crash does.
func (s *Server) Kill() error { return s.order("kill") }

// Stop ends the server for good and removes what it stored.
func (s *Server) Stop() error { return errors.Join(s.orders.Close(), s.shell.Wait()) }

// freePort returns a port that nobody listened on a moment ago.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
