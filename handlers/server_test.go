package handlers_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/resourceindex"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlpolicy"
	"github.com/holdfast/holdfast/storage/sqlrepos"
	"github.com/holdfast/holdfast/storage/sqlruns"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
	"github.com/holdfast/holdfast/workspace"
)

var (
	acme   = uuid.MustParse("11111111-2222-3333-4444-555555555555")
	globex = uuid.MustParse("66666666-7777-8888-9999-aaaaaaaaaaaa")
)

const (
	maxStateBytes = 1 << 20
	acmeKey       = "acme-key"
	globexKey     = "globex-key"
)

// keys verifies without bcrypt, so that tests of the protocol are quick. Tests of
// authentication itself use a verify.Verifier.
type keys map[auth.Credentials]auth.Principal

func (k keys) Verify(_ context.Context, given auth.Credentials, client auth.Client) (auth.Principal, error) {
	principal, ok := k[auth.Credentials{Org: given.Org, Key: given.Key}]
	if !ok {
		return auth.Principal{}, fault.New(fault.CredentialsWrong, "the organization or the key is wrong")
	}
	principal.Address, principal.Request = client.Address, client.Request
	return principal, nil
}

func testKeys() keys {
	return keys{
		{Org: acme, Key: acmeKey}:     {Org: acme, OrgName: "Acme", KeyID: "a1", Grant: auth.Grant{Role: auth.Owner}},
		{Org: globex, Key: globexKey}: {Org: globex, OrgName: "Globex", KeyID: "g1", Grant: auth.Grant{Role: auth.Owner}},
	}
}

// aliases is what other servers call organizations: the folder of each.
type aliases map[uuid.UUID]map[string]state.Name

func (a aliases) Alias(org uuid.UUID, id string) (state.Name, bool) {
	folder, ok := a[org][id]
	return folder, ok
}

func testAliases() aliases {
	return aliases{acme: {"acme": "", "42": "", "77": "shop", "group/project": "deep/er", "e": "e"},
		globex: {"globex": "", "43": ""}}
}

func testDeps(t testing.TB) handlers.Deps {
	t.Helper()
	deps, store, uploads := testDepsWithoutResources(t)
	deps.Resources = testResources(t, store, deps.States, uploads)
	db := testDatabase(t)
	sealer := seal.New(seal.NewMaster(), sqldb.NewKeys(db))
	deps.Workspaces = testWorkspaces(db, sealer, store)
	deps.Tools = func(context.Context) ([]api.ToolVersions, error) {
		return []api.ToolVersions{{Tool: "opentofu", Versions: []string{"1.12.6", "1.11.0"}}}, nil
	}
	deps.Repositories = testRepositories(t, db, sealer, store)
	deps.Layers = testLayers(db, store)
	deps.Pulls = testPulls(db, store)
	deps.Runs = testRuns(db, store)
	deps.Policies = testPolicies(db, store)
	deps.Insights = insight.NewService(deps.Runs, deps.Policies, nil, time.Now)
	deps.Sessions = testSessions(db, store, testKeys(), time.Now)
	deps.KeyEdits = testKeyEdits(store)
	return deps
}

// testDatabase is one in memory.
func testDatabase(t testing.TB) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// testPolicies serves bundles of policies that are kept in memory.
func testPolicies(db *sqldb.DB, record audit.Recorder) *policy.Service {
	return policy.NewService(policy.Deps{Store: sqlpolicy.New(db), Gate: audit.NewGate(record, time.Now), Audit: record,
		Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

// testRuns serves runs that are kept in memory, of workspaces of which there are none.
func testRuns(db *sqldb.DB, record audit.Recorder) *runs.Service {
	return runs.NewService(runs.Deps{
		Store: sqlruns.New(db), Workspaces: noWorkspaces{}, Gate: audit.NewGate(record, time.Now), Audit: record,
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
}

// noWorkspaces has none.
type noWorkspaces struct{ runs.Workspaces }

func (noWorkspaces) Workspace(_ context.Context, _ uuid.UUID, name string) (runs.Workspace, error) {
	return runs.Workspace{}, fault.New(fault.WorkspaceNotFound, "there is no workspace %q", name)
}

// testWorkspaces serves workspaces that are kept in memory.
func testWorkspaces(db *sqldb.DB, sealer *seal.Sealer, record audit.Recorder) *workspace.Service {
	return workspace.NewService(workspace.Deps{
		Store: sqlworkspace.New(db, sealer, time.Now), Gate: audit.NewGate(record, time.Now), Audit: record,
		Seals: sealer, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
}

// testRepositories serves repositories that are kept in memory, and fetches nothing by itself.
func testRepositories(t testing.TB, db *sqldb.DB, sealer *seal.Sealer, record audit.Recorder) *repos.Service {
	t.Helper()
	s := repos.NewService(repos.Deps{
		Store: sqlrepos.New(db), Gate: audit.NewGate(record, time.Now),
		Seals:  sealer,
		Folder: t.TempDir(), Now: time.Now, Random: func() float64 { return 0 }, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(s.Close)
	return s
}

// testDepsWithoutResources leaves out what takes longest to set up, and returns the two
// stores.
func testDepsWithoutResources(t testing.TB) (handlers.Deps, state.Store, inventory.Store) {
	t.Helper()
	store := memory.New(64 << 20)
	t.Cleanup(func() { _ = store.Close() })
	uploads := inventorytest.New()
	t.Cleanup(func() { _ = uploads.Close() })
	log := slog.New(slog.DiscardHandler)
	return handlers.Deps{
		States:        state.NewService(store, state.DefaultPolicies{}, time.Now, log),
		Inventory:     inventory.NewService(uploads).WithGate(audit.NewGate(store, time.Now)),
		Gate:          audit.NewGate(store, time.Now),
		Verifier:      testKeys(),
		Dialects:      handlers.Dialects(),
		Aliases:       testAliases(),
		Log:           log,
		Now:           time.Now,
		Version:       "test",
		MaxStateBytes: maxStateBytes,
	}, store, uploads
}

// testResources serves an index that follows what is written at once, when it is asked.
func testResources(t testing.TB, store state.Store, states *state.Service, uploads inventory.Store) *resources.Service {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	index, err := resourceindex.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rules, err := resources.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	indexer := resources.NewIndexer(resources.Sources{Index: index, States: store, Uploads: uploads, Rules: rules,
		Log: log, Now: time.Now})
	indexer.Start()
	t.Cleanup(func() { _, _ = indexer.Close(), index.Close() })
	return resources.NewService(resources.Deps{Index: index, Indexer: indexer, States: states, Events: store,
		Gate: audit.NewGate(store, time.Now), Uploads: uploads})
}

func startServer(t *testing.T, deps handlers.Deps) *httptest.Server {
	t.Helper()
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(described{t, router})
	t.Cleanup(server.Close)
	return server
}

// caller is one organization's client, which follows no redirect.
type caller struct {
	t         *testing.T
	url       string
	user, key string
	client    *http.Client
}

func newCaller(t *testing.T, server *httptest.Server, org uuid.UUID, key string) caller {
	client := *server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return caller{t: t, url: server.URL, user: org.String(), key: key, client: &client}
}

type answer struct {
	status int
	header http.Header
	body   string
	// trailer is what came behind the body.
	trailer http.Header
}

// do sends "METHOD /path" with a body and optional headers given as "Name: value".
func (c caller) do(request, body string, headers ...string) answer {
	c.t.Helper()
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.user != "" {
		r.SetBasicAuth(c.user, c.key)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	return c.send(r)
}

func (c caller) send(r *http.Request) answer {
	c.t.Helper()
	response, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body), response.Trailer}
}

// step is one request of a conversation, and what must come back.
type step struct {
	request string
	body    string
	status  int
	want    string // the whole body when it starts with "=", else a part of it
}

func (c caller) converse(steps []step) {
	c.t.Helper()
	for i, s := range steps {
		got := c.do(s.request, s.body)
		exact, whole := strings.CutPrefix(s.want, "=")
		if got.status != s.status || whole && got.body != exact || !whole && !strings.Contains(got.body, s.want) {
			c.t.Errorf("step %d, %s %s:\n got %d %s\nwant %d %s", i, s.request, s.body, got.status, got.body, s.status, s.want)
		}
	}
}
