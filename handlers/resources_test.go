package handlers_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
)

const vmState = `{"version":4,"serial":1,"lineage":"l","terraform_version":"1.9.0","resources":[{"module":"module.net","mode":"managed","type":"aws_instance","name":"web",
	"provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[{"index_key":0,"attributes":{"id":"i-0abc","password":"hunter2","size":3,"tags":{"Env":"prod"}},
	"sensitive_attributes":[[{"type":"get_attr","value":"password"}]]},{"index_key":1,"attributes":{"id":"i-0def"}}]}]}`

// settled asks until the answer is complete.
func (c caller) settled(path string) map[string]any {
	c.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		got := c.do("GET "+path, "")
		var body map[string]any
		if got.status != 200 || json.Unmarshal([]byte(got.body), &body) != nil {
			c.t.Fatalf("%s: %d %s", path, got.status, got.body)
		}
		if body["complete"] == true {
			return body
		}
	}
	c.t.Fatalf("%s is never complete", path)
	return nil
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestResources(t *testing.T) {
	server := startServer(t, testDeps(t))
	owner, other := newCaller(t, server, acme, acmeKey), newCaller(t, server, globex, globexKey)
	owner.converse([]step{
		{"POST /api/v1/state/prod%2Fnet", vmState, 200, ""},
		{"POST /upload", `{"provider":"aws","category":"c","resource_type":"vm_instance","instances":[{"resource_name":"a","attributes":{"id":"i-0abc"}},{"resource_name":"b","attributes":{"id":"i-new"}}]}`, 200, ""},
	})
	found := owner.settled("/api/v1/resources?q=i-0abc&source=state&attr.size=3&provider=aws")
	one := asJSON(t, found["resources"].([]any)[0])
	for _, want := range []string{`"address":"module.net.aws_instance.web[0]"`, `"state":"prod/net"`,
		`"tags":{"Env":"prod"}`, `"index_key":0`, `"version":1`} {
		if !strings.Contains(one, want) {
			t.Errorf("%s lacks %s", one, want)
		}
	}
	if strings.Contains(one, "hunter2") || strings.Contains(one, "password") {
		t.Errorf("a secret is shown: %s", one)
	}
	counts := asJSON(t, owner.settled("/api/v1/resources/coverage")["counts"])
	if want := `{"state":{"claimed_twice":0,"managed":1,"missing":1,"unmatched":0},"upload":{"managed":1,"unmanaged":1,"unmatched":0}}`; counts != want {
		t.Errorf("counts %s, want %s", counts, want)
	}
	managed := asJSON(t, owner.settled("/api/v1/resources/coverage?status=managed&state=prod/net")["resources"])
	if !strings.Contains(managed, `"same":[{"address":"aws/c/vm_instance/a","source":"upload"}]`) {
		t.Errorf("managed: %s", managed)
	}
	first := owner.settled("/api/v1/resources?limit=2&source=state")
	if first["next"] != nil {
		t.Errorf("two of two are followed by %v", first["next"])
	}
	page := owner.settled("/api/v1/resources?limit=1&type=aws_instance")
	rest := asJSON(t, owner.settled("/api/v1/resources?type=aws_instance&cursor=" + page["next"].(string))["resources"])
	if !strings.Contains(rest, "web[1]") || strings.Contains(rest, "web[0]") {
		t.Errorf("behind the first page: %s", rest)
	}
	owner.converse([]step{
		{"GET /api/v1/resources/module.net.aws_instance.web%5B0%5D/history?state=prod%2Fnet", "", 200,
			`"against":0,"changes":[{"action":"added"`},
		{"GET /api/v1/resources/a%2Fb%22/history?state=prod%2Fnet", "", 404, "resource_not_found"},
		{"GET /api/v1/resources/a/history", "", 400, "name_invalid"},
		{"GET /api/v1/resources/a/history?state=none", "", 404, "state_not_found"},
		{"GET /api/v1/resources/a/history?state=prod%2Fnet&cursor=x", "", 400, "cursor_invalid"},
	})
	other.converse([]step{{"GET /api/v1/resources/a/history?state=prod%2Fnet", "", 404, "state_not_found"}})
	if theirs := asJSON(t, other.settled("/api/v1/resources?q=i-0abc")["resources"]); theirs != "[]" {
		t.Errorf("another tenant finds %s", theirs)
	}
	stolen := asJSON(t, other.settled("/api/v1/resources?cursor=" + page["next"].(string))["resources"])
	if stolen != "[]" {
		t.Errorf("another tenant's cursor shows %s", stolen)
	}
}

// What was encrypted by the client is said to be, and never guessed at.
func TestResourcesOfEncryptedStates(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	c.converse([]step{{"POST /api/v1/state/vault",
		`{"serial":1,"lineage":"l","encrypted_data":"AAAA","encryption_version":"v0"}`, 200, ""}})
	want := `[{"code":"state_encrypted","state":"vault","version":1}]`
	for _, path := range []string{"", "/coverage", "/coverage?status=unmanaged"} {
		if got := asJSON(t, c.settled("/api/v1/resources" + path)["unread"]); got != want {
			t.Errorf("%s: unread %s, want %s", path, got, want)
		}
	}
	c.converse([]step{
		{"GET /api/v1/resources?state=vault", "", 422, "state_encrypted"},
		{"GET /api/v1/resources/coverage?state=vault", "", 422, "state_encrypted"},
		{"GET /api/v1/resources/coverage?state=vault&status=missing", "", 422, "state_encrypted"},
		{"GET /api/v1/resources/x/history?state=vault", "", 422, "encrypted by the client"},
		{"GET /api/v1/state/vault/outputs", "", 422, "state_encrypted"},
		{"GET /api/v1/state/vault/outputs/x", "", 422, "state_encrypted"},
		{"GET /api/v1/state/vault?view=outputs", "", 422, "state_encrypted"},
		{"GET /api/v1/state/vault?view=redacted", "", 422, "state_encrypted"},
		{"GET /api/v1/state/vault/versions/1/diff", "", 422, "state_encrypted"},
	})
}

func TestResourcesRefuse(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	for query, code := range map[string]fault.Code{
		"?q=" + strings.Repeat("a", 1001): fault.ParameterInvalid,
		"?q=" + url.QueryEscape(`" - *`):  fault.ParameterInvalid,
		"?q=a&q=b":                        fault.ParameterInvalid,
		"?q=%ff":                          fault.ParameterInvalid,
		"?q=%00":                          fault.ParameterInvalid,
		"?source=both":                    fault.ParameterInvalid,
		"?attr.=x":                        fault.ParameterInvalid,
		"?attr.a=x&attr.a=y":              fault.ParameterInvalid,
		"?attr.id=%ff":                    fault.ParameterInvalid,
		"?attr.id=%00":                    fault.ParameterInvalid,
		"?attr.%ff=x":                     fault.ParameterInvalid,
		"//history?state=a":               fault.ParameterInvalid,
		"/%ff/history?state=a":            fault.ParameterInvalid,
		"?limit=0":                        fault.ParameterInvalid,
		"?limit=1001":                     fault.ParameterInvalid,
		"?cursor=x":                       fault.CursorInvalid,
		"?cursor=e30":                     fault.CursorInvalid,
		"/coverage?status=lost":           fault.ParameterInvalid,
		"/coverage?since=yesterday":       fault.ParameterInvalid,
		"/coverage?q=a":                   fault.ParameterInvalid,
	} {
		if got := c.do("GET /api/v1/resources"+query, ""); got.status != 400 ||
			!strings.Contains(got.body, `"`+string(code)+`"`) {
			t.Errorf("%.60s: %d %s, want %s", query, got.status, got.body, code)
		}
	}
	if got := c.do("GET /api/v1/resources?source=both", "").body; !strings.Contains(got,
		"the query's source is not state or upload") {
		t.Errorf("another source: %s", got)
	}
	for _, q := range []string{`"`, `a"b`, "NEAR(a b)", "a*", "-a", "a AND", "日本", "text:a", "' OR 1=1 --a"} {
		if got := c.do("GET /api/v1/resources?q="+url.QueryEscape(q), ""); got.status != 200 && q != `"` {
			t.Errorf("%q: %d %s", q, got.status, got.body)
		}
	}
}
