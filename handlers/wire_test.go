package handlers_test

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/openapi"
)

// wireRequest is one request to a route. What its answer is of, the route's description says.
type wireRequest struct {
	method string
	// request is the address, and the body behind a blank; what stands in braces is of the walk's world.
	request string
	status  int // 0 is any with which the route succeeds
	about   openapi.Operation
}

// bearer is the secret that the route wants in place of a key; empty for none.
func (r wireRequest) bearer() string {
	if len(r.about.Security) == 0 {
		return ""
	}
	return map[string]string{"poolToken": "{pool}", "agentSecret": "{secret}", "runToken": "{token}"}[r.about.Security[0]]
}

// send sends the request, and says what that was.
func (r wireRequest) send(c caller, fill *strings.Replacer) (asked, body string, got answer) {
	address, body, _ := strings.Cut(fill.Replace(r.request), " ")
	return r.method + " " + address, body, c.send(r.made(c, fill, strings.NewReader(body)))
}

// made is the request with a body.
func (r wireRequest) made(c caller, fill *strings.Replacer, body io.Reader) *http.Request {
	c.t.Helper()
	address, _, _ := strings.Cut(fill.Replace(r.request), " ")
	asked, err := http.NewRequest(r.method, c.url+address, body)
	if err != nil {
		c.t.Fatal(err)
	}
	asked.SetBasicAuth(c.user, c.key)
	if secret := r.bearer(); secret != "" {
		asked.Header.Set("Authorization", "Bearer "+fill.Replace(secret))
	}
	return asked
}

// succeeds reports whether a status is the one that the request wants.
func (r wireRequest) succeeds(status int) bool {
	if r.status != 0 {
		return status == r.status
	}
	return slices.ContainsFunc(r.about.Answers, func(a openapi.Answer) bool { return a.Status == status })
}

// wireRequests has requests for every route that the router has. Those that take more than an address are listed
// beside what the domain's answers are of; the others are made of the routes.
func wireRequests(t *testing.T) map[string][]wireRequest {
	t.Helper()
	router, err := handlers.NewRouter(testDeps(t))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]wireRequest{}
	for _, line := range slices.Concat(stateExamples(), clientExamples(), callerExamples(), uploadExamples(),
		workspaceExamples(), repositoryExamples(), layerExamples(), pullExamples(), projectExamples(), runExamples()) {
		var r wireRequest
		first, rest, _ := strings.Cut(line, " ")
		if status, err := strconv.Atoi(first); err == nil {
			r.status = status
			first, rest, _ = strings.Cut(rest, " ")
		}
		r.method, r.request = first, rest
		address, _, _ := strings.Cut(rest, " ")
		asked, err := http.NewRequest(r.method, "http://x"+address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		var ok bool
		if r.about, ok = router.OperationOf(asked); !ok {
			t.Errorf("%s: there is no such route any more", line)
		}
		route := handlers.RouteOf(r.about)
		found[route] = append(found[route], r)
	}
	described := map[string]openapi.Operation{}
	for _, o := range router.Operations() {
		described[handlers.RouteOf(o)] = o
	}
	for _, registered := range router.Routes() {
		route := registered.Method + " " + registered.Path
		o, ok := described[route]
		switch {
		case strings.HasPrefix(registered.Path, strings.TrimSuffix(handlers.PagePath, "/")):
			continue // files, for browsers
		case !ok:
			t.Errorf("%s has no description", route)
		case len(found[route]) > 0:
		case o.Body != nil && o.Body.Required:
			t.Errorf("%s takes a body: list a request that it accepts beside those of its domain", route)
		default:
			path := wireAddresses().Replace(strings.NewReplacer("{", ":", "}", "").Replace(o.Path))
			if strings.Contains(path, "/:") {
				t.Errorf("%s: say in wireAddresses what stands in its address, or list a request", route)
			}
			found[route] = []wireRequest{{method: o.Method, request: path, about: o}}
		}
	}
	return found
}

// wireAddresses puts what the walk's world has into the addresses of routes.
func wireAddresses() *strings.Replacer {
	return strings.NewReplacer("/workspaces/:name", "/workspaces/prod/net", "/layers/:name", "/layers/prod/net",
		"/state/:name", "/state/x", "/infra/:project", "/infra/prod%2Fnet", "/repositories/:repository",
		"/repositories/infra", "/runs/:id", "/runs/{run}", "/keys/:key", "/keys/"+wireKey(), "/candidates/:id",
		"/candidates/{open}", ":enclave", "e", ":partition", "x", ":alias", "42", ":name", "x", ":serial", "2",
		":version", "1", ":snapshot", "newest", ":path", "d/main.tf", ":key", "a", ":pool", "eu", ":bundle", "base",
		":number", "7", ":agent", "{agent}", ":id", "e")
}

// stateExamples are requests about states, what belongs to them, and the audit log.
func stateExamples() []string {
	return []string{
		"DELETE /api/v1/state/x/-/expect",
		"DELETE /api/v1/state/x/-/expect?reason=over",
		"DELETE /api/v1/state/x/-/versions/1?reason=leaked",
		"DELETE /api/v1/state/x/-/versions/1?reason=leaked&copies=true",
		"GET /api/v1/audit",
		"GET /api/v1/audit?limit=1",
		"GET /api/v1/audit/chain",
		"GET /api/v1/audit/chain?limit=1",
		"GET /api/v1/folders",
		"GET /api/v1/folders?prefix=f/&limit=1",
		"400 GET /api/v1/folders?prefix=f",
		"400 GET /api/v1/folders?cursor=!x",
		"GET /api/v1/state/x/-/candidates",
		"GET /api/v1/state/x/-/candidates?limit=1",
		"GET /api/v1/state/x/-/candidates/{open}",
		"GET /api/v1/state/x/-/candidates/{settled}",
		"GET /api/v1/state/x/-/expect",
		"GET /api/v1/state/locked/-/expect",
		"GET /api/v1/state/x/-/graph",
		"GET /api/v1/state/x/-/graph?version=1",
		"404 GET /api/v1/state/locked/-/graph",
		"404 GET /api/v1/state/x/-/graph?version=9",
		"GET /api/v1/state/locked/-/lock",
		"GET /api/v1/state/x/-/lock",
		"GET /api/v1/state/x/-/outputs",
		"404 GET /api/v1/state/locked/-/outputs",
		"GET /api/v1/state/x/-/outputs/a",
		"GET /api/v1/state/x/-/outputs/b?raw",
		"GET /api/v1/state/x/-/versions",
		"GET /api/v1/state/x/-/versions?limit=1",
		"GET /api/v1/state/purged/-/versions",
		"200 GET /api/v1/state/x/-/versions/1",
		"404 GET /api/v1/state/x/-/versions/9",
		"GET /api/v1/state/x/-/versions/2/diff",
		"GET /api/v1/state/x/-/versions/1/diff?sensitive=true",
		"GET /api/v1/state/x/-/versions/2/diff?format=text",
		"GET /api/v1/states?deleted=any",
		"GET /api/v1/states?limit=1",
		"400 GET /api/v1/states?x=1",
		"POST /api/v1/state/x/-/candidates?reason=lost " + wireState("8", "z"),
		`POST /api/v1/state/x/-/candidates/{open}/discard {"reason":"old"}`,
		"POST /api/v1/state/x/-/candidates/{open}/promote " + wireOrder,
		"409 POST /api/v1/state/x/-/candidates/{settled}/promote " + wireOrder,
		"POST /api/v1/state/x/-/expect " + wireExpect,
		"404 POST /api/v1/state/locked/-/expect " + wireExpect,
		`400 POST /api/v1/state/x/-/expect {"findings":["emptied"],"for":"0s","reason":"x"}`,
		"POST /api/v1/state/brought/-/import?time=2024-01-01T00:00:00Z&source=elsewhere " + wireState("1", "z"),
		"409 POST /api/v1/state/x/-/import?time=2024-01-01T00:00:00Z&source=elsewhere " + wireState("1", "z"),
		"400 POST /api/v1/state/x/-/import " + wireState("1", "z"),
		`POST /api/v1/state/locked/-/lock/release {"reason":"<why>"}`,
		`POST /api/v1/state/locked/-/lock/release {"reason":"<why>"}`,
		"POST /api/v1/state/gone/-/undelete",
		`POST /api/v1/state/x/-/versions/1/rollback {"reason":"<why>"}`,
	}
}

// clientExamples are what Terraform and OpenTofu ask, at each of the addresses that they may be given.
func clientExamples() (all []string) {
	third, fourth := strings.ReplaceAll(wireInfo, "w-1", "w-3"), strings.ReplaceAll(wireInfo, "w-1", "w-4")
	for _, at := range []struct {
		states, lock         string
		write, take, release string // methods
		held, wrong, unnamed string // statuses: of a lock that is held, of another ID, of none
		versions             bool   // which have addresses of their own
	}{
		{"/api/v1/state/", "", "POST PUT", "LOCK", "UNLOCK", "409", "400", "409", false},
		{"/api/v1/state/", "/-/lock", "", "POST PUT", "DELETE", "", "400", "", false},
		{"/terraform/state/e/", "", "POST PUT", "LOCK", "UNLOCK", "409", "400", "409", false},
		{"/terraform/state/e/", "/lock", "", "POST PUT", "DELETE", "", "400", "", false},
		{"/api/v4/projects/42/terraform/state/", "/lock", "POST", "POST", "DELETE", "409", "409", "409", true},
		{"/api/packages/42/terraform/state/", "/lock", "POST", "POST", "DELETE", "423", "423", "423", true},
		{"/state/42/", "", "POST", "LOCK", "UNLOCK", "423", "400", "423", false},
		{"/42/state/", "/lock", "POST", "POST", "DELETE", "409", "409", "423", false},
	} {
		x, locked := at.states+"x", at.states+"locked"
		for method := range strings.FieldsSeq(at.write) {
			all = append(all, method+" "+x+" "+wireState("7", "y"), at.unnamed+" "+method+" "+locked+" "+wireState("1", "y"))
		}
		for method := range strings.FieldsSeq(at.take) {
			all = append(all, method+" "+x+at.lock+" "+third)
			if at.held != "" {
				all = append(all, at.held+" "+method+" "+locked+at.lock+" "+fourth)
			}
		}
		all = append(all, at.wrong+" "+at.release+" "+locked+at.lock+" "+fourth,
			at.release+" "+locked+at.lock+" "+wireInfo)
		switch {
		case at.write == "POST PUT":
			all = append(all, "200 GET "+x, "200 GET "+x+"?view=redacted", "400 GET "+x+"?version=9")
		case at.write != "":
			all = append(all, "200 GET "+x, "200 GET "+x+"?view=redacted", "403 GET "+strings.Replace(x, "42", "43", 1))
		}
		if at.versions {
			all = append(all, "200 GET "+x+"/versions/2", "404 GET "+x+"/versions/9",
				"DELETE "+x+"/versions/2", "404 DELETE "+x+"/versions/9")
		}
	}
	return all
}

// uploadExamples are requests about uploads and resources.
func uploadExamples() []string {
	return []string{
		"GET /api/v1/data",
		"GET /api/v1/data?limit=1",
		"400 GET /api/v1/data?x=1",
		"GET /api/v1/resources",
		"GET /api/v1/resources?limit=1",
		"GET /api/v1/resources/module.m%5B%22k%22%5D.aws_vpc.n%5B%22k%22%5D/history?state=x",
		"GET /api/v1/resources/aws_vpc.moved2%5B0%5D/history?state=x",
		"GET /api/v1/resources/coverage",
		"GET /api/v1/resources/coverage?status=unmatched",
		"POST /api/v1/upload " + wireUpload,
		`400 POST /api/v1/upload {"provider":1}`,
		"POST /upload " + wireUpload,
	}
}

// callerExamples are requests about credentials, the organization, and policies.
func callerExamples() []string {
	return []string{
		"409 DELETE /api/v1/keys/" + wireKey(),
		"DELETE /api/v1/policies/base?workspace=prod/net",
		"404 DELETE /api/v1/session",
		"404 DELETE /api/v1/sessions/0123456789abcdef",
		"400 GET /api/v1/events?after=x",
		"400 GET /api/v1/events?x=1",
		"GET /api/v1/policies",
		"GET /api/v1/policies?workspace=prod/net",
		"400 GET /api/v1/policies?x=1",
		"400 GET /api/v1/policies?workspace=/",
		"GET /api/v1/policies/base",
		"GET /api/v1/policies/base?version=1",
		"404 GET /api/v1/policies/base?version=9",
		"404 GET /api/v1/policies/no",
		"501 GET /api/v1/session/oidc",
		"501 GET /api/v1/session/oidc/callback?code=x&state=x",
		`PATCH /api/v1/organization {"version":"` + wireSettings() + `","settings":[{"name":"keep_days","value":"90"}]}`,
		`400 PATCH /api/v1/organization {"version":"x","settings":[{"name":"quota","value":"off"}]}`,
		`409 PATCH /api/v1/organization {"version":"x","settings":[{"name":"guards","value":"hold"}]}`,
		`POST /api/v1/keys {"role":"reader","name":"ana","states":["prod/*"],"label":"x","from":["192.0.2.1"],"expires":"2100-01-01T00:00:00Z"}`,
		`400 POST /api/v1/keys {"role":"king"}`,
		"POST /api/v1/keys/" + wireKey() + "/rotate",
		"404 POST /api/v1/keys/nobody/rotate",
		`POST /api/v1/session {"org":"11111111-2222-3333-4444-555555555555","key":"acme-key"}`,
		`401 POST /api/v1/session {"org":"11111111-2222-3333-4444-555555555555","key":"wrong"}`,
		`400 POST /api/v1/session {"name":"x"}`,
		"PUT /api/v1/policies/base?workspace=prod/net " + wirePolicy,
		`400 PUT /api/v1/policies/base {"files":[{"path":"a.rego","content":"package p\n\ndeny {"}]}`,
		`400 PUT /api/v1/policies/base {"files":[],"enforce":"never"}`,
		"400 PUT /api/v1/policies/base []",
	}
}

// wirePolicy is a bundle of policies.
const wirePolicy = `{"files":[{"path":"a.rego","content":"package p\n\ndeny contains \"x\" if { input.x == 1 }\n"}],"enforce":"hold",` +
	`"message":"<m>"}`
