//go:build e2e

package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
)

// mover is a server that is moved, with a client's project.
type mover struct {
	*nodes         // for its requests; its nodes are not started
	project string // of a client
	client  []string
}

// newMover makes an organization, whose key is good at all servers of the test, and a project whose
// state is at an address.
func newMover(t *testing.T) *mover {
	n := &nodes{T: t, dir: t.TempDir()}
	n.environ = append(freshEnviron(), testDatabase(t, onMySQL).environ()...)
	n.environ = append(n.environ, "HOLDFAST_AUTH_FILE="+filepath.Join(n.dir, "auth.cfg"),
		"HOLDFAST_SEAL_MASTER_KEY_FILE="+filepath.Join(n.dir, "master.key"), "HOLDFAST_STATE_RATE_LIMIT=off",
		"HOLDFAST_RATE_LIMIT=off")
	var made struct {
		Organization uuid.UUID
		Key          string
	}
	n.must(json.Unmarshal(n.holdfast("init", "--org-name", "Acme", "--auth-file", "auth.cfg", "--json"), &made))
	n.org, n.key = made.Organization, made.Key
	m := &mover{nodes: n, project: filepath.Join(n.dir, "project")}
	n.must(os.Mkdir(m.project, 0o700))
	m.client = append(freshEnviron(), "TF_HTTP_PASSWORD="+n.key, "TF_CLI_ARGS=-no-color", "CHECKPOINT_DISABLE=1",
		"TF_CLI_CONFIG_FILE="+os.DevNull)
	return m
}

// at are the settings of who uses a folder.
func (m *mover) at(folder string, more ...string) []string {
	return append(append(append([]string{}, m.environ...), "STORAGE_PATH="+filepath.Join(m.dir, folder)), more...)
}

// serve starts a server that the test stops.
func (m *mover) serve(folder string, more ...string) *server {
	m.Helper()
	dir := filepath.Join(m.dir, "at-"+uuid.NewString()[:8])
	m.must(os.Mkdir(dir, 0o700))
	s := newServer(dir, m.at(folder, more...))
	m.Cleanup(func() {
		if s.process != nil {
			_ = s.process.end(syscall.SIGKILL)
		}
		if m.Failed() {
			m.Logf("server of %s:\n%s", folder, s.logTail(20))
		}
	})
	m.must(s.start())
	return s
}

// configure has the project's state at a server.
func (m *mover) configure(base string) {
	m.Helper()
	address := base + "/api/v1/state/prod/app"
	m.must(os.WriteFile(filepath.Join(m.project, "main.tf"), fmt.Appendf(nil, `terraform {
  backend "http" {
    address        = %[1]q
    lock_address   = %[1]q
    unlock_address = %[1]q
    username       = %[2]q
  }
}
variable "n" { default = 1 }
resource "terraform_data" "one" { input = var.n }
`, address, m.org), 0o600))
	m.tofu("init", "-reconfigure")
}

func (m *mover) tofu(args ...string) string {
	m.Helper()
	return run(m.T, m.project, m.client, program(m.T, "TOFU_BIN"), args...)
}

func (m *mover) migrate(folder string, args ...string) string {
	m.Helper()
	return run(m.T, m.dir, m.at(folder), os.Getenv("HOLDFAST_BIN"), append([]string{"migrate"}, args...)...)
}

// story is all that a server tells of what it keeps.
func (m *mover) story(base string) string {
	m.Helper()
	var all strings.Builder
	tell := func(path string) string {
		status, said := m.ask(base, "GET", path, "", m.key)
		if strings.HasPrefix(path, "/api/v1/data") { // says which request it answers, and where an engine has it
			said = regexp.MustCompile(`"(request_id|last)":"[^"]*"`).ReplaceAllString(said, "")
		}
		if strings.HasPrefix(path, "/api/v1/audit") { // what is asked here is itself on record as read
			said = regexp.MustCompile(`\{[^{}]*"action":"state\.read"[^{}]*\},?`).ReplaceAllString(said, "")
		}
		fmt.Fprintf(&all, "%s: %d %s\n", path, status, said)
		return said
	}
	for _, state := range []string{"prod/app", "locked", "many/0", "many/19"} {
		var versions struct{ Versions []struct{ Version int } }
		m.must(json.Unmarshal([]byte(tell("/api/v1/state/"+state+"/-/versions")), &versions))
		for _, v := range versions.Versions {
			tell(fmt.Sprintf("/api/v1/state/%s/-/versions/%d", state, v.Version))
		}
		tell("/api/v1/state/" + state + "/-/lock")
	}
	tell("/api/v1/audit?limit=200")
	tell("/api/v1/states")
	tell("/api/v1/data?limit=100")
	tell("/api/v1/workspaces/prod/app")
	return all.String()
}

func (m *mover) sameStory(want, got string) {
	m.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		m.Errorf("a server tells another story after the move:\n%.3000s", diff)
	}
}

// fill has a client and others write something of everything.
func (m *mover) fill(base string) {
	m.Helper()
	m.configure(base)
	for i := 1; i <= 3; i++ {
		m.tofu("apply", "-auto-approve", fmt.Sprint("-var=n=", i))
	}
	want := func(status int, method, path, body string) {
		m.Helper()
		if got, said := m.ask(base, method, path, body, m.key); got != status {
			m.Fatalf("%s %s: %d %s", method, path, got, said)
		}
	}
	for i := range 20 {
		for serial := 1; serial <= 3; serial++ {
			want(200, "POST", fmt.Sprint("/api/v1/state/many/", i), serialBody(serial))
		}
	}
	want(200, "LOCK", "/api/v1/state/locked", lockInfo("11111111-0000-0000-0000-000000000001"))
	want(200, "POST", "/api/v1/state/locked?ID=11111111-0000-0000-0000-000000000001", serialBody(1))
	want(200, "POST", "/api/v1/upload", `{"provider":"aws","category":"compute","resource_type":"vm_instance",
		"instances":[{"resource_name":"web","attributes":{"size":"t2.micro"}}]}`)
	environ := append(append([]string{}, m.environ...), "HOLDFAST_ADDR="+base, "HOLDFAST_KEY="+m.key)
	run(m.T, m.dir, environ, os.Getenv("HOLDFAST_BIN"), "workspace", "create", "prod/app", "--tool", "opentofu")
	run(m.T, m.dir, environ, os.Getenv("HOLDFAST_BIN"), "workspace", "set", "prod/app", "--var", "n=3")
}

// TestMigrate moves a server's folder into a database while moves are killed, serves that by two nodes,
// and moves it back. A client's state, the lock that somebody holds, the log and all else are the same.
func TestMigrate(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	m := newMover(t)
	one := m.serve("data")
	m.fill(one.url)
	refused := exec.Command(os.Getenv("HOLDFAST_BIN"), "migrate", "--from", "sqlite", "--to", "mysql")
	refused.Dir, refused.Env = m.dir, m.at("data")
	if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), "in use") {
		t.Errorf("a folder that is served is moved: %v\n%s", err, out)
	}
	want := m.story(one.url)
	m.must(one.stop())

	m.killed("data")
	m.refused("data", "was moved to")
	var both [2]*server
	for i := range both {
		both[i] = m.serve(fmt.Sprint("node", i), onMySQL.engines()...)
		m.sameStory(want, m.story(both[i].url))
	}
	m.configure(both[0].url)
	if out := m.tofu("plan", "-var=n=3"); !strings.Contains(out, "No changes") {
		t.Errorf("a plan after the move says\n%s", out)
	}
	m.tofu("apply", "-auto-approve", "-var=n=4")
	if status, said := m.ask(both[1].url, "UNLOCK", "/api/v1/state/locked",
		lockInfo("11111111-0000-0000-0000-000000000001"), m.key); status != http.StatusOK {
		t.Errorf("the lock that was held can't be released: %d %s", status, said)
	}
	want = m.story(both[0].url)
	for _, node := range both {
		m.must(node.stop())
	}

	t.Logf("\n%s", m.migrate("back", "--from", "mysql", "--to", "sqlite", "--json"))
	m.refused("node0", "was moved to", onMySQL.engines()...)
	again := m.serve("back")
	m.sameStory(want, m.story(again.url))
	m.configure(again.url)
	if out := m.tofu("plan", "-var=n=4"); !strings.Contains(out, "No changes") {
		t.Errorf("a plan after the way back says\n%s", out)
	}
	m.tofu("apply", "-auto-approve", "-var=n=5")
	m.must(again.stop())
}

// killed begins moves, and kills each a little later than the one before, until one comes to its end.
func (m *mover) killed(folder string) {
	m.Helper()
	kills := 0
	for after := 3 * time.Second; ; after += 25 * time.Millisecond {
		var said bytes.Buffer
		p, err := startProcess(m.dir, m.at(folder), &said, os.Getenv("HOLDFAST_BIN"), "migrate", "--from", "sqlite",
			"--to", "mysql")
		m.must(err)
		select {
		case <-p.done:
			if p.err != nil {
				m.Fatalf("%v: %s", p.err, &said)
			}
			m.Logf("%d moves were killed before one ended\n%s", kills, &said)
			return
		case <-time.After(after):
		}
		_ = p.end(syscall.SIGKILL)
		if kills++; kills == 5 {
			m.refusedWaiting()
		}
	}
}

// refusedWaiting makes sure that nobody serves the half of a move.
func (m *mover) refusedWaiting() {
	m.Helper()
	s := newServer(m.dir, m.at("nothing", onMySQL.engines()...))
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	m.must(err)
	defer log.Close()
	s.process, err = startProcess(s.dir, s.environ, log, os.Getenv("HOLDFAST_BIN"), "serve")
	m.must(err)
	m.must(poll(func() error {
		if text := s.logTail(5); !strings.Contains(text, "waiting for the end of a move") {
			return fmt.Errorf("the log says %s", text)
		}
		return nil
	}))
	_ = s.process.end(syscall.SIGTERM)
}

// refused makes sure that a server does not start, and says why.
func (m *mover) refused(folder, why string, more ...string) {
	m.Helper()
	cmd := exec.Command(os.Getenv("HOLDFAST_BIN"), "serve")
	cmd.Dir, cmd.Env = m.dir, append(m.at(folder, more...), "PORT=0")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), why) {
		m.Errorf("a server starts, or says nothing of it: %v\n%s", err, out)
	}
}

// writer locks, writes, reads and releases a state of its own again and again, as a client without
// retries does, and knows what was acknowledged.
type writer struct {
	*mover
	base, name string
	serial     int
	longest    time.Duration
}

func (w *writer) run(stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		began, id := time.Now(), uuid.NewString()
		w.serial++
		for _, call := range [][3]string{{"LOCK", "", lockInfo(id)}, {"POST", "?ID=" + id, serialBody(w.serial)},
			{"GET", "", ""}, {"UNLOCK", "", lockInfo(id)}} {
			status, said, err := w.send(w.base, call[0], "/api/v1/state/"+w.name+call[1], call[2], w.key)
			if err != nil || status != http.StatusOK {
				return fmt.Errorf("%s %s: %d %s, %w", call[0], w.name, status, said, err)
			}
			if call[0] == "GET" && said != serialBody(w.serial) {
				return fmt.Errorf("%s is served as %s after write %d", w.name, said, w.serial)
			}
		}
		w.longest = max(w.longest, time.Since(began))
	}
}

// printed is what a process prints, which is looked into while it does.
type printed struct {
	mu     sync.Mutex
	text   bytes.Buffer
	wanted string
	found  chan struct{} // closed when the wanted text was printed
}

func (o *printed) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := strings.Contains(o.text.String(), o.wanted)
	n, err := o.text.Write(p)
	if !before && strings.Contains(o.text.String(), o.wanted) {
		close(o.found)
	}
	return n, err
}

func (o *printed) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// TestMigrateLive moves a folder into a database while clients work: none of their calls fails, and all
// that was acknowledged, before, during and after the switch, is there.
func TestMigrateLive(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	m := newMover(t)
	settings := []string{"STORAGE_TYPE=mysql", "STATE_STORAGE=sqlite"}
	old := m.serve("data", settings...)
	m.configure(old.url)
	m.tofu("apply", "-auto-approve", "-var=n=1")
	stop, ended := make(chan struct{}), make(chan error, 4)
	var writers []*writer
	for i := range cap(ended) {
		w := &writer{mover: m, base: old.url, name: fmt.Sprint("busy/", i)}
		writers = append(writers, w)
		go func() { ended <- w.run(stop) }()
	}
	applied := make(chan string)
	go func() {
		var out string
		for n := 2; n < 8; n++ {
			out = m.tofu("apply", "-auto-approve", fmt.Sprint("-var=n=", n))
		}
		applied <- out
	}()

	port := freePort(t, "127.0.0.1")
	said := &printed{found: make(chan struct{}), wanted: "Start the server at"}
	p, err := startProcess(m.dir, m.at("data", settings...), said, os.Getenv("HOLDFAST_BIN"), "migrate",
		"--from", "sqlite", "--to", "mysql", "--without-uploads", "--live", "--then", "http://127.0.0.1:"+port)
	m.must(err)
	select {
	case <-said.found: // the database is marked: a node that starts now waits
	case <-p.done:
		t.Fatalf("%v: %s", p.err, said)
	}
	node := newServer(filepath.Join(m.dir, "project"), m.at("node", onMySQL.engines()...))
	node.environ = append(node.environ, "HOST=127.0.0.1", "PORT="+port)
	m.must(node.start())
	t.Cleanup(func() {
		_ = node.process.end(syscall.SIGKILL)
		if t.Failed() {
			t.Logf("the node:\n%s", node.logTail(20))
		}
	})
	<-p.done
	if p.err != nil {
		t.Fatalf("%v: %s", p.err, said)
	}
	t.Logf("\n%s", said)
	time.Sleep(time.Second) // of writes after the switch
	close(stop)
	for range writers {
		m.must(<-ended)
	}
	if out := <-applied; !strings.Contains(out, "Apply complete") {
		t.Errorf("the last apply says\n%s", out)
	}
	for _, w := range writers {
		status, got := m.ask(node.url, "GET", "/api/v1/state/"+w.name, "", m.key)
		if status != http.StatusOK || got != serialBody(w.serial) {
			t.Errorf("%s is %d %s at the node after write %d", w.name, status, got, w.serial)
		}
		var versions struct{ Versions []struct{ Version int } }
		_, list := m.ask(node.url, "GET", "/api/v1/state/"+w.name+"/-/versions?limit=1", "", m.key)
		m.must(json.Unmarshal([]byte(list), &versions))
		if versions.Versions[0].Version != w.serial {
			t.Errorf("%s has %d versions after %d writes", w.name, versions.Versions[0].Version, w.serial)
		}
		t.Logf("%s: %d writes, the longest of LOCK, POST, GET and UNLOCK took %v", w.name, w.serial, w.longest)
	}
	m.configure(node.url)
	if out := m.tofu("plan", "-var=n=7"); !strings.Contains(out, "No changes") {
		t.Errorf("a plan at the node says\n%s", out)
	}
	m.must(old.stop())
	m.refused("data", "was moved to", settings...)
}
