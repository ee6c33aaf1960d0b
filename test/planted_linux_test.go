//go:build e2e

package test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
)

// planted is a server in which secrets of all kinds are, and what is looked through for them.
type planted struct {
	*testing.T
	dir      string
	server   *server
	database *databaseServer // that has everything; nil for files, and a database of uploads that is away
	org      *tenant
	secrets  map[string]string // what was planted, by what it is
	answers  bytes.Buffer      // of all requests that failed, and of what shows no secrets
	failed   int
}

// TestPlantedSecrets: secrets of all kinds are in nothing that a server writes or says beside what they are given
// out by: not after requests to all routes that fail in two ways, with a database of uploads that is away, and not
// when it crashes in the end. With everything in a database, they are in no file of that either.
func TestPlantedSecrets(t *testing.T) {
	suite.Deep(t)
	for _, format := range []string{"json", "text"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			p := plant(t, format, nil)
			p.all()
			p.lookIntoSpool()
		})
	}
	onEach(t, func(t *testing.T, on databaseKind) { plant(t, "json", ownServer(t, on)).all() })
}

// all does what may reveal a secret, and looks in between.
func (p *planted) all() {
	p.Helper()
	p.keep()
	p.fail()
	p.show()
	p.look("while it is served")
	p.backUp()
	p.look("after a backup")
	p.crash()
	p.crashAgent()
	p.look("after a crash")
}

func plant(t *testing.T, format string, database *databaseServer) *planted {
	t.Helper()
	p := &planted{T: t, dir: t.TempDir(), database: database, secrets: map[string]string{}}
	for _, what := range []string{"state value", "output", "body of a refused write", "variable", "secret variable",
		"expression", "file", "upload attribute", "refused upload", "repository token", "receiver address", "receiver header",
		"database password", "address of heads", "model key", "wrong body", "wrong token", "pool token"} {
		p.secrets[what] = "pl4nted-" + strings.ReplaceAll(what, " ", "-") + "-0815"
	}
	for _, what := range []string{"receiver secret", "decision secret"} {
		p.secrets[what] = "whsec_" + base64.StdEncoding.EncodeToString([]byte(rand.Text()+rand.Text()))
	}
	p.org = addTenants(t, filepath.Join(p.dir, "auth.cfg"), 1)[0]
	p.secrets["key"] = p.org.key
	p.secrets["wrong key"] = anyKey(p.org.id)
	(&neighbours{t: t, dir: p.dir}).addSettings(p.org, "state_rate_limit = off", "rate_limit = off",
		"notify_url = http://127.0.0.1:1/"+p.secrets["receiver address"], "notify_events = *",
		"notify_header = X-Token: "+p.secrets["receiver header"], "notify_secret = "+p.secrets["receiver secret"],
		"decision_url = http://127.0.0.1:1/decide", "decision_secret = "+p.secrets["decision secret"])
	scratch := filepath.Join(p.dir, "tmp")
	p.must(os.Mkdir(scratch, 0o700))
	p.server = newServer(p.dir, tenantsEnviron(p.dir, "TMPDIR="+scratch, "GOTRACEBACK=crash",
		"HOLDFAST_AUTH_FAILURES_PER_MINUTE=1000000", "HOLDFAST_AUDIT_HEAD_EVERY=1s",
		"HOLDFAST_AUDIT_HEAD_WEBHOOK=http://127.0.0.1:1/"+p.secrets["address of heads"],
		"HOLDFAST_INSIGHT_MODEL_URL=http://127.0.0.1:1/v1", "HOLDFAST_INSIGHT_MODEL=some",
		"HOLDFAST_INSIGHT_MODEL_KEY="+p.secrets["model key"],
		"HOLDFAST_LOG_LEVEL=debug"))
	p.server.environ = append(p.server.environ, "HOLDFAST_LOG_FORMAT="+format)
	if database == nil {
		p.server.environ = append(p.server.environ, "STORAGE_TYPE=dual", "DB_HOST=127.0.0.1", "DB_PORT=1", "DB_USER=any",
			"DB_PASSWORD="+p.secrets["database password"])
	} else {
		p.secrets["database password"] = database.password()
		p.server.environ = append(append(p.server.environ, database.on.engines()...), database.environ()...)
	}
	p.server.ulimit = []string{"-c", "unlimited"}
	t.Cleanup(func() { _ = p.server.end() }) // what a test that failed has left
	p.must(p.server.start())
	p.org.base, p.org.http = p.server.url, httpClient
	return p
}

func (p *planted) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// keep has the server keep secrets.
func (p *planted) keep() {
	p.Helper()
	for serial := 1; serial <= 3; serial++ { // the later ones are deltas
		p.want("POST", "/api/v1/state/prod/app", p.state(serial))
	}
	p.want("GET", "/api/v1/state/prod/app", "")
	p.want("POST", "/api/v1/state/prod/app/-/candidates", p.state(9))
	p.want("POST", "/api/v1/workspaces", `{"name":"prod/app"}`)
	p.want("POST", "/api/v1/workspaces/prod%2Fapp/-/variables", fmt.Sprintf(`{"set":[
		{"kind":"terraform","name":"usual","value":%q},
		{"kind":"environment","name":"SECRET","value":%q,"sensitive":true}]}`, p.secrets["variable"],
		p.secrets["secret variable"]))
	p.want("PUT", "/api/v1/workspaces/prod%2Fapp/-/files/main.tf", "# "+p.secrets["file"])
	p.want("POST", "/api/v1/repositories", fmt.Sprintf(`{"name":"infra",
		"url":"https://127.0.0.1:1/acme/infra.git","provider":"github","credential":"token","token":%q}`,
		p.secrets["repository token"]))
	p.want("POST", "/api/v1/upload", fmt.Sprintf(`{"provider":"aws","category":"database",
		"resource_type":"db","instances":[{"resource_name":"pl4nted-name","attributes":{"password":%q}}]}`,
		p.secrets["upload attribute"]))
}

func (p *planted) state(serial int) string {
	return fmt.Sprintf(`{"version":4,"terraform_version":"1.9.0","serial":%d,"lineage":"6f2bcb34-2ec9-4b9f-9d8e-0e9e2a1d4c11",
		"outputs":{"o":{"value":%q,"type":"string","sensitive":true}},"resources":[{"mode":"managed","type":"aws_db_instance",
		"name":"main","provider":"provider[\"registry.opentofu.org/hashicorp/aws\"]","instances":[{"schema_version":0,
		"attributes":{"id":"db-1","password":%q},"sensitive_attributes":[[{"type":"get_attr","value":"password"}]]}]}],
		"filler":%q}`, serial, p.secrets["output"], p.secrets["state value"], strings.Repeat("x", 3000))
}

// want sends a request that does what it should.
func (p *planted) want(method, path, body string) {
	p.Helper()
	answer, err := p.org.send(method, path, []byte(body))
	p.must(err)
	text, err := io.ReadAll(answer.Body)
	p.must(err)
	answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		p.Fatalf("%s %s: %s: %s", method, path, answer.Status, text)
	}
}

// refused sends a request that is to fail, and keeps what is said of it.
func (p *planted) refused(method, path, body string, header http.Header) {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), method, p.server.url+path, strings.NewReader(body))
	p.must(err)
	r.Header = header.Clone()
	r.Header.Set("Content-Type", "application/json")
	answer, err := httpClient.Do(r)
	p.must(err)
	defer answer.Body.Close()
	if answer.StatusCode < 400 { // what it gives out may be a secret
		_, _ = io.CopyN(io.Discard, answer.Body, 1<<10)
		return
	}
	p.failed++
	fmt.Fprintf(&p.answers, "%s %s: %s %v ", method, path, answer.Status, answer.Header)
	_, err = io.Copy(&p.answers, answer.Body)
	p.must(err)
}

// callers are those who are let in, and those who are not.
func (p *planted) callers() (all []http.Header) {
	basic := func(user, key string) http.Header {
		var r http.Request
		r.Header = http.Header{}
		r.SetBasicAuth(user, key)
		return r.Header
	}
	id, key, wrong := p.org.id.String(), p.org.key, p.secrets["wrong key"]
	return []http.Header{basic(id, key), basic(id, wrong), basic(key, ""), basic("elsewhere", wrong),
		{"Authorization": {"Bearer " + wrong}}, {"Authorization": {"Bearer e30." + p.secrets["wrong token"] + ".e30"}},
		{"X-Org-Id": {id}, "X-Api-Key": {wrong}}, {"Private-Token": {wrong}}}
}

// fail has every route that takes a body take what it can't, from all callers, and some what is nearly good.
func (p *planted) fail() {
	p.Helper()
	text, err := os.ReadFile("../api/openapi.json")
	p.must(err)
	var described struct {
		Paths map[string]map[string]json.RawMessage
	}
	p.must(json.Unmarshal(text, &described))
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	secret := p.secrets["wrong body"]
	bodies := []string{fmt.Sprintf(`{"name":{"a":%q},"key":%[1]q`, secret),
		fmt.Sprintf(`{"name":[%q],"set":%[1]q,"value":[%[1]q],"instances":[%[1]q],"key":{"x":%[1]q}}`, secret), secret}
	for path, methods := range described.Paths {
		for method := range methods {
			method = strings.ToUpper(method)
			if method == "GET" || method == "HEAD" || method == "DELETE" || strings.HasPrefix(method, "X-") {
				continue
			}
			for i, caller := range p.callers() {
				for _, body := range bodies[:max(1, len(bodies)-2*i)] {
					p.refused(method, parameter.ReplaceAllString(path, "x"), body, caller)
				}
			}
		}
	}
	if p.failed < 400 {
		p.Errorf("%d requests have failed only", p.failed)
	}
	p.failNearly()
}

func (p *planted) failNearly() {
	p.Helper()
	good, refused := p.callers()[0], p.secrets["body of a refused write"]
	of := func(serial int) string { return strings.ReplaceAll(p.state(serial), p.secrets["output"], refused) }
	p.refused("POST", "/api/v1/state/prod/app?ID=none", of(10), good)
	p.refused("POST", "/api/v1/state/prod/app", of(1), good)
	p.refused("POST", "/api/v1/state/prod/app", p.state(11)[:400]+refused, good)
	p.refused("POST", "/api/v1/workspaces/prod%2Fapp/-/variables", fmt.Sprintf(`{"set":[{"kind":"terraform","name":"x",
		"hcl":true,"sensitive":true,"value":%q}]}`, "{ "+p.secrets["expression"]+" =\n\" "), good)
	p.refused("POST", "/api/v1/workspaces/prod%2Fapp/-/variables", fmt.Sprintf(`{"set":[{"kind":"environment",
		"name":"1 =","sensitive":true,"value":%q}]}`, p.secrets["secret variable"]), good)
	p.refused("POST", "/api/v1/upload", fmt.Sprintf(`{"provider":"aws","category":"database","resource_type":"db",
		"instances":[{"attributes":{"password":%q}},{"attributes":%[1]q}]}`, p.secrets["refused upload"]), good)
	p.refused("POST", "/api/v1/repositories/infra/fetch", "", good)
	p.refused("POST", "/webhooks/gitlab/x", "{}", http.Header{"X-Gitlab-Token": {p.secrets["wrong token"]}})
	p.refused("POST", "/api/v1/session", fmt.Sprintf(`{"org":%q,"key":%q}`, p.org.id, p.secrets["wrong key"]),
		http.Header{})
}
