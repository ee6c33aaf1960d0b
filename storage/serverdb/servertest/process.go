package servertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// startTimeout is how long a server may take to let us in.
const startTimeout = time.Minute

// supervisor is a shell that starts and kills the server as it is told on stdin. When stdin ends, because this process
// has, it kills the server and removes its folder: so nothing stays behind, however a test ends.
const supervisor = `
dir=$1 signal=$2; shift 2; pid=
end() { if [ -n "$pid" ]; then kill "-$signal" "$pid"; wait "$pid"; pid=; fi; } 2>/dev/null
while read -r command; do
  case $command in
    start) "$@" >>"$dir/log" 2>&1 </dev/null & pid=$! ;;
    kill) end ;;
  esac
  echo "$command"
done
end
rm -rf "$dir" 2>/dev/null
exit 0 # what another account may not remove, Stop does
`

// Process is a server in a folder of its own, which goes with it.
type Process struct {
	dir    string
	up     func(context.Context) error
	shell  *exec.Cmd
	orders io.WriteCloser
	echo   *bufio.Reader
}

// Program is how a server is run.
type Program struct {
	Dir   string   // its folder
	Line  []string // the command line
	Kill  string   // the signal that ends it as a power cut does
	Owner *syscall.Credential
	// Up returns nil once the server lets us in.
	Up func(context.Context) error
}

// Start runs a server, and returns when it is up. Where it fails, it removes the folder.
func Start(ctx context.Context, p Program) (*Process, error) {
	s := &Process{dir: p.Dir, up: p.Up}
	s.shell = exec.Command("/bin/sh", append([]string{"-c", supervisor, "sh", p.Dir, p.Kill}, p.Line...)...)
	s.shell.Dir = p.Dir
	// A process group of its own: an interrupt at the terminal is for the tests, and ends the server through them.
	s.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: p.Owner}
	var err error
	if s.orders, err = s.shell.StdinPipe(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.Dir))
	}
	echo, err := s.shell.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.Dir))
	}
	s.echo = bufio.NewReader(echo)
	if err := s.shell.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.Dir))
	}
	if err := s.Run(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// Dir is the server's folder, with its data below data.
func (s *Process) Dir() string { return s.dir }

func (s *Process) order(command string) error {
	if _, err := fmt.Fprintln(s.orders, command); err != nil {
		return err
	}
	_, err := s.echo.ReadString('\n')
	return err
}

// Run starts the server, for the first time or after Kill, and waits until it is up.
func (s *Process) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.order("start"); err != nil {
		return err
	}
	for {
		err := s.up(ctx)
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
func (s *Process) Kill() error { return s.order("kill") }

// Stop ends the server for good and removes what it stored.
func (s *Process) Stop() error {
	return errors.Join(s.orders.Close(), s.shell.Wait(), os.RemoveAll(s.dir))
}
