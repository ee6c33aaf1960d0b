package engine_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider/plugin"
	"github.com/holdfast/holdfast/engine/statefile"
)

// stateServer is the smallest server of the http backend's protocol.
type stateServer struct {
	mu      sync.Mutex
	state   []byte
	lock    []byte
	fail    int // answered instead
	user    string
	methods []string
}

func (s *stateServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.methods = append(s.methods, r.Method)
	s.user, _, _ = r.BasicAuth()
	body, _ := io.ReadAll(r.Body)
	switch {
	case s.fail != 0:
		w.WriteHeader(s.fail)
	case r.Method == http.MethodGet && s.state == nil:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		_, _ = w.Write(s.state)
	case r.Method == "LOCK" && s.lock != nil:
		w.WriteHeader(http.StatusLocked)
		_, _ = w.Write(s.lock)
	case r.Method == "LOCK":
		s.lock = body
	case r.Method == "UNLOCK":
		s.lock = nil
	case r.Method == http.MethodPut:
		s.state = body
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func TestHTTPBackendIsUsedAsItIsSet(t *testing.T) {
	server := &stateServer{}
	at := httptest.NewServer(server)
	defer at.Close()
	s := newSite(t, "terraform {\n  backend \"http\" {\n    address       = \"http://127.0.0.1:1/elsewhere\"\n"+
		"    update_method = \"PUT\"\n    username      = \"ann\"\n    retry_max     = 0\n  }\n}\n"+things(2))
	t.Setenv("TF_HTTP_ADDRESS", at.URL+"/state")
	t.Setenv("TF_HTTP_LOCK_ADDRESS", at.URL+"/state/lock")
	t.Setenv("TF_HTTP_UNLOCK_ADDRESS", at.URL+"/state/lock")
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.settled(t)
	if f, err := statefile.Parse(server.state); err != nil || len(f.Resources) != 2 || server.lock != nil ||
		server.user != "ann" {
		t.Errorf("%+v %v, the lock is %s, the user %q", f, err, server.lock, server.user)
	}

	e, err := s.engine()
	if err != nil {
		t.Fatal(err)
	}
	server.lock, _ = json.Marshal(statefile.LockInfo{ID: "theirs", Who: "bob@there"})
	if _, err := e.Lock(t.Context(), "apply"); err == nil || !strings.Contains(err.Error(), "bob@there") {
		t.Errorf("a lock that somebody has: %v", err)
	}
	if err := e.Store.ForceUnlock(t.Context(), "theirs"); err != nil || server.lock != nil {
		t.Errorf("it can't be forced: %v", err)
	}
	server.fail = http.StatusForbidden
	_, failsToRead := e.Store.Read(t.Context())
	_, failsToLock := e.Lock(t.Context(), "apply")
	for what, err := range map[string]error{"read": failsToRead, "lock": failsToLock,
		"write": e.Store.Write(t.Context(), statefile.New()), "unlock": e.Store.ForceUnlock(t.Context(), "x")} {
		if err == nil || !strings.Contains(err.Error(), "refuses to "+what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	server.fail, server.state = 0, []byte(`{"version": 4}`)
	if _, err := e.Store.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged state: %v", err)
	}
	s.options = func(o *engine.Options) { o.Workspace = "other" }
	if _, err := s.engine(); err == nil || !strings.Contains(err.Error(), "no workspaces") {
		t.Errorf("a workspace of the http backend: %v", err)
	}
}

// terraform_data is there without any program, and is kept, changed, replaced and imported as the clients do it.
func TestBuiltInDataIsKept(t *testing.T) {
	s := newSite(t, "")
	configure := func(input, trigger string) {
		s.write(t, "main.tf", "resource \"terraform_data\" \"d\" {\n  input            = "+input+"\n  triggers_replace = "+
			trigger+"\n}\nresource \"terraform_data\" \"bare\" {}\noutput \"o\" { value = terraform_data.d.output }\n")
	}
	output := func() string {
		t.Helper()
		result, err := s.apply(plan.Options{}, apply.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.settled(t)
		return strings.Join(strings.Fields(string(result.State.Outputs["o"].Value)), "")
	}
	configure(`{ a = [1, "x"] }`, `"1"`)
	if got := output(); got != `{"a":[1,"x"]}` {
		t.Errorf("the output is %s", got)
	}
	configure(`"text"`, `"1"`)
	if got := output(); got != `"text"` {
		t.Errorf("the output is %s", got)
	}
	configure(`"text"`, `"2"`)
	_, p, err := s.plan(plan.Options{})
	if add, _, destroy := p.Count(); err != nil || add != 1 || destroy != 1 {
		t.Errorf("%d %d %v", add, destroy, err)
	}
	output()
	s.write(t, "main.tf", "resource \"terraform_data\" \"i\" {}\nimport {\n  to = terraform_data.i\n  id = \"mine\"\n}\n")
	result, err := s.apply(plan.Options{}, apply.Options{})
	if err != nil || len(result.State.Resources) != 1 || !strings.Contains(
		string(result.State.Resources[0].Instances[0].Attributes), "mine") {
		t.Errorf("%+v %v", result, err)
	}
}

// Providers are found, locked, kept at their version, and refused once their files are others.
func TestInstallLocksWhatItFinds(t *testing.T) {
	mirror, dir := t.TempDir(), t.TempDir()
	at := func(version string) string {
		return filepath.Join(mirror, "example.com/acme/box", version, runtime.GOOS+"_"+runtime.GOARCH,
			"terraform-provider-box")
	}
	add := func(version, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(version)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(version), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	add("1.0.0", "one")
	configuration := "terraform {\n  required_providers {\n    box = {\n      source  = \"example.com/acme/box\"\n" +
		"      version = \">= 1, < 3\"\n    }\n  }\n}\nresource \"box_box\" \"b\" {}\nmodule \"m\" {\n  source = \"./m\"\n}\n"
	if err := os.MkdirAll(filepath.Join(dir, "m"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"main.tf": configuration,
		"m/main.tf": strings.Split(strings.Replace(configuration, ">= 1, < 3", ">= 1.0", 1), "module")[0]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install := func(how engine.Installing) (string, error) {
		packages, err := engine.Install(t.Context(), dir, []string{mirror}, how)
		if err != nil {
			return "", err
		}
		return packages[0].Version, nil
	}
	if _, err := install(engine.Installing{Frozen: true}); err == nil {
		t.Error("a lock file that may not be changed was made")
	}
	if version, err := install(engine.Installing{}); err != nil || version != "1.0.0" {
		t.Fatal(version, err)
	}
	locks, err := os.ReadFile(filepath.Join(dir, plugin.LockFile))
	if err != nil || !strings.Contains(string(locks), `constraints = ">= 1.0.0, < 3.0.0"`) {
		t.Errorf("%v: %s", err, locks)
	}
	add("2.0.0", "two")
	if version, err := install(engine.Installing{}); err != nil || version != "1.0.0" {
		t.Errorf("what was locked became %s: %v", version, err)
	}
	if version, err := install(engine.Installing{Frozen: true}); err != nil || version != "1.0.0" {
		t.Errorf("%s %v", version, err)
	}
	if version, err := install(engine.Installing{Upgrade: true}); err != nil || version != "2.0.0" {
		t.Errorf("%s %v", version, err)
	}
	add("2.0.0", "somebody else's")
	if _, err := install(engine.Installing{}); err == nil || !strings.Contains(err.Error(), "aren't those in") {
		t.Errorf("files that were changed: %v", err)
	}
	e, err := engine.New(engine.Options{Dir: dir, Mirrors: []string{mirror}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Plan(t.Context(), plan.Options{}); err == nil || !strings.Contains(err.Error(), "aren't those in") {
		t.Errorf("files that were changed were started: %v", err)
	}
}
