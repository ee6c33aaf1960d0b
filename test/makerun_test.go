//go:build e2e

package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// made is a `make run` that serves.
type made struct {
	t       *testing.T
	process *process
	log     string
	address string
}

func makeRun(t *testing.T, clone string, environ []string) *made {
	t.Helper()
	m := &made{t: t, log: filepath.Join(t.TempDir(), "make.log")}
	log, err := os.Create(m.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if m.process, err = startProcess(clone, environ, log, "make", "run"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.process.end(syscall.SIGTERM) })
	// The build comes first, so this may take longer than what scripts wait for.
	if err := pollFor(3*time.Minute, m.listens); err != nil {
		t.Fatalf("%v\n%s", err, m.output())
	}
	return m
}

func (m *made) listens() error {
	if ended, err := m.process.ended(); ended {
		return permanent{fmt.Errorf("make run ended: %w", err)}
	}
	for line := range strings.Lines(m.output()) {
		var entry struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" {
			m.address = entry.Address
			return nil
		}
	}
	return errors.New("nothing listens")
}

func (m *made) output() string {
	text, err := os.ReadFile(m.log)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// stop ends make as a service manager would; make hands the signal on, and then reports
// it as an error of its own.
func (m *made) stop() {
	m.t.Helper()
	_ = m.process.end(syscall.SIGTERM)
	if out := m.output(); !strings.Contains(out, `"msg":"stopping`) {
		m.t.Errorf("the server was not stopped in order:\n%s", out)
	}
	if conn, err := net.DialTimeout("tcp", m.address, time.Second); err == nil {
		conn.Close()
		m.t.Error("somebody still listens on the server's port")
	}
}
