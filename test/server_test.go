//go:build e2e

package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// server is a script's Holdfast. Its address stays the same when it is started again.
type server struct {
	dir      string   // where it runs and logs
	environ  []string // its settings
	log      string
	host     string
	address  string // host:port, empty before the first start
	url      string
	process  *process // nil while it does not run
	starting int64    // where the log of this start begins
	ulimit   []string // an option of ulimit and its value, such as -n and 40; empty for what the tests have
}

func newServer(dir string, environ []string) *server {
	host := ownLoopback()
	return &server{
		dir:     dir,
		log:     filepath.Join(dir, "server.log"),
		host:    host,
		environ: append(environ, "HOST="+host, "PORT=0", "HOLDFAST_LOG_FORMAT=json"),
	}
}

func serve(w *world, ts *testscript.TestScript, args []string) error {
	if w.server.address != "" {
		return errors.New("a script has one server; server-start starts it again")
	}
	w.server.environ = append(w.server.environ, args...)
	if err := w.server.start(); err != nil {
		return err
	}
	ts.Setenv("SERVER", w.server.url)
	ts.Setenv("SERVER_PID", strconv.Itoa(w.server.process.cmd.Process.Pid))
	ts.Setenv("HOLDFAST_ADDR", w.server.url)
	return nil
}

// useDatabase gives the script a database, for its server and for commands. With a variable's name, that of one more
// database of the same server is in it.
func useDatabase(w *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 0, 1); err != nil {
		return err
	}
	if len(args) == 1 {
		if w.database == nil {
			return errors.New("the first database has no name")
		}
		more := w.database.more(w.t)
		ts.Setenv(args[0], more.name)
		return nil
	}
	own := testDatabase(w.t, onMySQL)
	w.database = &own
	for _, setting := range own.environ() {
		name, value, _ := strings.Cut(setting, "=")
		ts.Setenv(name, value)
		w.server.environ = append(w.server.environ, setting)
	}
	return nil
}

// serverStart starts the server again, with more of its environment set.
func serverStart(w *world, _ *testscript.TestScript, args []string) error {
	_, port, err := net.SplitHostPort(w.server.address)
	if err != nil {
		return errors.New("the server was never started")
	}
	w.server.environ = append(append(w.server.environ, "PORT="+port), args...)
	return w.server.start()
}

func serverStop(w *world, _ *testscript.TestScript, _ []string) error { return w.server.stop() }

func serverKill(w *world, _ *testscript.TestScript, _ []string) error {
	if w.server.process == nil {
		return errors.New("it does not run")
	}
	_ = w.server.process.end(syscall.SIGKILL) // being killed is no exit code 0
	w.server.process = nil
	return nil
}

// start returns when the server is ready to accept writes.
func (s *server) start() error {
	if err := s.listen(); err != nil {
		return err
	}
	return poll(s.ready)
}

// listen starts the server and returns when it says where it listens.
func (s *server) listen() error {
	if s.process != nil {
		return errors.New("it runs already")
	}
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own handle
	if s.starting, err = log.Seek(0, 2); err != nil {
		return err
	}
	program, args := os.Getenv("HOLDFAST_BIN"), []string{"serve"}
	if s.ulimit != nil {
		program, args = "sh", append([]string{"-c", `ulimit "$2" "$3" && exec "$1" serve`, "sh", program}, s.ulimit...)
	}
	if s.process, err = startProcess(s.dir, s.environ, log, program, args...); err != nil {
		return err
	}
	return poll(s.findAddress)
}

// findAddress reads from the log where the server listens.
func (s *server) findAddress() error {
	if ended, err := s.process.ended(); ended {
		return permanent{fmt.Errorf("the server ended: %w\n%s", errors.Join(err), s.logTail(10))}
	}
	log, err := os.ReadFile(s.log)
	if err != nil {
		return permanent{err}
	}
	for line := range bytes.Lines(log[s.starting:]) {
		if _, found, ok := bytes.Cut(line, []byte("msg=listening address=")); ok { // a log as text
			address, _, _ := strings.Cut(string(found), " ")
			s.address, s.url = address, "http://"+address
			return nil
		}
		var entry struct {
			Msg, Address, URL string
		}
		if json.Unmarshal(line, &entry) == nil && entry.Msg == "listening" {
			s.address, s.url = entry.Address, "http://"+entry.Address
			if strings.HasPrefix(entry.URL, "https:") {
				s.url = "https://" + entry.Address
			}
			return nil
		}
	}
	return errors.New("the server's log does not say where it listens")
}

func (s *server) ready() error {
	answer, err := httpClient.Get(s.url + "/readyz")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz: %s", answer.Status)
	}
	return nil
}

// stop asserts a clean end: exit code 0 in time, and a free port.
func (s *server) stop() error {
	if s.process == nil {
		return errors.New("it does not run")
	}
	err := s.process.end(syscall.SIGTERM)
	s.process = nil
	if err != nil {
		return fmt.Errorf("the server did not end well after SIGTERM: %w", err)
	}
	if conn, err := net.DialTimeout("tcp", s.address, time.Second); err == nil {
		conn.Close()
		return errors.New("somebody still listens on the server's port")
	}
	return nil
}

// end stops what runs still, if anything does.
func (s *server) end() error {
	if s.process == nil {
		return nil
	}
	return s.stop()
}

func (s *server) logTail(n int) string {
	log, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	lines := slices.Collect(strings.Lines(string(log)))
	return strings.Join(lines[max(0, len(lines)-n):], "")
}
