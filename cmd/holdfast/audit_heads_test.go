package main

import (
	"database/sql"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestAuditHeads: a server signs the ends of its audit log and sends them to a file, an address and a syslog. They show
// that somebody has made the log anew, hashes and all, which nothing in the store does.
func TestAuditHeads(t *testing.T) {
	o := newTenant(t)
	file := filepath.Join(t.TempDir(), "heads")
	var mu sync.Mutex
	posted := ""
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		posted += string(text)
	}))
	defer hook.Close()
	syslog, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer syslog.Close()
	r := o.start("HOLDFAST_AUDIT_HEAD_FILE="+file, "HOLDFAST_AUDIT_HEAD_WEBHOOK="+hook.URL,
		"HOLDFAST_AUDIT_HEAD_SYSLOG=udp://"+syslog.LocalAddr().String(), "HOLDFAST_AUDIT_HEAD_EVERY=10ms")
	o.reaching(r)
	signer, _ := r.await("heads of the audit log are signed and sent")["signer"].(string)
	o.push("app", network(1, "small"))
	lines := func() int {
		text, _ := os.ReadFile(file)
		return strings.Count(string(text), "\n")
	}
	await(t, func() bool { return lines() >= 1 })
	message := make([]byte, 4096)
	if err := syslog.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if n, _, err := syslog.ReadFrom(message); err != nil || !strings.HasPrefix(string(message[:n]), "<109>1 ") ||
		!strings.Contains(string(message[:n]), `"organization":"`+o.key.Organization.String()) {
		t.Errorf("syslog has %q, %v", message[:n], err)
	}
	await(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(posted, `"signature":`)
	})
	before := lines()
	o.push("app", network(2, "small", "large"))
	await(t, func() bool { return lines() > before })
	out := o.must("audit", "verify", "--heads", file, "--signer", signer)
	if !strings.Contains(out, "as they were written") {
		t.Errorf("verify says %s", out)
	}
	o.fails("is signed by", "audit", "verify", "--heads", file, "--signer", "0f0f")
	r.stop()
	r.wait()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	forged := o.write("forged", strings.Replace(string(text), `"entries":`, `"entries":9`, 1))

	// Who has the database takes all of the log away, and a new one begins.
	db, err := sql.Open("sqlite", filepath.Join(o.file+".data", "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"DELETE FROM events", "DELETE FROM chains"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r = o.start()
	o.reaching(r)
	o.fails("the signature is not of this head", "audit", "verify", "--heads", forged)
	o.push("app", network(3, "small"))
	o.push("app", network(4, "small"))
	if code, out, _ := o.run("audit", "verify", "--heads", file); code != exitFailed ||
		!strings.Contains(out, "is not in the log") {
		t.Errorf("verify says with exit %d: %s", code, out)
	}
}

// await returns when something has become so.
func await(t *testing.T, so func() bool) {
	t.Helper()
	for begin := time.Now(); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > patience {
			t.Fatal("it does not become so")
		}
	}
}
