package handlers_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/handlers"
)

// ask serves one request without a network, so that its lines are in the log afterwards.
// Headers are given as "Name: value".
func ask(t *testing.T, router http.Handler, request, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	method, target, _ := strings.Cut(request, " ")
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	router.ServeHTTP(w, r)
	return w
}

func basic(user, key string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+key))
}

// What this configuration doesn't offer is no error: a stranger who asks for it raises no alarm.
func TestStrangersCauseNoErrorLines(t *testing.T) {
	deps := testDeps(t)
	deps.Workspaces, deps.Runs = nil, nil
	log := newJournal(t, &deps)
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/v1/session/oidc", "/api/v1/session/oidc/callback", "/api/v1/state/x", "/nowhere"} {
		ask(t, router, "GET "+path, "")
	}
	for _, line := range log.named("request") {
		if line["level"] == "ERROR" {
			t.Errorf("logged %v", line)
		}
	}
}

// Who may see the log must not learn keys, nor lock IDs, which open locks.
func TestLogKeepsSecrets(t *testing.T) {
	deps := testDeps(t)
	log := newJournal(t, &deps)
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	const id = "5ec2e7-1d"
	wrong := "wr0ng-" + globexKey
	queries := []string{"?ID=" + id, "?ID=" + id + "&ID=" + id, "?ID=", "?unlock=" + id, "?ID=%zz" + id, "?ID=" + id + ";",
		"?" + id}
	for _, path := range []string{"/api/v1/state/x", "/terraform/state/e/p", "/api/v1/state/x/lock", "/api/v1/state/a%20b",
		"/nowhere", "/livez"} {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "LOCK", "UNLOCK", "PATCH"} {
			for _, query := range queries {
				for _, key := range []string{acmeKey, wrong} {
					request := method + " " + path + query
					ask(t, router, request, body(1), basic(acme.String(), key))
					ask(t, router, request, "", "X-Org-ID: "+acme.String(), "X-API-Key: "+key)
					ask(t, router, request, infoB, "Authorization: Bearer "+key)
				}
			}
		}
	}
	text := log.String()
	for what, secret := range map[string]string{
		"a lock ID": id, "a key": acmeKey, "a wrong key": wrong, "a query": "?", "a parameter": "ID=",
		"a header":             "Authorization",
		"a Basic header":       strings.Fields(basic(acme.String(), acmeKey))[2],
		"a wrong Basic header": strings.Fields(basic(acme.String(), wrong))[2],
	} {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("the log has %s: …%s…", what, text[max(0, i-200):min(len(text), i+200)])
		}
	}
}

// Every line of a request has its ID and, once they are known, organization and state.
func TestLogSaysWhose(t *testing.T) {
	const native, partition = "/api/v1/state/prod%2Fnet", "/terraform/state/prod/net"
	good, bad := basic(acme.String(), acmeKey), basic(acme.String(), "no-key")
	tests := []struct {
		request, body, credentials string
		status                     int
		org, state                 any // nil where nothing is known
	}{
		{"GET " + native, "", good, 404, acme.String(), "prod/net"},
		{"GET /api/v1/state/prod/net", "", good, 404, acme.String(), "prod/net"}, // as it was typed
		{"GET " + partition, "", good, 204, acme.String(), "prod/net"},
		{"POST " + native, body(1), good, 200, acme.String(), "prod/net"},
		{"PUT " + partition, body(2), good, 200, acme.String(), "prod/net"},
		{"GET " + native, "", good, 200, acme.String(), "prod/net"},
		{"POST " + native, "{", good, 400, acme.String(), "prod/net"},
		{"LOCK " + native, infoA, good, 200, acme.String(), "prod/net"},
		{"POST " + partition + "/lock", infoB, good, 409, acme.String(), "prod/net"},
		{"UNLOCK " + partition, "", good, 200, acme.String(), "prod/net"}, // forced, which is logged too
		{"DELETE " + native, "", good, 200, acme.String(), "prod/net"},
		{"GET " + native, "", basic(globex.String(), globexKey), 404, globex.String(), "prod/net"},
		{"GET /api/v1/state/a%20b", "", good, 400, acme.String(), nil},
		{"GET /api/v1/nothing", "", good, 400, acme.String(), nil},
		{"PATCH " + native, "", good, 405, acme.String(), nil},
		{"GET " + native, "", bad, 401, nil, nil},
		{"GET /nowhere", "", "", 400, nil, nil},
		{"GET /livez", "", "", 200, nil, nil},
	}
	deps := testDeps(t)
	log := newJournal(t, &deps)
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	for i, test := range tests {
		before := len(log.lines())
		id := fmt.Sprintf("r-%d", i)
		got := ask(t, router, test.request, test.body, test.credentials, "X-Request-ID: "+id)
		if got.Code != test.status {
			t.Errorf("%s: %d %s; want %d", test.request, got.Code, got.Body, test.status)
		}
		lines := log.lines()[before:]
		last := lines[len(lines)-1]
		if last["msg"] != "request" || last["status"] != float64(test.status) ||
			!strings.HasPrefix(test.request, fmt.Sprint(last["method"], " ", last["path"])) {
			t.Errorf("%s: logged %v", test.request, last)
		}
		for _, line := range lines {
			if line["request_id"] != id || line["org"] != test.org || line["state"] != test.state {
				t.Errorf("%s: request %v, org %v, state %v; want %s, %v, %v in %v", test.request,
					line["request_id"], line["org"], line["state"], id, test.org, test.state, line)
			}
		}
	}
	if n := len(log.named("request")); n != len(tests) || len(log.named("lock forced open")) != 1 {
		t.Errorf("%d requests were logged, of %d; and\n%s", n, len(tests), log)
	}
}
