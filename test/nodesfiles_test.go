//go:build e2e

package test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
)

// nodesFiles is where the files are that docs/scaling.md has people copy.
const nodesFiles = "../packaging/nodes/"

// TestFilesOfNodes runs what the files for docker compose and for systemd describe, as plain
// processes: three nodes, the database and the proxy, with the settings, the configuration of the
// proxy and the commands as they are, but for where each listens. Then a real client applies
// through the proxy while one node after the other is killed.
func TestFilesOfNodes(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	onEach(t, testFilesOfNodes)
}

// With PostgreSQL the file of settings names it instead, and has DATABASE_URL in the place of what begins with DB_.
func testFilesOfNodes(t *testing.T, on databaseKind) {
	database := ownServer(t, on)
	dir := t.TempDir()
	environ := freshEnviron()
	for _, setting := range fileOfSettings(t, nodesFiles+"nodes.env", dir) {
		if on == onMySQL || !strings.HasPrefix(setting, "DB_") {
			environ = append(environ, strings.Replace(setting, "=mysql", "="+string(on), 1))
		}
	}
	environ = append(environ, database.environ()...)
	var made struct {
		Organization uuid.UUID
		Key          string
	}
	command := func(args ...string) []byte {
		return output(t, dir, append(environ, "STORAGE_PATH="+filepath.Join(dir, "nothing")), os.Getenv("HOLDFAST_BIN"),
			args...)
	}
	if err := json.Unmarshal(command("init", "--org-name", "Acme", "--auth-file", "auth.cfg", "--json"),
		&made); err != nil {
		t.Fatal(err)
	}
	command("auth", "push", "auth.cfg")
	var all []*server
	config := read(t, nodesFiles+"haproxy.cfg")
	for _, name := range composedNodes(t) {
		own := filepath.Join(dir, name)
		if err := os.Mkdir(own, 0o700); err != nil {
			t.Fatal(err)
		}
		s := newServer(own, append(environ, "STORAGE_PATH="+own, "HOLDFAST_TRUSTED_PROXIES=127.0.0.0/8"))
		t.Cleanup(func() { _ = s.end() })
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
		if !strings.Contains(config, name+":7777") {
			t.Fatalf("the proxy does not know %s", name)
		}
		config = strings.ReplaceAll(config, name+":7777", s.address)
	}
	front := proxied(t, dir, config)
	if said := get(t, front+"/api/v1/whoami", made.Organization.String(), made.Key); !strings.Contains(said, `"nodes":3`) {
		t.Errorf("whoami: %s", said)
	}
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(block, front+"/api/v1/state/prod/app", made.Organization) + `
variable "n" { default = 0 }
resource "terraform_data" "one" { input = var.n }
`
	if err := os.WriteFile(filepath.Join(project, "main.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	of := append(freshEnviron(), "TF_HTTP_PASSWORD="+made.Key, "TF_CLI_ARGS=-no-color", "CHECKPOINT_DISABLE=1",
		"TF_CLI_CONFIG_FILE="+os.DevNull)
	tofu := program(t, "TOFU_BIN")
	run(t, project, of, tofu, "init")
	for i, s := range all {
		killed := make(chan error)
		go func() { killed <- (&node{server: s}).kill() }()
		run(t, project, of, tofu, "apply", "-auto-approve", fmt.Sprint("-var=n=", i))
		if err := <-killed; err != nil {
			t.Fatal(err)
		}
		if out := run(t, project, of, tofu, "plan", fmt.Sprint("-var=n=", i)); !strings.Contains(out, "No changes") {
			t.Fatalf("a plan after apply %d says\n%s", i, out)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fileOfSettings reads a file of NAME=VALUE as systemd and docker compose do, with /etc/holdfast
// elsewhere.
func fileOfSettings(t *testing.T, path, etc string) (all []string) {
	t.Helper()
	for line := range strings.Lines(read(t, path)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, strings.ReplaceAll(line, "/etc/holdfast", etc))
		}
	}
	return all
}

// composedNodes are the names of the nodes in docker-compose.yml, which it must begin with the
// settings of nodes.env, with what they need to reach the database, and with nothing else.
func composedNodes(t *testing.T) (names []string) {
	t.Helper()
	var composed struct {
		Services map[string]struct {
			EnvFile     string `yaml:"env_file"`
			Environment map[string]string
			Image       string
			Volumes     []string
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, nodesFiles+"docker-compose.yml")), &composed); err != nil {
		t.Fatal(err)
	}
	for name, s := range composed.Services {
		if !strings.HasPrefix(s.Image, "holdfast:") {
			continue
		}
		names = append(names, name)
		if s.EnvFile != "nodes.env" || s.Environment["DB_HOST"] != "database" || s.Environment["DB_PASSWORD"] == "" ||
			!slices.Contains(s.Volumes, "./etc:/etc/holdfast:ro") {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if _, ok := composed.Services["database"]; !ok || len(names) != 3 {
		t.Errorf("the nodes are %v, and there is a database: %t", names, ok)
	}
	unit := read(t, "../packaging/systemd/holdfast.service")
	if !strings.Contains(unit, "EnvironmentFile=-/etc/holdfast/environment") {
		t.Error("the unit does not read what nodes.env is copied to")
	}
	slices.Sort(names)
	return names
}

// proxied starts haproxy with a configuration, and returns where it listens.
func proxied(t *testing.T, dir, config string) string {
	t.Helper()
	binary, err := exec.Command("../scripts/haproxy.sh").Output()
	if err != nil {
		t.Fatalf("there is no haproxy, and none can be fetched: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	bind := regexp.MustCompile(`bind :7777\b`)
	if !bind.MatchString(config) {
		t.Fatal("the proxy listens elsewhere")
	}
	path := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(path, []byte(bind.ReplaceAllString(config, "bind "+address)), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "haproxy.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p, err := startProcess(dir, freshEnviron(), log, strings.TrimSpace(string(binary)), "-db", "-f", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.end(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("haproxy said\n%s", read(t, log.Name()))
		}
	})
	url := "http://" + address
	if err := pollFor(20*time.Second, func() error {
		if ended, err := p.ended(); ended {
			return permanent{fmt.Errorf("haproxy has ended: %w", err)}
		}
		answer, err := httpClient.Get(url + "/health")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("the front says %s", answer.Status)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return url
}

// get reads an address with a key.
func get(t *testing.T, url, org, key string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(org, key)
	answer, err := httpClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var said strings.Builder
	if err := answer.Write(&said); err != nil {
		t.Fatal(err)
	}
	return said.String()
}
