//go:build e2e

package test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
)

// TestLoadAtKilled: a load that rolls states back to a time, and is killed at any moment, leaves nothing that a server
// serves, or all of it. A server waits where a part is there, and the next load takes that away.
func TestLoadAtKilled(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	l := newLoading(t)
	at := l.writeMore()
	l.load = []string{"backup", "load", "restored", "--at", at}
	during := 0
	for round := range 6 {
		if l.kill([]string{"LIKE '%'", "= 'state_heads'"}[min(round, 1)]) {
			l.again()
			continue
		}
		l.idle()
		switch there := l.count("NOT LIKE 'restoring%'"); {
		case there == 0:
		case l.unfinished():
			if l.count("= 'state_heads'") > 0 {
				during++
			}
			if round == 0 || during == 1 {
				l.waits()
			}
		case len(l.dump()) > 0:
			l.serves() // it was killed before it could remove the files
			l.again()
		}
	}
	if during == 0 {
		t.Error("none was killed while it rolled states back")
	}
	l.waitsFor(func() { output(t, l.dir, l.to, os.Getenv("HOLDFAST_BIN"), l.load...) })
	if l.unfinished() || l.count("LIKE 'restoring%'") > 0 {
		t.Error("what the killed ones left is there")
	}
	l.serves()
}

// writeMore writes a second version of each state behind a time, which it returns, and backs up anew.
func (l *loading) writeMore() (at string) {
	l.Helper()
	s := newServer(l.dir, slices.Clone(l.settings))
	l.must(s.start())
	l.org.base = s.url
	at = time.Now().Format(time.RFC3339Nano)
	for name, body := range l.bodies {
		later := strings.Replace(body, `"serial":1`, `"serial":2`, 1)
		answer, err := l.org.send("POST", "/api/v1/state/"+name, []byte(later))
		l.must(err)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			l.Fatal(answer.Status)
		}
		l.bodies[name] = strings.Replace(body, `"serial":1`, `"serial":3`, 1) // as a rollback to the first has it
	}
	l.must(s.stop())
	output(l.T, l.dir, l.settings, os.Getenv("HOLDFAST_BIN"), "backup", "-o", "one.hfb", "--unencrypted", "--overwrite")
	l.again()
	return at
}

func (l *loading) unfinished() bool {
	l.Helper()
	if l.count("= 'moves'") == 0 {
		return false
	}
	return l.number(l.database, "SELECT COUNT(*) FROM "+l.database.name+".moves WHERE role = 'target'") > 0
}

// waits wants a server to serve nothing of what is there.
func (l *loading) waits() {
	l.Helper()
	log, end := l.waiting()
	defer end()
	if text, err := os.ReadFile(log); err != nil || bytes.Contains(text, []byte(`"listening"`)) {
		l.Errorf("it serves: %s, %v", text, err)
	}
}

// waitsFor wants a server that waits to serve when something was done, and nothing before that.
func (l *loading) waitsFor(do func()) {
	l.Helper()
	if !l.unfinished() {
		do()
		return
	}
	log, end := l.waiting()
	defer end()
	do()
	if text, err := os.ReadFile(log); err != nil || bytes.Contains(text, []byte("taken away")) {
		l.Errorf("it did not wait: %s, %v", text, err)
	}
	l.says(log, `"listening"`)
}

// waiting starts a server that waits, and returns where its log is and what ends it.
func (l *loading) waiting() (log string, end func()) {
	l.Helper()
	file, err := os.Create(filepath.Join(l.dir, "waiting.log"))
	l.must(err)
	defer file.Close()
	p, err := startProcess(l.dir, l.to, file, os.Getenv("HOLDFAST_BIN"), "serve")
	l.must(err)
	l.says(file.Name(), "waiting for the end of a move")
	return file.Name(), func() { _ = p.end(syscall.SIGTERM) }
}

func (l *loading) says(log, words string) {
	l.Helper()
	l.must(poll(func() error {
		text, err := os.ReadFile(log)
		if err == nil && !bytes.Contains(text, []byte(words)) {
			err = os.ErrNotExist
		}
		return err
	}))
}
