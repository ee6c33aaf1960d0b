package handlers_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/handlers"
)

// answered is one request to a route, and what its answer is of.
type answered struct {
	request string // {candidate} and {settled} are IDs
	body    string
	status  int
	// as is a pointer to the type of package api that the answer is of; nil for one that is
	// none: the bytes of a state, text, or nothing at all.
	as any
	// plain says that the answer escapes nothing for HTML: texts stand in it as they were sent.
	plain bool
}

const (
	wireInfo  = `{"ID":"w-1","Operation":"OperationTypeApply","Info":"<i>","Who":"ada@engine","Version":"1.12.6","Created":"2026-11-21T02:53:01.5Z","Path":"p"}`
	wireOrder = `{"reason":"<why> & what for","lock_id":"","anyway":true,"restore_purged":true}`
)

// wireState has resources and outputs of all sorts.
func wireState(serial, size string) string {
	return `{"version":4,"terraform_version":"1.9.` + serial + `","serial":` + serial + `,"lineage":"5ad8",
 "outputs":{"a":{"value":{"x":["<` + size + `>"]},"type":["object",{"x":["list","string"]}]},"b":{"value":"s` + size + `","type":"string","sensitive":true}},
 "resources":[{"module":"module.m[\"k\"]","mode":"managed","type":"aws_vpc","name":"n","provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[
  {"index_key":"k","schema_version":` + serial + `,"attributes":{"id":"vpc-1","size":["` + size + `"],"secret":"s` + size + `","tags":{"a b":"<&>"}},"sensitive_attributes":[[{"type":"get_attr","value":"secret"}]]},
  {"index_key":"only` + serial + `","schema_version":0,"attributes":{"id":"vpc-o` + serial + `"}}]},
  {"mode":"managed","type":"aws_vpc","name":"moved` + serial + `","provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[{"index_key":0,"attributes":{"id":"vpc-m"}}]}]}`
}

// wireAnswers has every route, so that none answers what package api doesn't describe.
func wireAnswers() map[string][]answered {
	const x, locked, uploads = "/api/v1/state/x", "/api/v1/state/locked", `{"provider":"aws","category":"compute","resource_type":"vm","later":1,"instances":[{"resource_name":"<vm>","attributes":{"id":1.50}}]}`
	all := map[string][]answered{
		"GET /health":           {{"/health", "", 200, &api.Health{}, false}},
		"GET /livez":            {{"/livez", "", 200, &api.Readiness{}, false}},
		"GET /readyz":           {{"/readyz", "", 200, &api.Readiness{}, false}},
		"GET /metrics":          {{"/metrics", "", 200, nil, false}},
		"HEAD /health":          {{"/health", "", 200, nil, false}},
		"HEAD /livez":           {{"/livez", "", 200, nil, false}},
		"HEAD /readyz":          {{"/readyz", "", 200, nil, false}},
		"HEAD /metrics":         {{"/metrics", "", 200, nil, false}},
		"GET /api/v1/whoami":    {{"/api/v1/whoami", "", 200, &api.Identity{}, false}, {"/api/v1/whoami?x=1", "", 200, &api.Identity{}, false}},
		"GET /api/v1/states":    {{"/api/v1/states?deleted=any", "", 200, &api.States{}, false}, {"/api/v1/states?limit=1", "", 200, &api.States{}, false}, {"/api/v1/states?x=1", "", 400, &api.Failure{}, false}},
		"GET /api/v1/locks":     {{"/api/v1/locks", "", 200, &api.States{}, false}},
		"GET /api/v1/audit":     {{"/api/v1/audit", "", 200, &api.Events{}, false}, {"/api/v1/audit?limit=1", "", 200, &api.Events{}, false}},
		"POST /api/v1/upload":   {{"/api/v1/upload", uploads, 200, &api.Receipt{}, false}, {"/api/v1/upload", `{"provider":1}`, 400, &api.Failure{}, false}},
		"POST /upload":          {{"/upload", uploads, 200, &api.Receipt{}, false}},
		"GET /api/v1/data":      {{"/api/v1/data", "", 200, &api.Records{}, true}, {"/api/v1/data?limit=1", "", 200, &api.Records{}, true}, {"/api/v1/data?name=none", "", 400, &api.Failure{}, false}},
		"GET /api/v1/resources": {{"/api/v1/resources", "", 200, &api.Resources{}, false}, {"/api/v1/resources?limit=1", "", 200, &api.Resources{}, false}},

		"GET /api/v1/data/latest":        {{"/api/v1/data/latest", "", 200, &api.Records{}, true}},
		"GET /api/v1/data/summary":       {{"/api/v1/data/summary", "", 200, &api.Summary{}, false}},
		"GET /api/v1/resources/coverage": {{"/api/v1/resources/coverage", "", 200, &api.Counts{}, false}, {"/api/v1/resources/coverage?status=unmatched", "", 200, &api.Covered{}, false}},
		"GET /api/v1/resources/:address/history": {
			{"/api/v1/resources/module.m%5B%22k%22%5D.aws_vpc.n%5B%22k%22%5D/history?state=x", "", 200, &api.History{}, false},
			{"/api/v1/resources/aws_vpc.moved2%5B0%5D/history?state=x", "", 200, &api.History{}, false},
		},

		"POST /api/v1/state/:name/-/undelete":     {{"/api/v1/state/gone/-/undelete", "", 200, &api.Version{}, false}},
		"POST /api/v1/state/:name/-/lock/release": {{locked + "/-/lock/release", `{"reason":"<why>"}`, 200, &api.Released{}, false}, {locked + "/-/lock/release", `{"reason":"<why>"}`, 200, &api.Released{}, false}},
		"GET /api/v1/state/:name/-/versions":      {{x + "/-/versions", "", 200, &api.Versions{}, false}, {x + "/-/versions?limit=1", "", 200, &api.Versions{}, false}, {"/api/v1/state/purged/-/versions", "", 200, &api.Versions{}, false}},
		"GET /api/v1/state/:name/-/versions/:version": {
			{x + "/-/versions/1", "", 200, nil, false}, {x + "/-/versions/9", "", 404, &api.Failure{}, false},
		},
		"DELETE /api/v1/state/:name/-/versions/:version": {
			{x + "/-/versions/1?reason=leaked", "", 200, &api.Purged{}, false}, {x + "/-/versions/1?reason=leaked&copies=true", "", 200, &api.Purged{}, false},
		},
		"POST /api/v1/state/:name/-/versions/:version/rollback": {{x + "/-/versions/1/rollback", `{"reason":"<why>"}`, 200, &api.Version{}, false}},
		"GET /api/v1/state/:name/-/versions/:version/diff": {
			{x + "/-/versions/2/diff", "", 200, &api.Diff{}, false}, {x + "/-/versions/1/diff?sensitive=true", "", 200, &api.Diff{}, false}, {x + "/-/versions/2/diff?format=text", "", 200, nil, false},
		},
		"GET /api/v1/state/:name/-/outputs":             {{x + "/-/outputs", "", 200, &api.Outputs{}, true}, {locked + "/-/outputs", "", 404, &api.Failure{}, false}},
		"GET /api/v1/state/:name/-/outputs/:key":        {{x + "/-/outputs/a", "", 200, &api.Output{}, true}, {x + "/-/outputs/b?raw", "", 200, nil, false}},
		"GET /api/v1/state/:name/-/candidates":          {{x + "/-/candidates", "", 200, &api.Candidates{}, false}, {x + "/-/candidates?limit=1", "", 200, &api.Candidates{}, false}},
		"POST /api/v1/state/:name/-/candidates":         {{x + "/-/candidates?reason=lost", wireState("8", "z"), 201, &api.Candidate{}, false}},
		"GET /api/v1/state/:name/-/candidates/:id":      {{x + "/-/candidates/{candidate}", "", 200, nil, false}, {x + "/-/candidates/{settled}", "", 200, &api.Candidate{}, false}},
		"GET /api/v1/state/:name/-/candidates/:id/diff": {{x + "/-/candidates/{candidate}/diff", "", 200, &api.Diff{}, false}},
		"POST /api/v1/state/:name/-/candidates/:id/promote": {
			{x + "/-/candidates/{candidate}/promote", wireOrder, 200, &api.Version{}, false}, {x + "/-/candidates/{settled}/promote", wireOrder, 409, &api.Failure{}, false},
		},
		"POST /api/v1/state/:name/-/candidates/:id/discard": {{x + "/-/candidates/{candidate}/discard", `{"reason":"old"}`, 200, &api.Done{}, false}},

		"GET /api/v1/state/:name/-/lock": {{locked + "/-/lock", "", 200, &api.LockInfo{}, true}, {x + "/-/lock", "", 200, &api.LockInfo{}, true}},
	}
	for pattern, path := range map[string]string{"/api/v1/state/:name": "/api/v1/state/", "/terraform/state/:enclave/:partition": "/terraform/state/e/"} {
		lock := map[bool]string{true: "/-/lock", false: "/lock"}[strings.HasPrefix(pattern, "/api")]
		all["GET "+pattern] = []answered{{path + "x", "", 200, nil, false}, {path + "x?view=redacted", "", 200, nil, false}, {path + "x?version=9", "", 400, &api.Failure{}, false}}
		for _, method := range []string{"POST", "PUT"} {
			all[method+" "+pattern] = []answered{{path + "x", wireState("7", "y"), 200, &api.Stored{}, false}, {path + "locked", wireState("1", "y"), 409, &api.LockInfo{}, true}}
			all[method+" "+pattern+lock] = []answered{{path + "x" + lock, strings.ReplaceAll(wireInfo, "w-1", "w-3"), 200, &api.LockInfo{}, true}}
		}
		all["DELETE "+pattern] = []answered{{path + "x", "", 200, &api.Done{}, false}}
		all["LOCK "+pattern] = []answered{{path + "x", strings.ReplaceAll(wireInfo, "w-1", "w-3"), 200, &api.LockInfo{}, true}, {path + "locked", strings.ReplaceAll(wireInfo, "w-1", "w-4"), 409, &api.LockInfo{}, true}}
		unlocking := []answered{{path + "locked" + lock, strings.ReplaceAll(wireInfo, "w-1", "w-4"), 400, &api.Failure{}, false}, {path + "locked" + lock, wireInfo, 200, &api.Done{}, false}}
		all["DELETE "+pattern+lock] = unlocking
		all["UNLOCK "+pattern] = []answered{{path + "locked", strings.ReplaceAll(wireInfo, "w-1", "w-4"), 400, &api.Failure{}, false}, {path + "locked", wireInfo, 200, &api.Done{}, false}}
	}
	return all
}

// wireWorld is a server with all that the answers are of.
func wireWorld(t *testing.T) (c caller, fill *strings.Replacer) {
	deps := testDeps(t)
	deps.Quota = withQuota(t, 1<<30).Quota
	known := testKeys()
	known[auth.Credentials{Org: acme, Key: "reader"}] = auth.Principal{Org: acme, KeyID: "r1", Grant: auth.Grant{Role: auth.Reader}}
	deps.Verifier = known
	c = newCaller(t, startServer(t, deps), acme, acmeKey)
	reader := c
	reader.key = "reader"
	reader.converse([]step{{"POST /api/v1/state/x", "", 403, "right_missing"}})
	for _, name := range []string{"/api/v1/state/x", "/terraform/state/e/x"} {
		c.converse([]step{{"POST " + name, wireState("1", "small"), 200, ""}, {"POST " + name, wireState("2", "large"), 200, ""}})
	}
	for _, name := range []string{"/api/v1/state/locked", "/terraform/state/e/locked"} {
		c.converse([]step{{"LOCK " + name, wireInfo, 200, ""}})
	}
	c.converse([]step{
		{"POST /api/v1/state/x", wireState("1", "small"), 200, ""}, // again, so that a purge finds it in two
		{"POST /api/v1/state/x", wireState("3", "small"), 200, ""},
		{"LOCK /api/v1/state/purged", wireInfo, 200, ""}, {"POST /api/v1/state/purged?ID=w-1", body(1), 200, ""}, {"POST /api/v1/state/purged?ID=w-1&unlock=true", body(2), 200, ""},
		{"DELETE /api/v1/state/purged/-/versions/1?reason=leaked", "", 200, ""},
		{"POST /api/v1/state/gone", body(1), 200, ""}, {"DELETE /api/v1/state/gone", "", 200, ""},
		{"POST /api/v1/state/vault", `{"serial":1,"lineage":"l","encrypted_data":"AAAA","encryption_version":"v0"}`, 200, ""},
		{"POST /upload", oneUpload("<a>"), 200, ""}, {"POST /upload", oneUpload("b"), 200, ""},
	})
	made := func(reason, serial string) string {
		var kept api.Candidate
		got := c.do("POST /api/v1/state/x/-/candidates?reason="+reason, strings.ReplaceAll(wireState(serial, "other"), "hashicorp/aws", "hashicorp/"+reason))
		if err := json.Unmarshal([]byte(got.body), &kept); err != nil || kept.ID == "" {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return kept.ID
	}
	open, settled := made("lost", "4"), made("old", "5")
	c.converse([]step{{"POST /api/v1/state/x/-/candidates/" + settled + "/discard", wireOrder, 200, ""}})
	return c, strings.NewReplacer("{candidate}", open, "{settled}", settled)
}

// TestEveryAnswerIsOfItsType walks every route: what the server says is what package api
// describes, to the byte, and nothing else.
func TestEveryAnswerIsOfItsType(t *testing.T) {
	router, err := handlers.NewRouter(testDeps(t))
	if err != nil {
		t.Fatal(err)
	}
	known, shown := wireAnswers(), map[string]bool{}
	for _, route := range router.Routes() {
		name := route.Method + " " + route.Path
		answers, ok := known[name]
		if !ok {
			t.Errorf("%s: say in wireAnswers of which type its answers are", name)
		}
		delete(known, name)
		if len(answers) == 0 {
			continue
		}
		c, fill := wireWorld(t)
		for _, a := range answers {
			request := route.Method + " " + fill.Replace(a.request)
			got := c.do(request, a.body)
			if got.status != a.status {
				t.Errorf("%s: %d %.300s, want %d", request, got.status, got.body, a.status)
			} else if a.as != nil {
				sameOnTheWire(t, request, got.body, a)
				noteShown(reflect.ValueOf(a.as), shown)
			}
		}
	}
	for name := range known {
		t.Errorf("%s is no route any more: drop it from wireAnswers", name)
	}
	for _, member := range rarelyShown() {
		shown[member] = true
	}
	for _, member := range slices.Sorted(maps.Keys(shown)) {
		if !shown[member] {
			t.Errorf("no answer shows %s", member)
		}
	}
}

// rarelyShown are members that may be absent, and of which this server has nothing to say: they
// need a token, a damaged or an older state, a thousand states, or a store that is behind.
func rarelyShown() []string {
	return []string{
		"Version.Subject", "Event.Subject", "Event.KeyName", "Output.Deprecated", "OutputValue.Deprecated",
		"Extent.Limited", "Extent.UnreadMore", "Readiness.Reason", "Purged.More", "Instance.Deposed", "Resource.Deposed",
	}
}

// noteShown notes which members of the types of package api a value has that may be absent, and
// which it has not.
func noteShown(v reflect.Value, shown map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			noteShown(v.Elem(), shown)
		}
	case reflect.Slice:
		for i := range v.Len() {
			noteShown(v.Index(i), shown)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			noteShown(v.MapIndex(key), shown)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if strings.HasSuffix(field.Tag.Get("json"), ",omitempty") {
				name := v.Type().Name() + "." + field.Name
				shown[name] = shown[name] || !v.Field(i).IsZero()
			}
			if field.IsExported() {
				noteShown(v.Field(i), shown)
			}
		}
	}
}

// sameOnTheWire decodes an answer strictly, and encodes it again.
func sameOnTheWire(t *testing.T, request, body string, a answered) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(a.as); err != nil {
		t.Errorf("%s: no %T: %v in %.500s", request, a.as, err, body)
		return
	}
	if _, err := decoder.Token(); err != io.EOF {
		t.Errorf("%s: something follows the answer", request)
	}
	var again bytes.Buffer
	encoder := json.NewEncoder(&again)
	encoder.SetEscapeHTML(!a.plain)
	if err := encoder.Encode(a.as); err != nil || strings.TrimSpace(again.String()) != strings.TrimSpace(body) {
		t.Errorf("%s: %v; as %T\n got %s\nwant %s", request, err, a.as, again.String(), body)
	}
}
