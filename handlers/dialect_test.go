package handlers_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/handlers"
)

// foreign is another server's spelling, with the statuses that its clients know.
type foreign struct {
	name, state                          string
	lock, unlock                         string // method and what stands behind the state's address
	absent, removed, stored, held, wrong int
	unnamed                              int // where a lock is held, to a write that names none
	serials                              bool
	reused                               int // where serials are, of a write that repeats the newest one
}

func foreigners() []foreign {
	return []foreign{
		{name: "gitlab", state: "/api/v4/projects/77/terraform/state/net", lock: "POST S/lock", unlock: "DELETE S/lock",
			absent: 204, removed: 404, stored: 200, held: 409, wrong: 409, serials: true, reused: 422},
		{name: "gitlab by path", state: "/api/v4/projects/group%2Fproject/terraform/state/net", lock: "POST S/lock",
			unlock: "DELETE S/lock",
			absent: 204, removed: 404, stored: 200, held: 409, wrong: 409, serials: true, reused: 422},
		{name: "gitea", state: "/api/packages/Acme/terraform/state/net", lock: "POST S/lock", unlock: "DELETE S/lock",
			absent: 404, removed: 404, stored: 201, held: 423, wrong: 423, serials: true, reused: 409},
		{name: "nimbolus", state: "/state/acme/net", lock: "LOCK S", unlock: "UNLOCK S",
			absent: 204, removed: 200, stored: 200, held: 423, wrong: 400},
		{name: "devpro", state: "/acme/state/net", lock: "POST S/lock", unlock: "DELETE S/lock",
			absent: 204, removed: 200, stored: 200, held: 409, wrong: 409, unnamed: 423},
	}
}

// foreignDeps know the aliases as addresses have them: the auth file minds no capitals.
func foreignDeps(t *testing.T) handlers.Deps {
	deps := testDeps(t)
	deps.Aliases = aliases{acme: {"Acme": "", "acme": "", "77": "shop", "group/project": "deep/er"},
		globex: {"globex": "", "43": ""}}
	return deps
}

// Each server's own sequence of calls, as its clients send them, with its own statuses.
func TestDialects(t *testing.T) {
	for _, f := range foreigners() {
		for name, steps := range map[string][]step{
			"absence": {{"GET S", "", f.absent, ""}, {"DELETE S", "", f.removed, ""}, {f.lock, infoA, 200, ""},
				{"GET S", "", f.absent, ""}, {f.unlock, infoA, 200, ""}},
			"an apply": foreignApply(f),
			"a second": foreignConflict(f),
			"serials":  foreignSerials(f),
		} {
			t.Run(f.name+"/"+name, func(t *testing.T) {
				for i := range steps {
					steps[i].request = strings.NewReplacer(" S", " "+f.state).Replace(steps[i].request)
				}
				newCaller(t, startServer(t, foreignDeps(t)), acme, acmeKey).converse(steps)
			})
		}
	}
}

// With each mutating call sent twice, as after a lost answer.
func foreignApply(f foreign) []step {
	return []step{
		{f.lock, infoA, 200, "=" + infoA}, {f.lock, infoA, 200, ""},
		{"POST S?ID=a-1", body(1), f.stored, `"version":1`}, {"POST S?ID=a-1", body(1), f.stored, `"version":1`},
		{"POST S?ID=a-1", strings.Replace(body(1), "5ad8\"", "5ad8\" ", 1), f.stored,
			`"version":2`}, // an interrupted client's
		{"POST S?ID=a-1", body(2), f.stored, `"version":3`},
		{"GET S", "", 200, "=" + body(2)},
		{f.unlock, infoA, 200, ""}, {f.unlock, infoA, 200, ""},
		{"POST S", body(3), f.stored, `"version":4`},
		{"DELETE S", "", 200, ""}, {"DELETE S", "", 200, ""}, {"GET S", "", f.absent, ""},
	}
}

func foreignConflict(f foreign) []step {
	return []step{
		{f.lock, infoA, 200, ""},
		{f.lock, infoB, f.held, "=" + infoA},
		{"POST S", body(1), cmp.Or(f.unnamed, f.held), "=" + infoA},
		{"POST S?ID=b-2", body(1), f.held, "=" + infoA},
		{"DELETE S", "", f.removed, ""},
		{f.unlock, infoB, f.wrong, "ada@engine"},
		{f.unlock, "", 200, ""}, // Terraform's force-unlock
		{"POST S?ID=a-1", body(2), 409, "lock_not_held"},
		{f.lock, infoB, 200, ""},
		{"POST S?ID=a-1", body(2), f.held, "=" + infoB},
		{"POST S?ID=b-2", body(2), f.stored, ""},
		{"DELETE S", "", cmp.Or(f.unnamed, f.held), "=" + infoB},
		{"DELETE S?ID=a-1", "", f.held, "=" + infoB},
	}
}

func foreignSerials(f foreign) []step {
	steps := []step{{"POST S", body(1), f.stored, ""}, {"POST S", body(2), f.stored, ""}}
	if !f.serials {
		return append(steps, step{"GET S/versions/1", "", 400, "route_unknown"})
	}
	steps = append(steps, []step{
		{"GET S/versions/1", "", 200, "=" + body(1)},
		{"GET S/versions/2", "", 200, "=" + body(2)},
		{"GET S/versions/3", "", 404, "version_not_found"},
		{"GET S/versions/-1", "", 400, "parameter_invalid"},
		{"GET S/versions/x", "", 400, "parameter_invalid"},
		{"POST S", strings.Replace(body(2), "é", "e", 1), f.reused, "write_held"},
		{"GET S", "", 200, "=" + body(2)},
		{"DELETE S/versions/1", "", 204, "="}, {"DELETE S/versions/1", "", 204, "="},
		{"GET S/versions/1", "", 410, "version_purged"},
		{"DELETE S/versions/7", "", 404, "version_not_found"},
	}...)
	if f.name == "gitea" {
		return append(steps, step{"DELETE S/versions/2", "", 403, "newest_version_kept"},
			step{"GET S", "", 200, "=" + body(2)})
	}
	return append(steps, step{"DELETE S/versions/2", "", 204, "="}, step{"GET S", "", 410, "version_purged"})
}

// An address that ends with the segment lock is a lock's, at every depth and in every spelling: a LockInfo that is
// posted to it locks or is refused, and never becomes a state.
func TestLockAddressesAreNoStates(t *testing.T) {
	for _, address := range []string{"/api/v1/state/a", "/api/v1/state/a/b", "/api/v1/state/a/b/c/d",
		"/api/v1/state/a%2Fb", "/terraform/state/a/b",
		"/api/v4/projects/77/terraform/state/a", "/api/v4/projects/77/terraform/state/a%2Fb",
		"/api/packages/acme/terraform/state/a", "/api/packages/acme/terraform/state/a%2Fb",
		"/acme/state/a", "/acme/state/a%2Fb"} {
		t.Run(address, func(t *testing.T) {
			c := newCaller(t, startServer(t, foreignDeps(t)), acme, acmeKey)
			lock := "POST " + address + "/lock"
			if got := c.do(lock, infoA); got.status != http.StatusOK || got.body != infoA {
				t.Fatalf("lock: %d %s", got.status, got.body)
			}
			if got := c.do(lock, infoB); got.status != http.StatusConflict && got.status != http.StatusLocked ||
				got.body != infoA {
				t.Errorf("lock of another client: %d %s; want it refused with the holder's LockInfo", got.status, got.body)
			}
			if got := c.do("POST "+address+"?ID=a-1", body(1)); got.status/100 != 2 {
				t.Errorf("write of the holder: %d %s", got.status, got.body)
			}
			if got := c.do("DELETE "+address+"/lock", infoA); got.status != http.StatusOK {
				t.Errorf("unlock: %d %s", got.status, got.body)
			}
		})
	}
	c := newCaller(t, startServer(t, foreignDeps(t)), acme, acmeKey)
	for _, address := range []string{"/api/v1/state/lock", "/api/v1/state/a%2Flock", "/api/v1/state/a%2Fb%2Flock",
		"/terraform/state/a/lock", "/api/v4/projects/77/terraform/state/lock",
		"/api/v4/projects/77/terraform/state/a%2Flock", "/api/packages/acme/terraform/state/a%2Flock",
		"/state/acme/lock", "/state/acme/a%2Flock", "/acme/state/lock"} {
		for _, sent := range []string{infoA, body(1)} {
			if got := c.do("POST "+address, sent); got.status != http.StatusBadRequest ||
				!strings.Contains(got.body, "name_invalid") {
				t.Errorf("POST %s: %d %s", address, got.status, got.body)
			}
		}
	}
}

// A LockInfo is refused as a state in every spelling, and wherever a state's bytes are taken; other JSON is not.
func TestLockInfosAreNoStates(t *testing.T) {
	c := newCaller(t, startServer(t, foreignDeps(t)), acme, acmeKey)
	for _, one := range []string{"POST /api/v1/state/x", "PUT /api/v1/state/x", "POST /api/v1/state/x/-/candidates",
		"POST /api/v1/state/x/-/import?time=2026-01-01T00:00:00Z&source=elsewhere",
		"POST /terraform/state/e/p", "POST /api/v4/projects/77/terraform/state/x", "POST /api/packages/acme/terraform/state/x",
		"POST /state/acme/x", "POST /acme/state/x"} {
		if got := c.do(one, infoA); got.status != http.StatusBadRequest && got.status != http.StatusUnprocessableEntity ||
			!strings.Contains(got.body, "state_invalid") {
			t.Errorf("%s: %d %s", one, got.status, got.body)
		}
	}
	c.converse([]step{{"GET /api/v1/state/x", "", 404, "state_not_found"}, {"POST /api/v1/state/x", `{"hello":1}`, 200, ""}})
}

// The states are those of the native spelling, in the folder of the alias.
func TestDialectsShareStates(t *testing.T) {
	deps := foreignDeps(t)
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	c.converse([]step{
		{"POST /api/v4/projects/77/terraform/state/net", body(1), 200, ""},
		{"GET /api/v1/state/shop/net", "", 200, "=" + body(1)},
		{"GET /state/77/net", "", 200, "=" + body(1)},
		{"GET /77/state/net", "", 200, "=" + body(1)},
		{"GET /api/packages/77/terraform/state/net", "", 200, "=" + body(1)},
		{"LOCK /state/77/net", infoA, 200, ""},
		{"LOCK /api/v1/state/shop/net", infoB, 409, "=" + infoA},
		{"POST /77/state/net", body(2), 423, "=" + infoA},
		{"POST /api/v4/projects/group%2Fproject/terraform/state/a%2Fb", body(1), 200, ""},
		{"GET /api/v1/state/deep/er/a/b", "", 200, "=" + body(1)},
		{"GET /terraform/state/shop/net", "", 200, "=" + body(1)},
	})
}

// Scenario: a key of one organization names the project of another one, or what would lead out of
// its own folder. Check: that is refused as a project of nobody's is, to the letter, and never by
// a status that a client takes for a state that is not there.
func TestAliasesOfOthersAreUnknown(t *testing.T) {
	server := startServer(t, foreignDeps(t))
	owner, other := newCaller(t, server, globex, globexKey), newCaller(t, server, acme, acmeKey)
	owner.converse([]step{{"POST /api/v4/projects/43/terraform/state/net", body(1), 200, ""},
		{"LOCK /state/43/net", infoA, 200, ""}})
	at := func(alias, name string) []string {
		return []string{"/api/v4/projects/" + alias + "/terraform/state/" + name, "/api/packages/" + alias +
			"/terraform/state/" + name, "/state/" + alias + "/" + name, "/" + alias + "/state/" + name}
	}
	for i, address := range at("43", "net") {
		nobodys := at("44", "net")[i]
		for _, method := range []string{"GET ", "POST ", "DELETE ", "LOCK ", "UNLOCK "} {
			for _, behind := range []string{"", "/lock", "/versions/1", "?ID=a-1"} {
				got, unknown := other.do(method+address+behind, infoA, "X-Request-ID: r"),
					other.do(method+nobodys+behind, infoA, "X-Request-ID: r")
				if got.status != unknown.status || got.body != unknown.body || got.status == 404 || got.status/100 == 2 {
					t.Errorf("%s%s%s: %d %s; nobody's: %d %s", method, address, behind, got.status, got.body, unknown.status,
						unknown.body)
				}
			}
		}
		other.converse([]step{{"GET " + address, "", 403, "alias_unknown"},
			{"POST " + address, body(2), 403, "alias_unknown"}})
	}
	for _, alias := range []string{"..", "%2E%2E", "77%2F..", "..%2F43", "43%2F", "%2F43", "%2f43", "", "shop",
		acme.String(), globex.String(), "77:shop", "77%00", "43%20", "+43", "043"} {
		for _, address := range at(alias, "net") {
			if got := other.do("GET "+address, ""); got.status != 403 && got.status != 400 && got.status != 405 {
				t.Errorf("GET %s: %d %s", address, got.status, got.body)
			}
		}
	}
	for _, name := range []string{"..", "%2e%2e", "..%2F..%2Fnet", "%2Fnet", "a%2F%2Fb", "a%2F..%2Fnet", "a%00", "a%20b",
		"a+b", "", "%252e%252e", strings.Repeat("a", 252)} {
		for _, address := range at("77", name) {
			if got := other.do("GET "+address, ""); got.status != 400 && got.status != 405 {
				t.Errorf("GET %s: %d %s", address, got.status, got.body)
			}
		}
	}
	owner.converse([]step{{"GET /api/v1/state/net", "", 200, "=" + body(1)},
		{"LOCK /api/v1/state/net", infoB, 409, "=" + infoA}})
}

// The addresses of a dialect that is off are as unknown as any other.
func TestDialectsThatAreOff(t *testing.T) {
	deps := foreignDeps(t)
	deps.Dialects = nil
	server := startServer(t, deps)
	c, stranger := newCaller(t, server, acme, acmeKey), newCaller(t, server, acme, "no")
	c.converse([]step{{"POST /api/v1/state/shop/net", body(1), 200, ""}})
	for _, f := range append(foreigners(), foreign{state: "/terraform/state/shop/net", lock: "LOCK S"}) {
		for _, request := range []string{"GET S", "POST S", "DELETE S", f.lock, "GET S/versions/1", "BREW S"} {
			request = strings.Replace(request, " S", " "+f.state, 1)
			method, _, _ := strings.Cut(request, " ")
			unknown := method + " /nothing/at/all"
			if strings.HasPrefix(f.state, "/api/") {
				unknown = method + " /api/nothing/at/all"
			}
			for _, who := range []caller{c, stranger} {
				got, want := who.do(request, infoA, "X-Request-ID: r"), who.do(unknown, infoA, "X-Request-ID: r")
				if got.status != want.status || got.body != want.body || got.header.Get("Allow") != want.header.Get("Allow") {
					t.Errorf("%s: %d %s; want %d %s as for %s", request, got.status, got.body, want.status, want.body, unknown)
				}
			}
		}
	}
	deps.Dialects = []string{"nimbolus"}
	newCaller(t, startServer(t, deps), acme,
		acmeKey).converse([]step{{"GET /state/77/net", "", 200, "=" + body(1)},
		{"GET /77/state/net", "", 400, "route_unknown"}})
}

// Roles, states of keys and guards hold whatever the spelling.
func TestRulesHoldInDialects(t *testing.T) {
	deps := foreignDeps(t)
	patterns, err := auth.ParsePatterns("shop/*")
	if err != nil {
		t.Fatal(err)
	}
	deps.Verifier = keys{
		{Org: acme, Key: "reader"}: {Org: acme, KeyID: "r", Grant: auth.Grant{Role: auth.Reader}},
		{Org: acme, Key: "shop"}:   {Org: acme, KeyID: "s", Grant: auth.Grant{Role: auth.Writer, States: patterns}},
	}
	server := startServer(t, deps)
	reader, shop := newCaller(t, server, acme, "reader"), newCaller(t, server, acme, "shop")
	for _, f := range foreigners() {
		within := map[bool]int{true: f.stored, false: 403}[strings.Contains(f.state, "77")]
		reader.converse([]step{{"POST " + f.state, body(1), 403, "right_missing"},
			{strings.Replace(f.lock, " S", " "+f.state, 1), infoA, 403, "right_missing"}})
		shop.converse([]step{{"POST " + f.state, body(1), within, ""}})
	}
}

// The table of the settings and that of the routes have the same names.
func TestDialectsAreThoseOfTheSettings(t *testing.T) {
	if got, want := strings.Join(handlers.Dialects(), " "), strings.Join(configs.AllDialects(), " "); got != want {
		t.Errorf("there are routes for %s, and settings for %s", got, want)
	}
}

// Any user name will do beside a key that carries its organization, as those servers' users have it.
func TestCredentialsOfDialects(t *testing.T) {
	key := auth.NewKey(acme)
	deps := foreignDeps(t)
	deps.Verifier = keys{{Org: acme, Key: key}: {Org: acme, Grant: auth.Grant{Role: auth.Owner}}}
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range foreigners() {
		for _, header := range []string{basic("gitlab-ci-token", key), basic("", key), basic("basic", key),
			basic(globex.String(), key),
			"Private-Token: " + key, "Job-Token: " + key, "Authorization: Bearer " + key, "X-API-Key: " + key} {
			if got := ask(t, router, "GET "+f.state, "", header); got.Code != f.absent {
				t.Errorf("%s, %.20s: %d %s", f.name, header, got.Code, got.Body)
			}
		}
		if got := ask(t, router, "GET "+f.state, "", basic("gitlab-ci-token", "no")); got.Code != http.StatusUnauthorized {
			t.Errorf("%s, a wrong key: %d", f.name, got.Code)
		}
	}
}

// With its organization's limit used up, who holds the lock gets through in each spelling, and
// nobody else.
func TestLockHoldersPassInDialects(t *testing.T) {
	for _, f := range foreigners() {
		deps, _ := rateDeps(t)
		deps.Aliases = foreignDeps(t).Aliases
		c := newCaller(t, startServer(t, deps), acme, acmeKey)
		lock, unlock := strings.Replace(f.lock, " S", " "+f.state, 1), strings.Replace(f.unlock, " S", " "+f.state, 1)
		c.converse([]step{{lock, infoA, 200, ""}})
		exhaust(t, c)
		c.converse([]step{
			{"GET " + f.state, "", 429, "rate_limited"},
			{"POST " + f.state, body(1), 429, "rate_limited"},
			{"POST " + f.state + "?ID=b-2", body(1), 429, "rate_limited"},
			{"POST " + f.state + "?ID=a-1", body(1), f.stored, ""},
			{unlock, infoB, 429, "rate_limited"},
			{unlock, infoA, 200, ""},
			{"POST " + f.state + "?ID=a-1", body(2), 429, "rate_limited"},
		})
	}
}

// What the guards keep back is a candidate in each spelling, and who did what is on record.
func TestGuardsHoldInDialects(t *testing.T) {
	for _, f := range foreigners() {
		deps := guardedBy(t, holding())
		deps.Aliases = foreignDeps(t).Aliases
		c := newCaller(t, startServer(t, deps), acme, acmeKey)
		kept := f.reused
		if kept == 0 {
			kept = http.StatusConflict
		}
		c.converse([]step{
			{"POST " + f.state, with(1, 3), f.stored, ""},
			{"POST " + f.state, with(2, 0), kept, "write_held"},
			{"GET " + f.state, "", 200, "=" + with(1, 3)},
			{"GET /api/v1/audit?action=candidate.hold", "", 200, "emptied"},
			{"GET /api/v1/audit?action=state.write", "", 200, `"version":1`},
		})
	}
}
