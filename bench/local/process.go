package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// startPatience is far above what a start takes, also after a crash with much to read.
	startPatience = 2 * time.Minute
	// stopPatience is above what a server grants to the requests in flight.
	stopPatience = 40 * time.Second
	// look is how often a process that starts is looked at.
	look = 2 * time.Millisecond
)

// Process is a server that runs.
type Process struct {
	// URL is the base of its addresses.
	URL string
	// Started is how long it took from the start of the process until it was ready.
	Started time.Duration
	dir     string
	cmd     *exec.Cmd
	ended   chan error
	// interrupt asks the process to end, once: a server takes a second signal for
	// impatience.
	interrupt func() error
}

// Start runs a program in dir, with a log file there, and returns when it answers /readyz
// with 200. It must log where it listens as a line of JSON, as `holdfast serve` does. The
// process ends with ctx at the latest; the caller stops it.
func Start(ctx context.Context, dir string, environ []string, program string, args ...string) (*Process, error) {
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own handle
	p := &Process{dir: dir, cmd: exec.CommandContext(ctx, program, args...), ended: make(chan error, 1)}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, environ, log, log
	p.interrupt = sync.OnceValue(func() error { return p.cmd.Process.Signal(syscall.SIGTERM) })
	p.cmd.Cancel = p.interrupt
	p.cmd.WaitDelay = stopPatience
	start := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.ended <- p.cmd.Wait() }()
	if err := p.await(ctx); err != nil {
		text, _ := os.ReadFile(log.Name())
		return nil, errors.Join(fmt.Errorf("%s does not start: %w\n%s", program, err, text), p.Stop())
	}
	p.Started = time.Since(start)
	return p, nil
}

func (p *Process) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for !p.ready(ctx) {
		select {
		case <-tick.C:
		case err := <-p.ended:
			p.ended <- err
			return fmt.Errorf("it ended: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (p *Process) ready(ctx context.Context) bool {
	if p.URL == "" {
		p.URL = p.listening()
	}
	if p.URL == "" {
		return false
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/readyz", nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

// listening reads in the log where the process listens.
func (p *Process) listening() string {
	log, err := os.ReadFile(filepath.Join(p.dir, "log"))
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(log) {
		var entry struct{ Msg, Address string }
		if json.Unmarshal(line, &entry) == nil && entry.Msg == "listening" {
			return "http://" + entry.Address
		}
	}
	return ""
}

// Stop ends the process and waits for it.
func (p *Process) Stop() error {
	if err := p.interrupt(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-p.ended:
		return err
	case <-time.After(stopPatience):
		_ = p.cmd.Process.Kill()
		<-p.ended
		return errors.New("the server had to be killed")
	}
}
