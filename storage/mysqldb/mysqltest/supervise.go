package mysqltest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

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

// supervise starts the shell, in a process group of its own: an interrupt at the terminal
// is for the tests, and ends the server through them.
func (s *Server) supervise(program string, more []string) error {
	args := append([]string{"-c", supervisor, "sh", s.dir, program, "--no-defaults"}, s.files()...)
	args = append(args, "--socket="+s.Socket, fmt.Sprintf("--port=%d", s.Port), "--skip-networking=0",
		"--bind-address=127.0.0.1",
		"--pid-file="+filepath.Join(s.dir, "pid"), "--init-file="+s.initFile(), "--max-connections=300",
		"--loose-mysqlx=OFF") // which would open another port, where there is such a thing
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

// Saved copies what the server stores, and returns how to bring that back: then it is a replica that has
// not got what was written since. Both are for a server that was killed.
func (s *Server) Saved() (back func() error, err error) {
	data, saved := filepath.Join(s.dir, "data"), filepath.Join(s.dir, "saved")
	if err := os.CopyFS(saved, os.DirFS(data)); err != nil {
		return nil, err
	}
	return func() error { return errors.Join(os.RemoveAll(data), os.Rename(saved, data)) }, nil
}

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
