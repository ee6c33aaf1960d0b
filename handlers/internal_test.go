package handlers_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/handlers"
)

// stateBytes finds what the states, plans, logs (also in base64) and outputs of the walk's world have of values.
var stateBytes = regexp.MustCompile(
	`vpc-[1om]|s?small|s?large|sother|(<|\\u003c)[012]|planned (<|\\u003c)it|bXBsYW5uZWQg|"AAAA"|c&é|only[123]"`)

// isOfStates reports whether a request is about anything that is made of states: variables are people's own.
func isOfStates(request string) bool {
	return !strings.Contains(request, "/variables") && !strings.HasPrefix(request, "GET /api/docs") &&
		!strings.HasPrefix(request, "GET /api/openapi.json")
}

// walkedBy asks for everything that the walk knows of, of one world, and returns the answers by their requests.
func walkedBy(t *testing.T, key string) map[string]answer {
	t.Helper()
	c, fill := wireWorld(t)
	c.key = key
	known, found := wireAnswers(), map[string]answer{}
	routes := slices.Collect(maps.Keys(known))
	for _, route := range slices.Sorted(slices.Values(routes)) { // DELETE comes first: it is left for the end
		if strings.HasPrefix(route, "DELETE") || strings.HasPrefix(route, "POST") {
			continue
		}
		walkOver(c, fill, route, known[route], found)
	}
	for _, prefix := range []string{"POST", "DELETE"} {
		for _, route := range slices.Sorted(slices.Values(routes)) {
			if strings.HasPrefix(route, prefix) {
				walkOver(c, fill, route, known[route], found)
			}
		}
	}
	return found
}

func walkOver(c caller, fill *strings.Replacer, route string, all []answered, found map[string]answer) {
	method, _, _ := strings.Cut(route, " ")
	for _, a := range all {
		// Where a run's token or an agent's is wanted, it is asked for with the key all the same.
		address, body, _ := strings.Cut(fill.Replace(a.request), " ")
		found[method+" "+a.request] = c.do(method+" "+address, body)
	}
}

// Whom state_access keeps from states sees no byte of one at any route, and all others that they have a right on.
// That the walk knows every route there is, TestEveryAnswerIsOfItsType holds; that each is asked, this one.
func TestInternalSeesNoState(t *testing.T) {
	walked := walkedBy(t, "internal")
	everyRouteIsAsked(t, walked)
	t.Run("is told why", func(t *testing.T) { internalIsToldWhy(t, walked) })
	for request, got := range walked {
		if found := stateBytes.FindString(got.body); found != "" && isOfStates(request) {
			t.Errorf("%s shows %q: %d %.400s", request, found, got.status, got.body)
		}
		if got.status >= 500 && got.status != 501 {
			t.Errorf("%s: %d %.200s", request, got.status, got.body)
		}
	}
	shown := map[string]bool{}
	for request, got := range walkedBy(t, acmeKey) {
		if stateBytes.MatchString(got.body) {
			path, _, _ := strings.Cut(request, "?")
			shown[path] = true
		}
	}
	for _, request := range []string{
		"GET /api/v1/state/x", "GET /terraform/state/e/x", "GET /api/v1/state/x/-/versions/1",
		"GET /api/v1/state/x/-/outputs",
		"GET /api/v1/state/x/-/versions/2/diff", "GET /api/v1/resources", "GET /api/v1/runs/{waits}/changes",
		"GET /api/v1/runs/{applied}/outputs", "GET /api/v1/runs/{waits}/log/stream", "GET /api/v1/infra/waits/runs/{waits}",
		"GET /enclaves/e/partitions/x/iac/runs/{part}", "GET /enclaves/e/partitions/x/iac/runs/{part}/stream",
		"GET /api/v1/layers", "GET /api/v1/layers/prod/net", "PATCH /api/v1/layers/prod/net {\"drift\":{\"off\":true}}",
		"POST /api/v1/layers/prod/net/-/sync",
		"GET /api/v1/layers/prod/net/-/drift", "GET /api/v1/drift",
	} {
		if !shown[request] {
			t.Errorf("%s shows no value to who may see it: the walk says nothing of it; it shows %v", request,
				slices.Sorted(maps.Keys(shown)))
		}
	}
}

// everyRouteIsAsked reports the routes of the router that a walk has not asked for, whatever they answer.
func everyRouteIsAsked(t *testing.T, walked map[string]answer) {
	t.Helper()
	router, err := handlers.NewRouter(testDeps(t))
	if err != nil {
		t.Fatal(err)
	}
	known := wireAnswers()
	for _, route := range router.Routes() {
		name := route.Method + " " + route.Path
		if !slices.ContainsFunc(known[name], func(a answered) bool {
			_, asked := walked[route.Method+" "+a.request]
			return asked
		}) {
			t.Errorf("%s is never asked for", name)
		}
	}
}

// internalIsToldWhy: what is refused says so by its code, and people still see what changes.
func internalIsToldWhy(t *testing.T, found map[string]answer) {
	for request, want := range map[string]string{
		"GET /api/v1/state/x":                  `"code":"state_internal"`,
		"GET /api/v1/state/x/-/outputs":        `"code":"state_internal"`,
		"GET /api/v1/runs/{applied}/outputs":   `"code":"state_internal"`,
		"GET /api/v1/runs/{waits}/changes":     `"address":"terraform_data.r0"`,
		"GET /api/v1/state/x/-/versions":       `"serial":3`,
		"GET /api/v1/infra/waits/runs/{waits}": `"masked":true`,
	} {
		if got := found[request]; !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %.300s, want %s", request, got.status, got.body, want)
		}
	}
}

// internalOwner may do everything, and sees no state.
func internalOwner(own auth.Principal) auth.Principal { return shown(own, auth.AccessInternal) }

func shown(own auth.Principal, access auth.StateAccess) auth.Principal {
	own.Exposure = own.Exposure.With(nil, access)
	return own
}

// Whom state_access lets see a summary sees what masks sensitive values, and neither bytes nor those.
func TestSummaryShowsNoBytes(t *testing.T) {
	c, fill := wireWorld(t)
	c.key = "summary"
	const x = "GET /api/v1/state/x"
	var all []step
	for _, request := range []string{x, "GET /terraform/state/e/x", x + "?version=1",
		x + "?view=outputs", x + "/-/versions/1",
		x + "/-/versions/2/diff?sensitive=true", x + "/-/outputs?sensitive=true", x + "/-/outputs/b",
		x + "/-/candidates/{open}", x + "/-/candidates/{open}/diff?sensitive=true"} {
		all = append(all, step{fill.Replace(request), "", 403, "state_internal"})
	}
	for request, want := range map[string]string{x + "?view=redacted": "vpc-1", x + "/-/versions/2/diff": "large",
		x + "/-/outputs": "(sensitive value)", x + "/-/outputs/a": "small", x + "/-/graph": "aws_vpc",
		x + "/-/candidates/{open}/diff": "other", "GET /api/v1/resources?state=x": "vpc-1",
		"GET /api/v1/runs/{waits}/changes": "after"} {
		all = append(all, step{fill.Replace(request), "", 200, want})
	}
	c.converse(all)
	for _, request := range all {
		got := c.do(request.request, "")
		if strings.Contains(got.body, `"ssmall"`) || strings.Contains(got.body, `"slarge"`) {
			t.Errorf("%s shows a sensitive value: %s", request.request, got.body)
		}
	}
}

// The state's own address of a project is for the run that has it.
func TestProjectStateIsForItsRun(t *testing.T) {
	c, _ := wireWorld(t)
	reader := c
	c.key, reader.key = "run", "reader"
	c.converse([]step{
		{"GET /api/v1/infra/run/state", "", 200, "=" + body(1)},
		{"POST /api/v1/infra/run/state?ID=w-1", body(2), 200, ""},
		{"GET /api/v1/infra/run/state", "", 200, "=" + body(2)},
		{"GET /api/v1/infra/x/state", "", 403, "right_missing"},
	})
	reader.converse([]step{{"GET /api/v1/infra/run/state", "", 401, "credentials_needed"}})
}
