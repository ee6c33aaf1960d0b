package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is far above what any of these tests needs.
const patience = 2 * time.Minute

// running is a server in this process, started as its command does it.
type running struct {
	t       *testing.T
	address string
	log     *watched
	stop    context.CancelFunc
	ended   chan struct{} // closed when it has ended
	code    int           // how; read after ended
}

// start serves the auth file and the data folder of s, with settings as NAME=VALUE. A
// server that the test leaves running must end well.
func (s *shell) start(settings ...string) *running {
	s.t.Helper()
	return s.startWith([]string{"serve"}, settings...)
}

// startWith is start with other words than serve alone.
func (s *shell) startWith(words []string, settings ...string) *running {
	s.t.Helper()
	r := &running{t: s.t, log: newWatched(), ended: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	a := &app{
		stdin: strings.NewReader(""), stdout: r.log, stderr: r.log, now: time.Now,
		environ: append([]string{
			"HOLDFAST_AUTH_FILE=" + s.file, "STORAGE_PATH=" + s.file + ".data", "HOST=127.0.0.1", "PORT=0",
			"HOLDFAST_LOG_FORMAT=json",
		}, settings...),
	}
	go func() {
		defer close(r.ended)
		r.code = run(ctx, words, a)
	}()
	s.t.Cleanup(func() {
		if stop(); r.wait() != exitOK && !s.t.Failed() {
			s.t.Errorf("the server ended with code %d:\n%s", r.code, r.log)
		}
	})
	r.address, _ = r.await("listening")["address"].(string)
	return r
}

// wait returns the exit code of a server that was told to stop. Only the first call finds
// out about another than exitOK: a test that expects one takes it.
func (r *running) wait() int {
	r.t.Helper()
	select {
	case <-r.ended:
		code := r.code
		r.code = exitOK
		return code
	case <-time.After(patience):
		r.t.Fatalf("the server does not end:\n%s", r.log)
		return 0
	}
}

// await returns the first line of the log with this message.
func (r *running) await(message string) map[string]any {
	r.t.Helper()
	return r.awaitNth(message, 1)
}

// awaitNth returns the nth line with this message, counted from 1.
func (r *running) awaitNth(message string, nth int) map[string]any {
	r.t.Helper()
	late := time.After(patience)
	for {
		line, more := r.log.find(message, nth)
		if line != nil {
			return line
		}
		select {
		case <-more:
		case <-r.ended:
			if line, _ := r.log.find(message, nth); line != nil {
				return line
			}
			r.t.Fatalf("the server ended with code %d and did not log %q:\n%s", r.code, message, r.log)
		case <-late:
			r.t.Fatalf("the server does not log %q:\n%s", message, r.log)
		}
	}
}

// connection is a client that says what it likes.
type connection struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

func (r *running) dial() *connection {
	r.t.Helper()
	conn, err := net.DialTimeout("tcp", r.address, patience)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		r.t.Fatal(err)
	}
	return &connection{conn, r.t, bufio.NewReader(conn)}
}

func (c *connection) send(text string) {
	c.t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// status reads one answer, which has no body that matters.
func (c *connection) status() int {
	c.t.Helper()
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatalf("no answer: %v", err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// watched is a log that can be waited for.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed at the next line
}

func newWatched() *watched { return &watched{more: make(chan struct{})} }

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.more)
	w.more = make(chan struct{})
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// find returns the nth line with this message, or what will be closed when there are more
// lines.
func (w *watched) find(message string, nth int) (map[string]any, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for text := range bytes.Lines(w.text.Bytes()) {
		var line map[string]any
		if json.Unmarshal(text, &line) == nil && line["msg"] == message {
			if nth--; nth == 0 {
				return line, nil
			}
		}
	}
	return nil, w.more
}
