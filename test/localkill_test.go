//go:build e2e

package test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/internal/suite"
)

// localBench is a server, and folders whose partitions are made on this machine.
type localBench struct {
	*tenant
	t      *testing.T
	server *server
	tools  string // the folder with the tool
}

func newLocalBench(t *testing.T) *localBench {
	dir := t.TempDir()
	o := addTenants(t, dir+"/auth.cfg", 1)[0]
	(&neighbours{t: t, dir: dir}).addSettings(o, "state_rate_limit = off", "rate_limit = off")
	s := newServer(dir, tenantsEnviron(dir))
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Error(err)
		}
	})
	o.base, o.http = s.url, httpClient
	program, err := exec.LookPath("faketool")
	if err != nil {
		t.Fatal(err)
	}
	tools := t.TempDir()
	if err := os.Symlink(program, filepath.Join(tools, "faketool")); err != nil {
		t.Fatal(err)
	}
	text := "#!/bin/sh\nexec " + filepath.Join(tools, "faketool") + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(tools, "tofu"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return &localBench{o, t, s, tools}
}

// enclaveDir makes a folder with two partitions, of which one needs the other.
func (b *localBench) enclaveDir(id string) string {
	dir := b.t.TempDir()
	const partition = "produces: tcp\nbackend: opentofu\ndeclared_outputs: [said]\n"
	for name, text := range map[string]string{
		"config.yml": "id: " + id + "\n", "db/main.tf": "\n", "api/main.tf": "\n",
		"db/config.yml":  "id: db\nexports: [{name: db}]\n" + partition,
		"api/config.yml": "id: api\nimports: [{alias: db, from: db}]\ninputs: {x: '{{ db.said }}'}\n" + partition,
	} {
		full := filepath.Join(dir, "e", name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	return dir
}

// command runs holdfast against an address; kill is called with it once it has begun.
func (b *localBench) command(dir, address string, begun func(*os.Process), args ...string) (string, error) {
	cmd := exec.Command(os.Getenv("HOLDFAST_BIN"), args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + b.tools + ":" + os.Getenv("PATH"), "HOME=" + dir, "HOLDFAST_ADDR=" + address,
		"HOLDFAST_ORG=" + b.id.String(), "HOLDFAST_KEY=" + b.key, "LEDGER=" + filepath.Join(dir, "ledger")}
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		return "", err
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		return "", err
	}
	begun(cmd.Process)
	err = cmd.Wait()
	text, _ := os.ReadFile(said.Name())
	return string(text), err
}

// killer is a proxy that kills a process once its n-th request has had its effect, whoever made that: the process or
// the tool that it runs.
type killer struct {
	mu    sync.Mutex
	left  int
	whom  chan *os.Process
	front *httptest.Server
	did   bool
}

func (b *localBench) killer() *killer {
	target, err := url.Parse(b.server.url)
	if err != nil {
		b.t.Fatal(err)
	}
	k := &killer{}
	k.front = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(*http.Response) error {
			k.mu.Lock()
			defer k.mu.Unlock()
			if k.left--; k.left == 0 {
				k.did = true
				process := <-k.whom
				return process.Kill()
			}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0),
	})
	return k
}

// TestLocalReconcileKilledAtEveryStep kills `enclave apply --local`, and then `enclave destroy --local`, at each of the
// requests that it and its tools make, and does the same again: it ends in the same, nothing is made twice, and every
// record of a run has an end.
func TestLocalReconcileKilledAtEveryStep(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	b := newLocalBench(t)
	stride := 7
	if killtest.Tortures() {
		stride = 1
	}
	kills := 0
	for n := 1 + int(killtest.Seed(t)%uint64(stride)); ; n += stride {
		id := fmt.Sprint("e", n)
		dir, k := b.enclaveDir(id), b.killer()
		did := b.killedAt(k, n, dir, "apply", ".", "--local", "--auto-approve")
		b.isMade(k, dir, id)
		gone := b.killedAt(k, n, dir, "destroy", ".", "--local", "--auto-approve", "--all")
		b.isGone(dir, id)
		k.front.Close()
		if t.Failed() {
			t.Fatalf("killed at request %d", n)
		}
		if !did && !gone {
			break
		}
		kills++
	}
	if kills < 3 {
		t.Errorf("it was killed at %d steps alone", kills)
	}
}

// killedAt has a command killed, and done again.
func (b *localBench) killedAt(k *killer, n int, dir string, args ...string) (did bool) {
	b.t.Helper()
	args = append([]string{"enclave"}, args...)
	k.mu.Lock()
	k.left, k.did, k.whom = n, false, make(chan *os.Process, 1)
	k.mu.Unlock()
	said, err := b.command(dir, k.front.URL, func(p *os.Process) { k.whom <- p }, args...)
	k.mu.Lock()
	did, k.left = k.did, 0
	k.mu.Unlock()
	if did == (err == nil) {
		b.t.Fatalf("killed at %d: %t %v\n%s", n, did, err, said)
	}
	if !did {
		return false
	}
	if said, err := b.command(dir, k.front.URL, func(*os.Process) {}, args...); err != nil {
		b.t.Fatalf("killed at %d, it goes not on: %v\n%s", n, err, said)
	}
	return true
}

// isMade wants everything to be there, once.
func (b *localBench) isMade(k *killer, dir, id string) {
	b.t.Helper()
	said, err := b.command(dir, k.front.URL, func(*os.Process) {}, "enclave", "plan", ".", "--local")
	if err != nil {
		b.t.Errorf("something is to be done still: %v\n%s", err, said)
	}
	b.hasDone(dir, "apply api\napply db\n")
	for _, partition := range []string{"db", "api"} {
		b.haveEnded(id, partition, "Succeeded")
	}
}

func (b *localBench) isGone(dir, id string) {
	b.t.Helper()
	b.hasDone(dir, "apply api\napply db\ndestroy api\ndestroy db\n")
	for _, partition := range []string{"db", "api"} {
		b.haveEnded(id, partition, "Succeeded")
		answer, err := b.send("GET", "/api/v1/state/"+id+"%2F"+partition, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusNotFound {
			b.t.Errorf("the state of %s is there: %s", partition, answer.Status)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".holdfast", "workspaces", "*", "*")); len(left) > 0 {
		b.t.Errorf("%q are left", left)
	}
}

// hasDone compares, in the alphabet's order, what the tools have done.
func (b *localBench) hasDone(dir, want string) {
	b.t.Helper()
	out, err := exec.Command("sort", filepath.Join(dir, "ledger")).Output()
	if err != nil || string(out) != want {
		b.t.Errorf("this was done: %q %v", out, err)
	}
}

// haveEnded wants each record of a partition's runs to have an end, and the newest this one.
func (b *localBench) haveEnded(id, partition, newest string) {
	b.t.Helper()
	answer, err := b.send("GET", "/enclaves/"+id+"/partitions/"+partition+"/iac/runs", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	var all []api.IACRun
	if err := json.NewDecoder(answer.Body).Decode(&all); err != nil || len(all) == 0 {
		b.t.Fatalf("%s: %d runs, %v", partition, len(all), err)
	}
	for i, run := range all {
		if run.FinishedAt == nil || i == 0 && run.Status != newest || strings.Contains(run.Status, "Running") {
			b.t.Errorf("run %d of %s: %+v", i, partition, run)
		}
	}
}
