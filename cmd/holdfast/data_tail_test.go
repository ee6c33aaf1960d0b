package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/logctx/logtest"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

// screen is what a command has printed until now.
type screen struct{ logtest.Journal }

// names are the resources on the screen, in their order.
func (s *screen) names() string {
	var names []string
	for line := range strings.Lines(s.String()) {
		_, rest, _ := strings.Cut(line, `"resource_name":"`)
		name, _, _ := strings.Cut(rest, `"`)
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// tailed is a tail that runs.
type tailed struct {
	t         *testing.T
	out, errs screen
	stop      context.CancelFunc
	code      chan int
}

func (s *shell) tail(args ...string) *tailed {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	r := &tailed{t: s.t, stop: cancel, code: make(chan int, 1)}
	a := &app{stdin: strings.NewReader(""), stdout: &r.out, stderr: &r.errs, environ: s.environ, now: time.Now}
	go func() { r.code <- run(ctx, append([]string{"data", "tail", "--interval", "1s"}, args...), a) }()
	s.t.Cleanup(cancel)
	return r
}

func (r *tailed) await(names string) {
	r.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); r.out.names() != names; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("shows %q, want %q; stderr %s", r.out.names(), names, &r.errs)
		}
	}
}

// end interrupts it, which is how a tail is meant to end.
func (r *tailed) end() {
	r.t.Helper()
	r.stop()
	if code := <-r.code; code != exitOK {
		r.t.Errorf("exit %d: %s", code, &r.errs)
	}
}

func TestTail(t *testing.T) {
	s := newShell(t)
	store := inventorytest.New()
	// An upload of two, of which the first is not among the last two records.
	both := report(acme, time.Hour, "b", `{}`)
	both.Resources = append(both.Resources, report(acme, 0, "c", `{}`).Resources...)
	upload(t, store, report(acme, 0, "a", `{}`), both, report(acme, 2*time.Hour, "d", `{}`),
		report(globex, 0, "secret", `{}`))
	s.serving(store)
	two, since, none, filtered := s.tail("-n", "2"), s.tail("--since", "2026-01-31T13:00:00Z"), s.tail("-n", "0"),
		s.tail("--name", "f")
	two.await("c d")
	since.await("b c d")
	time.Sleep(300 * time.Millisecond) // until all have asked once
	upload(t, store, report(acme, 2*time.Hour, "e", `{}`), report(acme, 3*time.Hour, "f", `{}`))
	two.await("c d e f")
	since.await("b c d e f")
	none.await("e f")
	filtered.await("f")
	for _, r := range []*tailed{two, since, none, filtered} {
		r.end()
	}
}

func TestTailOfNothing(t *testing.T) {
	s := newShell(t)
	store := inventorytest.New()
	s.serving(store)
	r := s.tail()
	r.await("")
	upload(t, store, report(acme, 0, "first", `{}`))
	r.await("first")
	r.end()
}

// More than a page at a time, and an answer that breaks off once: nothing is missing and
// nothing comes twice.
func TestTailGoesOn(t *testing.T) {
	s := newShell(t)
	store := inventorytest.New()
	upload(t, store, report(acme, 0, "a", `{}`))
	many := report(acme, time.Hour, "m", `{}`)
	for range tailPage {
		many.Resources = append(many.Resources, many.Resources[0])
	}
	s.serving(store)
	var trouble atomic.Int32 // what the next answers suffer
	good := strings.TrimPrefix(s.environ[0], "HOLDFAST_ADDR=")
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		forward(t, w, r, good, trouble.Add(-1))
	}))
	t.Cleanup(proxy.Close)
	s.environ[0] = "HOLDFAST_ADDR=" + proxy.URL
	r := s.tail()
	r.await("a")
	trouble.Store(3)
	upload(t, store, many)
	r.await("a" + strings.Repeat(" m", tailPage+1))
	if errs := r.errs.String(); strings.Count(errs, "; trying again") != 1 ||
		!strings.HasSuffix(errs, "the server answers again\n") {
		t.Errorf("stderr %s", errs)
	}
	r.end()
}

// forward passes a request on; at trouble 2 the answer is 503, at 1 it breaks off.
func forward(t *testing.T, w http.ResponseWriter, r *http.Request, to string, trouble int32) {
	if trouble == 2 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	request, err := http.NewRequest(r.Method, to+r.URL.RequestURI(), nil)
	if err != nil {
		t.Error(err)
		return
	}
	request.Header = r.Header
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	w.Header().Set("Content-Encoding", answer.Header.Get("Content-Encoding"))
	if trouble == 1 {
		_, _ = io.CopyN(w, answer.Body, 40)
		panic(http.ErrAbortHandler)
	}
	_, _ = io.Copy(w, answer.Body)
}

func TestTailRefuses(t *testing.T) {
	s := newShell(t)
	server := s.serving(reports(t))
	s.refuse(exitUsage, "--interval at least 1s", "data", "tail", "--interval", "10ms")
	s.refuse(exitUsage, "unknown flag: --until", "data", "tail", "--until", "1h")
	key := s.environ[1]
	s.environ[1] = "HOLDFAST_KEY=hfk_wrong"
	s.refuse(exitFailed, "credentials_wrong", "data", "tail", "--org", someOrg)
	s.environ[1] = key
	server.Close()
	s.refuse(exitFailed, "connection refused", "data", "tail")
}
