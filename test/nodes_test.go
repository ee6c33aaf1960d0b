//go:build e2e

package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
)

// nodes are two servers that share a database and nothing else, behind a balancer.
type nodes struct {
	*testing.T
	dir     string
	environ []string // what both and the commands have
	both    [2]*server
	front   string // where the balancer listens
	org     uuid.UUID
	key     string
}

func newNodes(t *testing.T, on databaseKind) *nodes {
	n := &nodes{T: t, dir: t.TempDir()}
	n.environ = append(freshEnviron(), testDatabase(t, on).environ()...)
	n.environ = append(n.environ, on.engines()...)
	n.environ = append(n.environ, "HOLDFAST_NOTICE_NETWORKS=127.0.0.0/8", "HOLDFAST_AUTH_SOURCE=database",
		"HOLDFAST_SEAL_MASTER_KEY_FILE="+filepath.Join(n.dir, "master.key"), "HOLDFAST_NODES_COUNT=2",
		"HOLDFAST_STATE_RATE_LIMIT=off")
	var made struct {
		Organization uuid.UUID
		Key          string
	}
	n.must(json.Unmarshal(n.holdfast("init", "--org-name", "Acme", "--auth-file", "auth.cfg", "--json"), &made))
	n.org, n.key = made.Organization, made.Key
	n.holdfast("auth", "push", "auth.cfg")
	for i := range n.both {
		dir := filepath.Join(n.dir, string(rune('a'+i)))
		n.must(os.Mkdir(dir, 0o700))
		n.both[i] = newServer(dir, append(n.environ, "STORAGE_PATH="+filepath.Join(dir, "data")))
		n.must(n.both[i].start())
		t.Cleanup(func() {
			if err := n.both[i].end(); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				t.Logf("node %d:\n%s", i, n.both[i].logTail(20))
			}
		})
	}
	n.balance()
	return n
}

func (n *nodes) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

// holdfast runs a command on a machine where no node runs.
func (n *nodes) holdfast(args ...string) []byte {
	n.Helper()
	return output(n.T, n.dir, append(n.environ, "STORAGE_PATH="+filepath.Join(n.dir, "nothing")),
		os.Getenv("HOLDFAST_BIN"), args...)
}

// balance sends each request to the other node than the one before. A node that can't be connected
// to gets none, as with any balancer.
func (n *nodes) balance() {
	var mu sync.Mutex
	turn := 0
	next := func() int {
		mu.Lock()
		defer mu.Unlock()
		turn++
		return turn
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme = "http"
		for range n.both {
			r.Out.URL.Host = n.both[next()%len(n.both)].address
			if conn, err := net.DialTimeout("tcp", r.Out.URL.Host, time.Second); err == nil {
				conn.Close()
				return
			}
		}
	}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	n.must(err)
	server := &http.Server{Handler: proxy}
	go func() { _ = server.Serve(listener) }()
	n.Cleanup(func() { _ = server.Close() })
	n.front = "http://" + listener.Addr().String()
}

// ask sends a request to a node with a key, and returns the status and the body.
func (n *nodes) ask(base, method, path, body, key string) (int, string) {
	n.Helper()
	status, said, err := n.send(base, method, path, body, key)
	n.must(err)
	return status, said
}

// send is ask for who goes on after an error.
func (n *nodes) send(base, method, path, body, key string) (int, string, error) {
	request, err := http.NewRequestWithContext(n.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.SetBasicAuth(n.org.String(), key)
	answer, err := httpClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(said), err
}

// want is ask by the usual key, and wants a status.
func (n *nodes) want(status int, node int, method, path, body string) string {
	n.Helper()
	got, said := n.ask(n.both[node].url, method, path, body, n.key)
	if got != status {
		n.Fatalf("%s %s on node %d: %d, want %d: %s", method, path, node, got, status, said)
	}
	return said
}

func lockInfo(id string) string {
	return fmt.Sprintf(`{"ID":%q,"Operation":"OperationTypeApply","Info":"","Who":"ann@laptop","Version":"1.9.0","Created":"2026-03-04T05:06:07Z","Path":""}`, id)
}

func serialBody(serial int) string {
	return fmt.Sprintf(`{"version":4,"terraform_version":"1.9.0","serial":%d,"lineage":"6f2bcb34-2ec9-4b9f-9d8e-0e9e2a1d4c11","outputs":{},"resources":[]}`, serial)
}

// TestTwoNodes locks on one node, writes on the other and reads on the first, again and again: what
// one has acknowledged the other serves at once, though it had the version before in memory.
func TestTwoNodes(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	onEach(t, testTwoNodes)
}

func testTwoNodes(t *testing.T, on databaseKind) {
	n := newNodes(t, on)
	for i := 1; i <= 20; i++ {
		one, other := i%2, (i+1)%2
		id := uuid.NewString()
		n.want(200, one, "LOCK", "/api/v1/state/app", lockInfo(id))
		n.want(409, other, "LOCK", "/api/v1/state/app", lockInfo(uuid.NewString()))
		n.want(200, other, "POST", "/api/v1/state/app?ID="+id, serialBody(i))
		for _, node := range []int{one, other, one} {
			if got := n.want(200, node, "GET", "/api/v1/state/app", ""); got != serialBody(i) {
				t.Fatalf("node %d serves %s after write %d", node, got, i)
			}
		}
		n.want(200, one, "UNLOCK", "/api/v1/state/app", lockInfo(id))
	}
	n.want(200, 0, "DELETE", "/api/v1/state/app", "")
	n.want(404, 1, "GET", "/api/v1/state/app", "")
}

// TestKeysOfTwoNodes: when a command has added or revoked a key, all nodes know.
func TestKeysOfTwoNodes(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	onEach(t, testKeysOfTwoNodes)
}

func testKeysOfTwoNodes(t *testing.T, on databaseKind) {
	n := newNodes(t, on)
	whoami := func(node int, key string) int {
		status, _ := n.ask(n.both[node].url, "GET", "/api/v1/whoami", "", key)
		return status
	}
	began := time.Now()
	key := strings.TrimSpace(string(n.holdfast("key", "add", "Acme", "--name", "ci")))
	took := time.Since(began)
	for node := range n.both {
		if status := whoami(node, key); status != 200 {
			t.Errorf("node %d does not know a key that was added: %d", node, status)
		}
	}
	t.Logf("a key was good on both nodes after %v", took)
	n.holdfast("key", "revoke", "Acme", "ci", "--yes")
	for node := range n.both {
		if status := whoami(node, key); status != 401 {
			t.Errorf("node %d knows a key that was revoked: %d", node, status)
		}
	}
	if said := n.want(200, 0, "GET", "/readyz", ""); strings.Contains(said, "stale") {
		t.Error(said)
	}
	if out := n.holdfast("auth", "pull", "-"); !bytes.Contains(out, []byte("name = Acme")) ||
		bytes.Contains(out, []byte("ci")) {
		t.Errorf("the database has\n%s", out)
	}
	if said := n.want(200, 1, "GET", "/api/v1/whoami", ""); !strings.Contains(said, `"nodes":2`) {
		t.Error(said)
	}
}

// TestNodeKilledWhileLocked: a client that holds a lock goes on through the other node.
func TestNodeKilledWhileLocked(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	onEach(t, testNodeKilledWhileLocked)
}

func testNodeKilledWhileLocked(t *testing.T, on databaseKind) {
	n := newNodes(t, on)
	id := uuid.NewString()
	n.want(200, 0, "LOCK", "/api/v1/state/app", lockInfo(id))
	_ = n.both[0].process.end(syscall.SIGKILL)
	n.both[0].process = nil
	n.want(200, 1, "LOCK", "/api/v1/state/app", lockInfo(id)) // again: the answer may have been lost
	n.want(409, 1, "LOCK", "/api/v1/state/app", lockInfo(uuid.NewString()))
	for range 2 { // the second is a retry, which makes no version
		n.want(200, 1, "POST", "/api/v1/state/app?ID="+id, serialBody(1))
	}
	n.want(200, 1, "UNLOCK", "/api/v1/state/app", lockInfo(id))
	var versions struct{ Versions []json.RawMessage }
	n.must(json.Unmarshal([]byte(n.want(200, 1, "GET", "/api/v1/state/app/-/versions", "")), &versions))
	if len(versions.Versions) != 1 {
		t.Errorf("%d versions", len(versions.Versions))
	}
}

// TestClientOfTwoNodes is a real client behind a balancer, whose requests go to one node and the
// other in turn, and then to the one that is left while it applies.
func TestClientOfTwoNodes(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	onEach(t, testClientOfTwoNodes)
}

func testClientOfTwoNodes(t *testing.T, on databaseKind) {
	n := newNodes(t, on)
	tofu, project := program(t, "TOFU_BIN"), filepath.Join(n.dir, "project")
	n.must(os.Mkdir(project, 0o700))
	address := n.front + "/api/v1/state/prod/app"
	main := `terraform {
  backend "http" {
    address        = "` + address + `"
    lock_address   = "` + address + `"
    unlock_address = "` + address + `"
    username       = "` + n.org.String() + `"
  }
}
variable "n" { default = 1 }
variable "wait" { default = "true" }
resource "terraform_data" "one" {
  input            = var.n
  triggers_replace = var.n
  provisioner "local-exec" { command = "touch begun-${var.n}; ${var.wait}" }
}
`
	n.must(os.WriteFile(filepath.Join(project, "main.tf"), []byte(main), 0o600))
	environ := append(freshEnviron(), "TF_HTTP_PASSWORD="+n.key, "TF_CLI_ARGS=-no-color", "CHECKPOINT_DISABLE=1",
		"TF_CLI_CONFIG_FILE="+os.DevNull)
	run(t, project, environ, tofu, "init")
	for i := 1; i <= 3; i++ {
		run(t, project, environ, tofu, "apply", "-auto-approve", fmt.Sprint("-var=n=", i))
		if out := run(t, project, environ, tofu, "plan", fmt.Sprint("-var=n=", i)); !strings.Contains(out, "No changes") {
			t.Fatalf("a plan after apply %d says\n%s", i, out)
		}
	}
	applied := make(chan string)
	go func() {
		applied <- run(t, project, environ, tofu, "apply", "-auto-approve", "-var=n=4",
			"-var=wait=while ! test -e go-on; do sleep 0.1; done")
	}()
	n.must(poll(func() error {
		_, err := os.Stat(filepath.Join(project, "begun-4"))
		return err
	}))
	_ = n.both[0].process.end(syscall.SIGKILL)
	n.both[0].process = nil
	n.must(os.WriteFile(filepath.Join(project, "go-on"), nil, 0o600))
	if out := <-applied; !strings.Contains(out, "Apply complete") {
		t.Errorf("the apply says\n%s", out)
	}
	if out := run(t, project, environ, tofu, "plan", "-var=n=4"); !strings.Contains(out, "No changes") {
		t.Errorf("a plan after it says\n%s", out)
	}
}

// edit changes auth.cfg as a person does: takes it out of the database, and brings it back.
func (n *nodes) edit(add ...string) {
	n.Helper()
	text := strings.Replace(string(n.holdfast("auth", "pull", "-")), "name = Acme\n", "name = Acme\n"+
		strings.Join(add, "\n")+"\n", 1)
	n.must(os.WriteFile(filepath.Join(n.dir, "edited.cfg"), []byte(text), 0o600))
	n.holdfast("auth", "push", "--replace", "edited.cfg")
}

// TestNoticesOfTwoNodes: each event is told by one node, whichever it went through, and by the other
// one when that is killed.
func TestNoticesOfTwoNodes(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	onEach(t, testNoticesOfTwoNodes)
}

func testNoticesOfTwoNodes(t *testing.T, on databaseKind) {
	n, r := newNodes(t, on), &receiver{took: map[uint64]map[string]int{}}
	hook := httptest.NewServer(r)
	t.Cleanup(hook.Close)
	n.edit("notify_url = "+hook.URL+"/hook", "notify_events = state.write", "notify_header = X-Token: s3cret",
		"notify_secret = whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	for i := 1; i <= 10; i++ {
		n.want(200, i%2, "POST", "/api/v1/state/app", serialBody(i))
	}
	n.must(poll(func() error { return r.missing(10) }))
	r.mu.Lock()
	for version, ids := range r.took {
		for id, times := range ids {
			if len(ids) != 1 || times != 1 {
				t.Errorf("version %d was told %d times as %s", version, times, id)
			}
		}
	}
	r.mu.Unlock()
	_ = n.both[0].process.end(syscall.SIGKILL) // which began first, and so tells
	n.both[0].process = nil
	n.want(200, 1, "POST", "/api/v1/state/app", serialBody(11))
	n.must(poll(func() error { return r.missing(11) }))
}
