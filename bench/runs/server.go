package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// server is a server with one organization whose runs it executes itself, and what the
// organization calls it by.
type server struct {
	dir, binary, tool string
	slots             int
	port              int
	org, key          string
	process           *exec.Cmd
}

func startServer(ctx context.Context, dir string, o options) (*server, error) {
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, binary: binary, tool: o.tool, slots: max(o.atOnce, 2)}
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	said, err := s.command(ctx, binary, "init", "--json").Output()
	if err != nil {
		return nil, fmt.Errorf("holdfast init: %w", err)
	}
	var made struct{ Organization, Key string }
	if err := json.Unmarshal(said, &made); err != nil {
		return nil, err
	}
	s.org, s.key = made.Organization, made.Key
	if err := s.holdfast(ctx, "tool", "add", "opentofu", o.version, o.tool); err != nil {
		return nil, err
	}
	s.process = s.command(context.WithoutCancel(ctx), binary, "serve")
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	return s, s.ready(ctx)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (s *server) ready(ctx context.Context) error {
	for range 100 {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address(s.port)+"/readyz", nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("the server does not become ready")
}

func (s *server) stop() {
	_ = s.process.Process.Signal(os.Interrupt)
	_ = s.process.Wait()
}

// command runs in the server's folder, with nothing of this process's environment but PATH.
func (s *server) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = s.dir
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "PORT=" + strconv.Itoa(s.port), "HOLDFAST_STATE_RATE_LIMIT=off",
		"HOLDFAST_RATE_LIMIT=off",
		"HOLDFAST_ADDR=" + address(s.port), "HOLDFAST_KEY=" + s.key, "HOLDFAST_RUNS_SLOTS=" + strconv.Itoa(s.slots),
		"CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0",
	}
	return c
}

func do(c *exec.Cmd) error {
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c.Args[1], err, lastLines(string(out)))
	}
	return nil
}

func (s *server) holdfast(ctx context.Context, args ...string) error {
	return do(s.command(ctx, s.binary, args...))
}

// The folders of the bare tool and of what is pushed.
func (s *server) bareFolder(n int) string { return filepath.Join(s.dir, "bare", strconv.Itoa(n)) }
func (s *server) pushed(n int) string     { return filepath.Join(s.dir, "pushed", strconv.Itoa(n)) }

// prepare writes the configuration before a plan: an apply follows the plan of the same values.
func (s *server) prepare(ctx context.Context, name string, n, i, kind int) error {
	switch kind {
	case 0:
		return writeConfiguration(s.bareFolder(n), configuration(n, i, true))
	case 2:
		if err := writeConfiguration(s.pushed(n), configuration(n, i, false)); err != nil {
			return err
		}
		return s.holdfast(ctx, "config", "push", name, s.pushed(n))
	}
	return nil
}

// bare plans, or plans and applies, with the tool alone: init, as a fresh checkout needs it,
// then the rest.
func (s *server) bare(ctx context.Context, n, _ int, apply bool) error {
	steps := [][]string{{"init", "-input=false"}, {"plan", "-input=false", "-out=plan"}}
	if apply {
		steps = append(steps, []string{"apply", "-input=false", "plan"})
	}
	state := fmt.Sprintf("%s/api/v1/state/bare/r%d", address(s.port), n)
	for _, step := range steps {
		c := s.command(ctx, s.tool, step...)
		c.Dir = s.bareFolder(n)
		c.Env = append(c.Env, "TF_HTTP_ADDRESS="+state, "TF_HTTP_LOCK_ADDRESS="+state, "TF_HTTP_UNLOCK_ADDRESS="+state,
			"TF_HTTP_USERNAME="+s.org, "TF_HTTP_PASSWORD="+s.key)
		if err := do(c); err != nil {
			return err
		}
	}
	return nil
}

// through has the server do the same.
func (s *server) through(ctx context.Context, name string, _, _ int, apply bool) error {
	if apply {
		return s.holdfast(ctx, "run", "apply", name, "--auto-approve")
	}
	err := s.holdfast(ctx, "run", "plan", name)
	if changes, ok := err.(interface{ Unwrap() error }); ok {
		if exit, ok := changes.Unwrap().(*exec.ExitError); ok && exit.ExitCode() == 2 {
			return nil // there are changes
		}
	}
	return err
}
