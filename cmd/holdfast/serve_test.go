package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tenant is a shell whose auth file has one organization, and what it needs to call.
type tenant struct {
	*shell
	key newKey
}

func newTenant(t *testing.T) tenant {
	s := newShell(t)
	var made newKey
	if err := json.Unmarshal([]byte(s.must("init", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	return tenant{s, made}
}

// call sends a request and returns status and body.
func (o tenant) call(r *running, method, path, body string) (int, string) {
	o.t.Helper()
	request, err := http.NewRequest(method, "http://"+r.address+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	request.SetBasicAuth(o.key.Organization.String(), o.key.Key)
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		o.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// stateOf returns a state of exactly this many bytes.
func stateOf(size int) string {
	const frame = `{"serial":1,"lineage":"5ad8","filler":""}`
	return strings.Replace(frame, `""`, `"`+strings.Repeat("x", size-len(frame))+`"`, 1)
}

const statePath = "/api/v1/state/x"

// upload begins to send a state, and returns when the server waits for its body.
func (o tenant) upload(r *running, length int) *connection {
	o.t.Helper()
	c := r.dial()
	c.send(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\nExpect: "+
		"100-continue\r\n\r\n",
		statePath, o.key.Key, length))
	if status := c.status(); status != http.StatusContinue {
		o.t.Fatalf("%d; want 100", status)
	}
	return c
}

// An upload that has begun when the server is told to stop is answered, and what was
// answered is there after the next start.
func TestStopFinishesWhatHasBegun(t *testing.T) {
	o := newTenant(t)
	r := o.start()
	body := stateOf(100_000)
	c := o.upload(r, len(body))
	c.send(body[:50_000])
	r.stop()
	r.await("stopping: finishing the requests that have begun")
	r.wantClosed()
	c.send(body[50_000:])
	if status := c.status(); status != http.StatusOK {
		t.Errorf("the upload: %d; want 200", status)
	}
	if code := r.wait(); code != exitOK {
		t.Errorf("exit code %d:\n%s", code, r.log)
	}
	if line := r.await("request"); line["status"] != 200.0 || line["state"] != "x" ||
		line["org"] != o.key.Organization.String() || line["request_id"] == nil {
		t.Errorf("logged %v", line)
	}
	if status, got := o.call(o.start(), "GET", statePath, ""); status != http.StatusOK || got != body {
		t.Errorf("after the next start: %d and %d bytes; want those that were sent", status, len(got))
	}
}

// wantClosed waits until nobody listens any more.
func (r *running) wantClosed() {
	r.t.Helper()
	for begin := time.Now(); time.Since(begin) < patience; {
		conn, err := net.DialTimeout("tcp", r.address, patience)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			_ = conn.Close()
		}
	}
	r.t.Fatal("the server still listens")
}

// What does not finish in time is cut off, stores nothing, and is no success.
func TestStopCutsOffWhatNeverEnds(t *testing.T) {
	o := newTenant(t)
	r := o.start("HOLDFAST_SHUTDOWN_TIMEOUT=100ms")
	c := o.upload(r, 1000)
	c.send(stateOf(1000)[:999])
	r.stop()
	if code := r.wait(); code != exitFailed {
		t.Errorf("exit code %d; want %d:\n%s", code, exitFailed, r.log)
	}
	if answer, err := io.ReadAll(c.in); errors.Is(err, os.ErrDeadlineExceeded) ||
		strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		t.Errorf("the upload: %q, %v; want it cut off", answer, err)
	}
	if status, got := o.call(o.start(), "GET", statePath, ""); status != http.StatusNotFound {
		t.Errorf("after the next start: %d %q; want 404", status, got)
	}
}

func TestServeBoundsStates(t *testing.T) {
	const limit = 5000
	o := newTenant(t)
	r := o.start("HOLDFAST_STATE_MAX_BYTES=" + fmt.Sprint(limit))
	for _, path := range []string{statePath, "/terraform/state/e/p"} {
		if status, got := o.call(r, "POST", path, stateOf(limit+1)); status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s, one byte more: %d %s; want 413", path, status, got)
		}
		if status, got := o.call(r, "POST", path, stateOf(limit)); status != http.StatusOK {
			t.Errorf("%s, at the limit: %d %s; want 200", path, status, got)
		}
		if status, got := o.call(r, "GET", path, ""); status != http.StatusOK || got != stateOf(limit) {
			t.Errorf("%s: %d and %d bytes", path, status, len(got))
		}
	}
}

func TestServeTrustsOnlyTheProxiesOfTheSettings(t *testing.T) {
	o := newTenant(t)
	for _, c := range []struct {
		settings []string
		want     string
	}{
		{nil, "127.0.0.1"},
		{[]string{"HOLDFAST_TRUSTED_PROXIES=192.0.2.0/24"}, "127.0.0.1"},
		{[]string{"HOLDFAST_TRUSTED_PROXIES=192.0.2.0/24, 127.0.0.1"}, "203.0.113.9"},
	} {
		r := o.start(c.settings...)
		conn := r.dial()
		conn.send("GET " + statePath + " HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n")
		if status := conn.status(); status != http.StatusUnauthorized {
			t.Errorf("%v: %d", c.settings, status)
		}
		if line := r.await("request"); line["client"] != c.want {
			t.Errorf("%v: logged %v; want client %s", c.settings, line, c.want)
		}
		r.stop()
		r.wait()
	}
}

// Who sends no request, or never ends its headers, does not hold a connection.
func TestServeBoundsTheTimeOfHeaders(t *testing.T) {
	o := newTenant(t)
	r := o.start("HOLDFAST_READ_HEADER_TIMEOUT=100ms")
	for _, begin := range []string{"", "GET ", "GET /livez HTTP/1.1\r\nHost: x\r\n",
		"GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: "} {
		c := r.dial()
		c.send(begin)
		answer, err := io.ReadAll(c.in)
		if errors.Is(err, os.ErrDeadlineExceeded) || strings.HasPrefix(string(answer), "HTTP/1.1 200") {
			t.Fatalf("%q: %q, %v; want the connection closed", begin, answer, err)
		}
	}
}

func TestServeBoundsHeaders(t *testing.T) {
	o := newTenant(t)
	r := o.start()
	for size, want := range map[int]int{30 << 10: http.StatusOK, 40 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		c := r.dial()
		c.send("GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", size) + "\r\n\r\n")
		if got := c.status(); got != want {
			t.Errorf("a header of %d bytes: %d; want %d", size, got, want)
		}
	}
}

func TestServeClosesIdleConnections(t *testing.T) {
	o := newTenant(t)
	r := o.start("HOLDFAST_IDLE_TIMEOUT=100ms")
	c := r.dial()
	for range 2 {
		c.send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
		if status := c.status(); status != http.StatusOK {
			t.Fatal(status)
		}
	}
	if rest, err := io.ReadAll(c.in); err != nil {
		t.Errorf("%q, %v; want the connection closed", rest, err)
	}
}

// Without TLS a server is not put on the network by accident, and one that is says so.
func TestServePlaintextElsewhere(t *testing.T) {
	o := newTenant(t)
	o.environ = append(o.environ, "HOST=0.0.0.0", "PORT=0", "STORAGE_PATH="+t.TempDir())
	o.refuse(exitFailed, "HOST: \"0.0.0.0\" is reached from other machines", "serve")
	if code, _, errs := o.run("health"); code != exitFailed || strings.Contains(errs, "other machines") {
		t.Errorf("health: exit %d, %s", code, errs)
	}
	r := o.start("HOLDFAST_ALLOW_PLAINTEXT=true")
	if line := r.await("serving without TLS, because allow_plaintext is set: whoever is on the way can read " +
		"keys and states"); line["level"] != "WARN" {
		t.Errorf("logged %v", line)
	}
}

// What asks about the server as a whole is answered as any other request is.
func TestServeAnswersOptions(t *testing.T) {
	c := newTenant(t).start().dial()
	c.send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.Header.Get("X-Request-ID") == "" || answer.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %v", answer.Status, answer.Header)
	}
}

// Scenario: a volume isn't mounted whole, or half of a folder is restored, and a server starts. Served as empty,
// it would have clients make everything anew. Check: it doesn't start, backups and the doctor miss the database,
// and --make-missing gives up what was in it.
func TestMissingDatabaseIsNotServedAsEmpty(t *testing.T) {
	for _, name := range []string{"state.db", "runs.db"} {
		t.Run(name, func(t *testing.T) {
			o := newTenant(t)
			o.beside()
			r := o.start("STORAGE_TYPE=csv")
			if status, text := o.call(r, "POST", statePath, stateOf(100)); status != http.StatusOK {
				t.Fatalf("%d %s", status, text)
			}
			r.stop()
			if code := r.wait(); code != exitOK {
				t.Fatalf("exit code %d", code)
			}
			if err := os.Remove(o.data + "/" + name); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience) // of a server that starts
			defer cancel()
			for _, command := range [][]string{{"serve", "--port", "0"}, {"doctor"},
				{"backup", "-o", t.TempDir() + "/one.hfb", "--unencrypted"}} {
				var out, errs strings.Builder
				code := run(ctx, command, o.app(&out, &errs))
				if code == exitOK || !strings.Contains(out.String()+errs.String(), name+" is missing or empty") &&
					!strings.Contains(out.String()+errs.String(), name+", which has all states, is missing or empty") {
					t.Errorf("%q: exit code %d, %s%s; want %s missed", command, code, &out, &errs, name)
				}
			}
			if _, err := os.Stat(o.data + "/" + name); err == nil {
				t.Errorf("%s was made", name)
			}
			r = o.startWith([]string{"serve", "--make-missing"}, "STORAGE_TYPE=csv")
			r.stop()
			if code := r.wait(); code != exitOK {
				t.Errorf("exit code %d with --make-missing", code)
			}
		})
	}
}
