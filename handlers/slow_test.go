package handlers_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/middleware"
)

// connection is a client that sends what it likes, when it likes.
type connection struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

func dialled(t *testing.T, url string) connection {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // far beyond what it takes
	return connection{conn, t, bufio.NewReader(conn)}
}

// post sends a request's headers, and what there is of its body.
func (c connection) post(who caller, path string, length int, begin string) {
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nX-Org-ID: %s\r\nX-API-Key: %s\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, who.user, who.key, length, begin)
}

// status is 0 when the connection ends without an answer.
func (c connection) status() int {
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// trickle sends text piece by piece, until somebody hangs up.
func (c connection) trickle(text string, piece int, pause time.Duration) {
	for len(text) > 0 {
		n := min(piece, len(text))
		if _, err := io.WriteString(c, text[:n]); err != nil {
			return
		}
		text = text[n:]
		time.Sleep(pause)
	}
}

// Vulnerability: a client that sends a byte now and then holds what its request has.
// Check: it is cut off, with an answer that says why; and meanwhile it held no place.
func TestSlowBodies(t *testing.T) {
	const rate = 64 << 10
	deps, _ := heldDeps(t, middleware.Limits{InFlight: 2, Memory: middleware.NewMemory(4 << 20),
		Pace: middleware.Pace{Silence: 300 * time.Millisecond, MinRate: rate}})
	server := startServer(t, deps)
	c := newCaller(t, server, acme, acmeKey)
	whole, all := largeState(200_000), sync.WaitGroup{}
	for name, send := range map[string]func(connection, string){
		"silent":         func(connection, string) {},
		"a byte at once": func(conn connection, text string) { conn.trickle(text, 1, 20*time.Millisecond) },
		"half the rate":  func(conn connection, text string) { conn.trickle(text, rate/40, 50*time.Millisecond) },
		"fast, then not": func(conn connection, text string) { conn.trickle(text[:len(text)/2], 1<<20, 0) },
	} {
		for path, length := range map[string]int{"/api/v1/state/x": 200_000, "/terraform/state/e/p": 200_000,
			"/api/v1/state/x/lock": 60_000, "/upload": 200_000} {
			all.Go(func() { wantCutOff(t, c, path, name, func(conn connection) { send(conn, whole[:length]) }, length) })
		}
	}
	all.Wait()
	has(t, c.do("GET /metrics", "").body, `holdfast_limits_refused_total\{reason="slow"\} 16`)
	c.converse([]step{{"GET /api/v1/state/x", "", 404, ""}})
	wantIdle(t, server.URL)
}

func wantCutOff(t *testing.T, c caller, path, how string, send func(connection), length int) {
	conn := dialled(t, c.url)
	defer conn.Close()
	conn.post(c, path, length, "")
	go send(conn)
	if got := conn.status(); got != http.StatusRequestTimeout {
		t.Errorf("%s to %s: %d, want 408", how, path, got)
	}
	if _, err := io.Copy(io.Discard, conn.in); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s to %s: the connection stays", how, path)
	}
}

// Vulnerability: a request announces a body where none is needed, and never sends it. The
// server waits for the body's end before it answers, and meanwhile the request has its
// place and the memory of its answer.
// Check: each is answered all the same, and its connection ends.
func TestBodiesNobodyReads(t *testing.T) {
	deps, _ := heldDeps(t, middleware.Limits{InFlight: 20, Memory: middleware.NewMemory(4 << 20)})
	server := startServer(t, deps)
	c := newCaller(t, server, acme, acmeKey)
	c.converse([]step{{"POST /api/v1/state/x", largeState(100_000), 200, ""}})
	var all sync.WaitGroup
	for _, path := range []string{"/api/v1/state/x", "/api/v1/state/x/lock", "/api/v1/whoami", "/livez", "/metrics"} {
		for _, body := range []string{"Content-Length: 10", "Transfer-Encoding: chunked"} {
			all.Go(func() {
				conn := dialled(t, c.url)
				defer conn.Close()
				fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nX-Org-ID: %s\r\nX-API-Key: %s\r\n%s\r\n\r\n", path, c.user, c.key,
					body)
				if got := conn.status(); got != http.StatusOK {
					t.Errorf("%s with %s: %d", path, body, got)
				}
				if _, err := io.Copy(io.Discard, conn.in); errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%s with %s: the connection stays", path, body)
				}
			})
		}
	}
	all.Wait()
	wantIdle(t, server.URL)
}

// A slow line at twice the least rate gets two megabytes through, which takes longer than
// the grace.
func TestSlowButHonest(t *testing.T) {
	t.Parallel() // it waits
	const rate = 256 << 10
	deps := testDeps(t)
	deps.MaxStateBytes = 2 << 20
	deps.Limits = middleware.Limits{Pace: middleware.Pace{Silence: 3 * time.Second, MinRate: rate}}
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	conn := dialled(t, c.url)
	defer conn.Close()
	whole := largeState(2 << 20)
	conn.post(c, "/api/v1/state/x", len(whole), "")
	start := time.Now()
	conn.trickle(whole, 2*rate/20, 50*time.Millisecond)
	if got := conn.status(); got != 200 {
		t.Errorf("%d after %v", got, time.Since(start))
	}
	c.converse([]step{{"GET /api/v1/state/x", "", 200, "=" + whole}})
}

// Who takes no answer is cut off, and what it had taken is free again.
func TestSlowReaders(t *testing.T) {
	t.Parallel() // it waits
	deps, _ := heldDeps(t, middleware.Limits{InFlight: 3, Memory: middleware.NewMemory(128 << 20),
		Pace: middleware.Pace{Silence: 2 * time.Second, MinRate: 1 << 10}})
	deps.MaxStateBytes = 32 << 20
	server := startServer(t, deps)
	c := newCaller(t, server, acme, acmeKey)
	c.converse([]step{{"POST /api/v1/state/x", largeState(30 << 20), 200, ""}}) // more than sockets hold
	conn := dialled(t, server.URL)
	defer conn.Close()
	fmt.Fprintf(conn, "GET /api/v1/state/x HTTP/1.1\r\nHost: x\r\nX-Org-ID: %s\r\nX-API-Key: %s\r\n\r\n", acme, acmeKey)
	awaitGauge(t, server.URL, "holdfast_in_flight_bytes "+metric(30<<20))
	wantIdle(t, server.URL)
	response, err := http.ReadResponse(conn.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, response.Body); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes, %v; want it cut off", n, err)
	}
	if got := c.do("GET /api/v1/state/x", ""); got.status != 200 || got.body != largeState(30<<20) {
		t.Errorf("who reads at once: %d, %d bytes", got.status, len(got.body))
	}
}
