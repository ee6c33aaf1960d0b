package main

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/state"
)

func TestPushFollowsTheClientsRules(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.stdin = network(5, "small")
	if out := s.must("state", "push", "prod/app", "-"); out != "Stored prod/app as version 1 with serial 5.\n" {
		t.Errorf("printed %s", out)
	}
	if out := s.must("state", "push", "prod/app", "-", "--json"); !strings.Contains(out, `"version":1`) {
		t.Errorf("the same again: printed %s", out)
	}
	for want, body := range map[string]string{
		"the serial 4, the state is newer: 5; --force stores it": network(4, "small"),
		"the state's serial 5, but other content; --force":       network(5, "large"),
		"the lineage \"other\", the state \"5ad8\"": strings.Replace(network(6, "large"), "5ad8", "other",
			1),
		"- is no state: state_invalid: the body is empty":             "",
		"- is no state: state_invalid: the body is not a JSON object": "[]",
	} {
		s.stdin = body
		s.refuse(exitFailed, want, "state", "push", "prod/app", "-")
	}
	s.stdin = network(4, "small")
	_, out, errs := s.run("state", "push", "prod/app", "-", "--force")
	if out != "Stored prod/app as version 2 with serial 4.\n" ||
		errs != "Warning: the server's guards have found: serial_back.\n" {
		t.Errorf("printed %s%s", out, errs)
	}
	has(t, s.must("state", "versions", "prod/app", "--limit", "1"), "2 4 1 ")
	if out := s.must("lock", "list"); strings.Count(out, "\n") != 1 {
		t.Errorf("a lock was left behind:\n%s", out)
	}
	s.refuse(exitFailed, "no such file", "state", "push", "prod/app", "nowhere.tfstate")
}

// intercepted passes on what a handler does not answer itself, and remembers the methods.
type intercepted struct {
	next   http.Handler
	answer func(w http.ResponseWriter, r *http.Request) bool

	mu   sync.Mutex
	seen []string
}

func (i *intercepted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.seen = append(i.seen, r.Method)
	i.mu.Unlock()
	if !i.answer(w, r) {
		i.next.ServeHTTP(w, r)
	}
}

// methods are those of the requests so far.
func (i *intercepted) methods() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.seen)
}

// Whatever becomes of the write, the lock does not stay.
func TestPushReleasesItsLock(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"refused": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				http.Error(w, `{"code":"store_full","message":"no space","request_id":"r"}`, http.StatusInsufficientStorage)
			}
			return r.Method == http.MethodPost
		},
		"broken off": func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				panic(http.ErrAbortHandler)
			}
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			server := s.keeping(state.DefaultPolicy())
			server.Config.Handler = &intercepted{next: server.Config.Handler, answer: answer}
			s.stdin = network(1, "small")
			if code, out, errs := s.run("state", "push", "app", "-"); code != exitFailed || out != "" {
				t.Errorf("exit %d, printed %s%s", code, out, errs)
			}
			if out := s.must("lock", "list"); strings.Count(out, "\n") != 1 {
				t.Errorf("a lock was left behind:\n%s", out)
			}
		})
	}
}

// A signal in the middle of the write ends it, and releases the lock all the same.
func TestInterruptedPushReleasesItsLock(t *testing.T) {
	s := newShell(t)
	server := s.keeping(state.DefaultPolicy())
	ctx, interrupt := context.WithCancel(t.Context())
	server.Config.Handler = &intercepted{next: server.Config.Handler,
		answer: func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost {
				return false
			}
			_, _ = io.Copy(io.Discard, r.Body) // from then on the server notices that the client leaves
			interrupt()
			<-r.Context().Done()
			return true
		}}
	s.stdin = network(1, "small")
	var out, errs strings.Builder
	a := s.app(&out, &errs)
	if code := run(ctx, []string{"state", "push", "app", "-"}, a); code != exitFailed ||
		!strings.Contains(errs.String(), "context canceled") {
		t.Errorf("exit %d, printed %s%s", code, &out, &errs)
	}
	if out := s.must("lock", "list"); strings.Count(out, "\n") != 1 {
		t.Errorf("a lock was left behind:\n%s", out)
	}
}

// An answer to LOCK that got lost may have granted it.
func TestLostLockIsReleased(t *testing.T) {
	s := newShell(t)
	server := s.keeping(state.DefaultPolicy())
	passed := &intercepted{next: server.Config.Handler}
	passed.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == "LOCK" {
			passed.next.ServeHTTP(discarded{header: http.Header{}}, r)
			panic(http.ErrAbortHandler)
		}
		return false
	}
	server.Config.Handler = passed
	s.stdin = network(1, "small")
	if code, _, _ := s.run("state", "push", "app", "-"); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	if out := s.must("lock", "list"); strings.Count(out, "\n") != 1 {
		t.Errorf("a lock was left behind:\n%s", out)
	}
	if got := strings.Join(passed.methods(), " "); got != "LOCK UNLOCK GET" {
		t.Errorf("sent %s", got)
	}
}

// discarded is an answer that nobody gets.
type discarded struct{ header http.Header }

func (d discarded) Header() http.Header          { return d.header }
func (discarded) WriteHeader(int)                {}
func (discarded) Write(text []byte) (int, error) { return len(text), nil }

// Who holds the lock is said in the words of the holder.
func TestPushMeetsALock(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.hold("app", "11111111-aaaa", "carol@laptop\x1b[2J")
	s.stdin = network(1, "small")
	s.refuse(exitFailed, `409: carol@laptop\x1b[2J holds the lock 11111111-aaaa for OperationTypeApply since 2026-01-02T03:04:05Z (request `, "state", "push", "app", "-")
	if out := s.must("lock", "list"); strings.Count(out, "11111111-aaaa") != 1 {
		t.Errorf("printed\n%s", out)
	}
}
