package handlers_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/auth"
)

// rightsOf says which right each route needs.
func rightsOf() map[string]auth.Right {
	needs := map[string]auth.Right{
		"GET /api/v1/states":          auth.ReadMetadata,
		"GET /api/v1/folders":         auth.ReadMetadata,
		"GET /api/v1/locks":           auth.ReadMetadata,
		"GET /api/v1/expectations":    auth.ReadMetadata,
		"GET /api/v1/audit":           auth.ReadAudit,
		"GET /api/v1/audit/chain":     auth.ReadAudit,
		"GET /api/v1/keys":            auth.ReadKeys,
		"POST /api/v1/keys":           auth.ManageKeys,
		"POST /api/v1/keys/ci/rotate": auth.ManageKeys,
		"DELETE /api/v1/keys/ci":      auth.ManageKeys,
		"GET /api/v1/organization":    auth.ReadMetadata,
		"PATCH /api/v1/organization":  auth.ManageOrganization,
		"POST /api/v1/upload":         auth.WriteData,
		"POST /upload":                auth.WriteData,
		"GET /api/v1/data":            auth.ReadData,
		"GET /api/v1/data/latest":     auth.ReadData,
		"GET /api/v1/data/summary":    auth.ReadData,
		// One right of the two is enough, and whoever has data:read has state:read.
		"GET /api/v1/resources": auth.ReadState,
		// Both rights are needed, and whoever has data:read has state:read.
		"GET /api/v1/resources/coverage":                 auth.ReadData,
		"GET /api/v1/resources/:address/history?state=x": auth.ReadState,
	}
	const one = " /api/v1/state/x"
	maps.Copy(needs, rightsOfDialects())
	for address, lock := range map[string]string{one: "/-/lock", " /terraform/state/e/p": "/lock"} {
		needs["GET"+address] = auth.ReadState
		needs["GET"+address+"?view=redacted"] = auth.ReadState
		needs["GET"+address+"?version=1"] = auth.ReadState
		needs["GET"+address+"?view=outputs"] = auth.ReadOutputs
		for _, method := range []string{"POST", "PUT", "DELETE"} {
			needs[method+address] = auth.WriteState
		}
		needs["LOCK"+address] = auth.LockState
		needs["POST"+address+lock] = auth.LockState
		needs["PUT"+address+lock] = auth.LockState
		// Without an ID, an UNLOCK opens whoever's lock it is.
		needs["UNLOCK"+address] = auth.ForceUnlock
		needs["DELETE"+address+lock] = auth.ForceUnlock
		needs["UNLOCK"+address+"?ID=a-1"] = auth.LockState
		needs["DELETE"+address+lock+"?ID=a-1"] = auth.LockState
	}
	for route, right := range map[string]auth.Right{
		"GET /-/lock":                                 auth.ReadMetadata,
		"POST /-/lock/release":                        auth.ForceUnlock,
		"POST /-/undelete":                            auth.WriteState,
		"GET /-/expect":                               auth.ReadMetadata,
		"POST /-/expect":                              auth.ExpectChange,
		"DELETE /-/expect":                            auth.ExpectChange,
		"POST /-/import":                              auth.ImportState,
		"GET /-/versions":                             auth.ReadMetadata,
		"GET /-/versions/1":                           auth.ReadState,
		"GET /-/versions/1/diff":                      auth.ReadState,
		"GET /-/versions/1/diff?sensitive=true":       auth.ReadState,
		"DELETE /-/versions/1?reason=x":               auth.PurgeVersions,
		"POST /-/versions/1/rollback":                 auth.WriteState,
		"GET /-/outputs":                              auth.ReadOutputs,
		"GET /-/outputs/k":                            auth.ReadOutputs,
		"GET /-/outputs?sensitive=true":               auth.ReadOutputs,
		"GET /-/graph":                                auth.ReadState,
		"GET /-/candidates":                           auth.ReadMetadata,
		"POST /-/candidates":                          auth.WriteState,
		"GET /-/candidates/0123456789abcdef":          auth.ReadState,
		"GET /-/candidates/0123456789abcdef/diff":     auth.ReadState,
		"POST /-/candidates/0123456789abcdef/promote": auth.WriteState,
		"POST /-/candidates/0123456789abcdef/discard": auth.WriteState,
	} {
		method, path, _ := strings.Cut(route, " ")
		needs[method+one+path] = right
	}
	maps.Copy(needs, rightsOfWorkspaces())
	maps.Copy(needs, rightsOfRuns())
	maps.Copy(needs, rightsOfProjects())
	return needs
}

// rightsOfProjects are those of what is asked of a project that isn't there.
func rightsOfProjects() map[string]auth.Right {
	const one = " /api/v1/infra/x"
	return map[string]auth.Right{
		"GET" + one + "/files":           auth.ReadWorkspace,
		"GET" + one + "/files/checksums": auth.ReadWorkspace,
		"POST" + one + "/files/pull":     auth.ReadWorkspace,
		"POST" + one + "/files":          auth.WriteWorkspace,
		"DELETE" + one + "/files/x":      auth.WriteWorkspace,
		"POST" + one + "/run":            auth.PlanRun,
		// Without an order it is about a run that is there.
		"GET" + one + "/run/stream":                  auth.ReadRun,
		"GET" + one + "/run/stream?mode=plan":        auth.PlanRun,
		"GET" + one + "/run/stream?mode=apply":       auth.ApplyRun,
		"GET" + one + "/runs":                        auth.ReadRun,
		"GET" + one + "/runs/" + noRun:               auth.ReadRun,
		"POST" + one + "/runs/" + noRun + "/approve": auth.ApproveRun,
		"POST" + one + "/runs/" + noRun + "/deny":    auth.ApproveRun,
	}
}

// rightsOfDialects are those of what other servers' clients ask, about states of an alias.
func rightsOfDialects() map[string]auth.Right {
	needs := map[string]auth.Right{}
	for address, locks := range map[string][2]string{
		" /api/v4/projects/e/terraform/state/x": {"POST /lock", "DELETE /lock"},
		" /api/packages/e/terraform/state/x":    {"POST /lock", "DELETE /lock"},
		" /-/state/e/x":                         {"POST /lock", "DELETE /lock"},
		" /e/state/x":                           {"POST /lock", "DELETE /lock"},
		" /state/e/x":                           {"LOCK ", "UNLOCK "},
	} {
		needs["GET"+address] = auth.ReadState
		needs["POST"+address], needs["DELETE"+address] = auth.WriteState, auth.WriteState
		take, behind, _ := strings.Cut(locks[0], " ")
		needs[take+address+behind] = auth.LockState
		leave, behind, _ := strings.Cut(locks[1], " ")
		needs[leave+address+behind] = auth.ForceUnlock
		needs[leave+address+behind+"?ID=a-1"] = auth.LockState
	}
	for _, address := range []string{" /api/v4/projects/e/terraform/state/x/versions/1",
		" /api/packages/e/terraform/state/x/versions/1"} {
		needs["GET"+address], needs["DELETE"+address+"?reason=x"] = auth.ReadState, auth.PurgeVersions
	}
	return needs
}

// rightsOfRuns are those of what people ask of runs, of one that isn't there: who may approve is
// told of a run that is, by the rules of package runs.
func rightsOfRuns() map[string]auth.Right {
	const one, part = " /api/v1/runs/" + noRun, " /enclaves/e/partitions/p/iac/runs"
	needs := map[string]auth.Right{}
	for right, routes := range map[auth.Right][]string{
		auth.ReadRun: {"GET /api/v1/policies", "GET /api/v1/policies/x", "GET /api/v1/runs", "GET /api/v1/pools", "GET" + one,
			"GET" + one + "/events", "GET" + one +
				"/changes", "GET" + one + "/outputs", "GET" + one + "/insight",
			"GET" + one + "/log", "GET" + one + "/log/stream",
			"GET /api/v1/pulls", "GET /api/v1/repositories/x/pulls/7", "GET" + part, "GET" + part + "/latest",
			"GET" + part + "/" + noRun, "GET" + part + "/" + noRun + "/stream"},
		auth.ApplyRun: {"DELETE /enclaves/e", "POST" + part, "PUT" + part + "/" + noRun + "/log/:stream",
			"POST" + part + "/" + noRun + "/lease", "POST" + part + "/" + noRun + "/end"},
		auth.PlanRun: {"POST /api/v1/runs", "POST" + one + "/retry", "POST /api/v1/layers/x/-/sync",
			"POST /api/v1/layers/x/-/check", "POST /api/v1/repositories/x/pulls/7/look"},
		auth.ApproveRun:     {"POST" + one + "/approve", "POST" + one + "/deny", "POST /api/v1/repositories/x/pulls/7/allow"},
		auth.ManagePolicies: {"PUT /api/v1/policies/x", "DELETE /api/v1/policies/x"},
		auth.CancelRun:      {"POST" + one + "/cancel", "POST" + one + "/discard"},
		auth.ForceUnlock:    {"POST" + one + "/resolve"},
		auth.ReadRepository: {"GET /api/v1/repositories", "GET /api/v1/repositories/x",
			"GET /api/v1/repositories/x/pull-settings"},
		auth.WriteRepository: {"POST /api/v1/repositories", "PATCH /api/v1/repositories/x", "DELETE /api/v1/repositories/x",
			"POST /api/v1/repositories/x/fetch", "POST /api/v1/repositories/x/secret",
			"PUT /api/v1/repositories/x/pull-settings"},
		auth.ManageAgents: {"POST /api/v1/pools", "PATCH /api/v1/pools/x", "POST /api/v1/pools/x/rotate",
			"DELETE /api/v1/pools/x",
			"POST /api/v1/pools/x/grants", "DELETE /api/v1/pools/x/grants/11111111-1111-4111-8111-111111111111"},
	} {
		for _, route := range routes {
			needs[route] = right
		}
	}
	return needs
}

// orRights are further rights of which one is enough for a route: what it needs depends on the run.
func orRights(route string) []auth.Right {
	switch {
	case strings.HasSuffix(route, "/approve"):
		return []auth.Right{auth.ApplyRun, auth.BreakGlass}
	case strings.HasSuffix(route, "/retry"):
		return []auth.Right{auth.ApplyRun}
	case strings.HasPrefix(route, "POST /api/v1/infra/") && strings.HasSuffix(route, "/deny"):
		return []auth.Right{auth.CancelRun}
	}
	return nil
}

// hasRight reports whether a role has a route's right, or one of those that are enough.
func hasRight(role auth.Role, route string, right auth.Right) bool {
	return role.Has(right) || slices.ContainsFunc(orRights(route), role.Has)
}

// noRun could be the ID of a run, and is none.
const noRun = "01M00000000000000000000000"

// ofExecutors reports whether no key may take a route: it is for those who execute runs, with the
// tokens of pools, agents and runs.
func ofExecutors(route string) bool {
	_, path, _ := strings.Cut(route, " ")
	of, _ := strings.CutPrefix(path, "/api/v1/runs/"+noRun)
	return strings.HasPrefix(path, "/api/v1/agents") || path == "/api/v1/infra/x/state" ||
		of == "/lease" || of == "/phase" || of == "/configuration" ||
		strings.HasPrefix(of, "/artefacts/") || strings.HasPrefix(of, "/log/:")
}

func rightsOfWorkspaces() map[string]auth.Right {
	const one = " /api/v1/workspaces/x"
	needs := map[string]auth.Right{}
	for right, routes := range map[auth.Right][]string{
		auth.ReadWorkspace: {"GET /api/v1/workspaces", "POST /api/v1/format", "GET /api/v1/tools",
			"GET /api/v1/variables", "GET" + one, "GET" +
				one + "/-/variables", "GET" + one + "/-/snapshots",
			"GET" + one + "/-/snapshots/1", "GET" + one + "/-/snapshots/1/archive", "GET" + one + "/-/snapshots/1/diff", "GET" +
				one + "/-/checksums",
			"GET /api/v1/layers", "GET /api/v1/layers/x", "GET /api/v1/layers/x/-/drift", "GET /api/v1/drift",
			"GET /api/v1/layers/x/-/drift/trend", "GET /api/v1/drift/trend",
			"POST /api/v1/discover",
			"GET" + one + "/-/files", "GET" + one + "/-/files/main.tf", "POST" + one + "/-/pull"},
		auth.WriteWorkspace: {"POST /api/v1/workspaces", "POST" + one + "/-/move", "POST /api/v1/variables", "PATCH" + one,
			"POST /api/v1/layers", "PATCH /api/v1/layers/x", "DELETE /api/v1/layers/x",
			"POST /api/v1/layers/x/-/expectations", "DELETE /api/v1/layers/x/-/expectations/0123456789abcdef",
			"DELETE" + one, "POST" + one + "/-/variables",
			"POST" + one + "/-/snapshots", "POST" + one + "/-/archive", "POST" + one + "/-/checksums", "PUT" + one +
				"/-/contents/" + wireDigest,
			"PUT" + one + "/-/files/main.tf", "DELETE" + one + "/-/files/main.tf"},
	} {
		for _, route := range routes {
			needs[route] = right
		}
	}
	return needs
}

// narrowed reports whether a route is about a state, or about what all of them share, so that a
// key for other states is refused.
func narrowed(route string) bool {
	changes := !strings.HasPrefix(route, "GET ") && !strings.HasSuffix(route, "/fetch")
	return changes && strings.Contains(route, "/repositories") && !strings.Contains(route, "/pulls/") ||
		strings.HasPrefix(route, "PUT /api/v1/policies") || strings.HasPrefix(route, "DELETE /api/v1/policies") ||
		strings.Contains(route, "/state/") || strings.Contains(route, "?state=") ||
		strings.Contains(route, "/workspaces/") || strings.Contains(route, "/infra/") ||
		strings.Contains(route, "/layers/") || route == "POST /api/v1/layers" || route == "PATCH /api/v1/organization" ||
		route == "POST /enclaves/e/partitions/p/iac/runs" ||
		route == "POST /api/v1/workspaces" || route == "POST /api/v1/runs" || route == "POST /api/v1/variables"
}

// bodyFor is a body with which a route gets as far as its service.
func bodyFor(route string) string {
	method, path, _ := strings.Cut(route, " ")
	switch {
	case strings.HasSuffix(path, "/iac/runs") && method == "POST":
		return `{"operation":"Update"}`
	case route == "POST /api/v1/infra/x/files":
		return `{"name":"main.tf"}`
	case route == "POST /api/v1/infra/x/run":
		return `{"mode":"plan"}`
	case strings.HasPrefix(path, "/api/v1/infra/x/files"):
		return ""
	case path == "/api/v1/keys" && method == "POST":
		return `{"role":"reader"}`
	case strings.HasPrefix(path, "/api/v1/keys/"):
		return ""
	case route == "PATCH /api/v1/organization":
		return `{"version":"x","settings":[]}`
	case path == "/api/v1/workspaces" && method == "POST":
		return `{"name":"x"}`
	case path == "/api/v1/layers" && method == "POST":
		return `{"name":"x","repository":"infra"}`
	case path == "/api/v1/discover":
		return `{"repository":"infra"}`
	case strings.HasSuffix(path, "/-/expectations") && method == "POST":
		return wireExpected()
	case strings.HasPrefix(path, "/api/v1/layers/") && method != "PATCH":
		return ""
	case route == "POST /api/v1/runs":
		return `{"workspace":"x","kind":"plan"}`
	case route == "POST /api/v1/pools":
		return `{"name":"x","workspaces":["other/*"]}`
	case route == "POST /api/v1/pools/x/grants":
		return `{"organization":"11111111-1111-4111-8111-111111111111"}`
	case path == "/api/v1/repositories" && method == "POST":
		return `{"name":"x","url":"https://git.example.com/x.git"}`
	case route == "PATCH /api/v1/repositories/x":
		return `{}`
	case strings.HasSuffix(path, "/pull-settings") && method == "PUT":
		return `{"plan":"off","apply":"off"}`
	case strings.HasSuffix(path, "/allow"):
		return `{"commit":"` + wireCommit + `"}`
	case strings.HasPrefix(path, "/api/v1/repositories/"):
		return ""
	case route == "PATCH /api/v1/pools/x":
		return `{"workspaces":["other/*"]}`
	case strings.HasSuffix(path, "/approve") || strings.HasSuffix(path, "/deny"):
		return `{"digest":"` + wireDigest + `"}`
	case strings.HasPrefix(path, "/api/v1/pools/") && method == "POST", strings.HasSuffix(path, "/retry"):
		return ""
	case strings.HasPrefix(path, "/api/v1/runs/") && method == "POST":
		return `{"reason":"a test"}`
	case narrowed(route) && !strings.Contains(route, "state") && !strings.Contains(route, "/files/"):
		return "{}"
	case strings.HasSuffix(path, "/format"), strings.HasPrefix(path, "/enclaves/") && method == "POST":
		return "{}"
	case takesOrder(path):
		return `{"reason":"a test"}`
	case strings.Contains(path, "/upload"):
		return oneUpload("ada@engine")
	case method == "UNLOCK" || method == "DELETE" || method == "GET" || strings.HasSuffix(path, "/undelete"):
		return ""
	}
	return both
}

// ofEveryKey says whether a route is for all keys, whatever their rights.
func ofEveryKey(route string) bool {
	return route == "GET /api/v1/whoami" || route == "GET /api/v1/home" || strings.HasPrefix(route, "GET /api/v1/events")
}

// Every route with every role: who has the right gets through, everybody else is refused
// with its name, and on record.
func TestEveryRouteNeedsItsRight(t *testing.T) {
	deps, needs := testDeps(t), rightsOf()
	for _, route := range routes(t, deps) {
		if method, path, _ := strings.Cut(route, " "); method == "DELETE" && strings.Contains(path, "/versions/") {
			route += "?reason=x"
		}
		if strings.HasSuffix(route, "/history") {
			route += "?state=x"
		}
		// Every key may ask what it is good for, and is told of what it may read.
		if _, listed := needs[route]; !listed && !public(route) && !ofExecutors(route) && !ofEveryKey(route) &&
			!strings.Contains(route, "/api/v1/session") {
			t.Errorf("%s is not in the table of rights", route)
		}
	}
	held := keys{}
	for _, line := range auth.Roles() {
		held[auth.Credentials{Org: acme, Key: string(line.Role)}] = auth.Principal{Org: acme, KeyID: string(line.Role),
			Grant: auth.Grant{Role: line.Role}}
	}
	elsewhere, err := auth.ParsePatterns("other/*")
	if err != nil {
		t.Fatal(err)
	}
	held[auth.Credentials{Org: acme, Key: "elsewhere"}] = auth.Principal{Org: acme, KeyID: "elsewhere",
		Grant: auth.Grant{Role: auth.Owner, States: elsewhere}}
	deps.Verifier = held
	server := startServer(t, deps)
	refused := map[string]int{}
	for credentials, principal := range held {
		c := newCaller(t, server, acme, credentials.Key)
		for route, right := range needs {
			got := c.do(route, bodyFor(route))
			may := hasRight(principal.Role, route, right) && (principal.States == nil || !narrowed(route))
			if may == (got.status == 403 && strings.Contains(got.body, "right_missing")) {
				t.Errorf("%s as %s: %d %s", route, credentials.Key, got.status, got.body)
			}
			if principal.States != nil && orRights(route) != nil {
				right = auth.ReadRun // of a run of another state, they are told nothing
			}
			if !may && !strings.Contains(got.body, string(right)) {
				t.Errorf("%s as %s: the refusal does not name %s: %s", route, credentials.Key, right, got.body)
			}
			if !may {
				refused[credentials.Key]++
			}
		}
	}
	wantRefusals(t, newCaller(t, server, acme, "owner"), refused)
}

// wantRefusals checks how many refusals of each key are on record.
func wantRefusals(t *testing.T, c caller, want map[string]int) {
	t.Helper()
	for key, n := range want {
		var page struct {
			Events []struct{ Refused, Note, Role string }
		}
		got := c.do("GET /api/v1/audit?limit=1000&action=access.refused&key="+key, "")
		if err := json.Unmarshal([]byte(got.body), &page); err != nil {
			t.Fatalf("%s: %v", got.body, err)
		}
		if len(page.Events) != n {
			t.Errorf("%s: %d refusals are on record; want %d", key, len(page.Events), n)
		}
		for _, e := range page.Events {
			if e.Refused != "right_missing" || e.Note == "" || e.Role == "" {
				t.Errorf("%s: an incomplete event %+v", key, e)
			}
		}
	}
}

// A right is looked at before the body: who lacks it is told so, whatever they have sent, and learns nothing of what a
// body would have to be.
func TestRightsComeBeforeBodies(t *testing.T) {
	deps, needs := testDeps(t), rightsOf()
	held := keys{}
	for _, line := range auth.Roles() {
		held[auth.Credentials{Org: acme, Key: string(line.Role)}] = auth.Principal{Org: acme, KeyID: string(line.Role),
			Grant: auth.Grant{Role: line.Role}}
	}
	deps.Verifier = held
	server := startServer(t, deps)
	for credentials, principal := range held {
		c := newCaller(t, server, acme, credentials.Key)
		for route, right := range needs {
			if method, _, _ := strings.Cut(route, " "); method == "GET" || hasRight(principal.Role, route, right) {
				continue
			}
			for what, send := range map[string]func() answer{
				"no JSON":      func() answer { return c.do(route, "{\x00") },
				"another type": func() answer { return c.do(route, `[7]`) },
				"nothing":      func() answer { return c.do(route, "") },
				"a digest":     func() answer { return c.do(route, "{}", "Content-MD5: AAAAAAAAAAAAAAAAAAAAAA==") },
				"no gzip":      func() answer { return c.do(route, "{}", "Content-Encoding: gzip") },
				"other media":  func() answer { return c.do(route, "{}", "Content-Type: text/css") },
			} {
				if got := send(); got.status != 403 || !strings.Contains(got.body, "right_missing") ||
					!strings.Contains(got.body, string(right)) {
					t.Errorf("%s as %s with %s: %d %s", route, credentials.Key, what, got.status, got.body)
				}
			}
		}
	}
}

// A refusal is put on record with the state that it is about, and with no text that is no state's name.
func TestRefusalsNameStates(t *testing.T) {
	deps := testDeps(t)
	held := keys{}
	for _, role := range []auth.Role{auth.Owner, auth.Reader} {
		held[auth.Credentials{Org: acme, Key: string(role)}] = auth.Principal{Org: acme, KeyID: string(role),
			Grant: auth.Grant{Role: role}}
	}
	deps.Verifier = held
	server := startServer(t, deps)
	reader, owner := newCaller(t, server, acme, "reader"), newCaller(t, server, acme, "owner")
	for route, want := range map[string]string{
		"PATCH /api/v1/workspaces/a%2Fb":                         "a/b",
		"PATCH /api/v1/workspaces/%FF%FE":                        "",
		"PATCH /api/v1/workspaces/a%00b":                         "",
		"PATCH /api/v1/workspaces/" + strings.Repeat("x", 3_000): "",
		"DELETE /api/v1/infra/x/files/main.tf":                   "x",
		"POST /api/v4/projects/e/terraform/state/x":              "e/x",
	} {
		if got := reader.do(route, "{}"); got.status != 403 {
			t.Errorf("%.60s: %d %s", route, got.status, got.body)
		}
		var list struct {
			Events []struct{ Action, State string }
		}
		got := owner.do("GET /api/v1/audit?limit=1", "")
		if err := json.Unmarshal([]byte(got.body), &list); err != nil || len(list.Events) != 1 {
			t.Fatalf("%d %s: %v", got.status, got.body, err)
		}
		if last := list.Events[0]; last.Action != "access.refused" || last.State != want {
			t.Errorf("%.60s: on record is %s of %.60q, want %q", route, last.Action, last.State, want)
		}
	}
}
