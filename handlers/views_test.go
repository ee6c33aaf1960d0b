package handlers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/auth"
)

// secretive is a state of format version 4 with a secret in an output and one in a resource.
func secretive(serial, size string) string {
	return `{"version":4,"terraform_version":"1.12.6","serial":` + serial + `,"lineage":"5ad8","outputs":{` +
		`"ip":{"value":"192.0.2.` + serial + `","type":"string"},` +
		`"list":{"value":["a<b",1],"type":["tuple",["string","number"]]},` +
		`"password":{"value":"hunter2-` + serial + `","type":"string","sensitive":true}},` +
		`"resources":[{"mode":"managed","type":"vm","name":"web","provider":"provider[\"registry.terraform.io/acme/vm\"]","instances":[` +
		`{"schema_version":0,"attributes":{"id":"i-0abc","size":"` + size + `","token":"s3same-` + serial +
		`"},"sensitive_attributes":[[{"type":"get_attr","value":"token"}]]}]}]}`
}

const encrypted = `{"serial":3,"lineage":"5ad8","meta":{"key_provider.pbkdf2.k":"e30="},"encrypted_data":"AAAA","encryption_version":"v0"}`

// viewers is a server with two versions of the state x, an encrypted one of y, and an owner
// and a key of role outputs.
func viewers(t *testing.T) (owner, outputs caller) {
	t.Helper()
	deps := testDeps(t)
	held := testKeys()
	held[auth.Credentials{Org: acme, Key: "outputs"}] = auth.Principal{Org: acme, KeyID: "o1",
		Grant: auth.Grant{Role: auth.Outputs}}
	deps.Verifier = held
	server := startServer(t, deps)
	owner = newCaller(t, server, acme, acmeKey)
	owner.converse([]step{
		{"POST /api/v1/state/x", secretive("1", "small"), 200, ""},
		{"POST /api/v1/state/x", secretive("2", "large"), 200, ""},
		{"POST /api/v1/state/y", encrypted, 200, ""},
	})
	return owner, newCaller(t, server, acme, "outputs")
}

func TestOutputsWithoutTheState(t *testing.T) {
	owner, outputs := viewers(t)
	outputs.converse([]step{
		{"GET /api/v1/state/x", "", 403, "state:read"},
		{"GET /api/v1/state/x?version=1", "", 403, "state:read"},
		{"GET /api/v1/state/x?view=redacted", "", 403, "state:read"},
		{"GET /api/v1/state/x?view=outputs&view=outputs", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/x?view=all", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/x?view=outputs&x=%zz", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/none?view=outputs", "", 404, "state_not_found"},
		{"GET /terraform/state/e/none?view=outputs", "", 204, "="},
		{"GET /api/v1/state/x?view=outputs&version=9", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/y?view=outputs", "", 422, "state_encrypted"},
		{"GET /api/v1/state/y/-/outputs", "", 422, "state_encrypted"},
		{"GET /api/v1/state/y/-/outputs/ip", "", 422, "state_encrypted"},
		{"GET /api/v1/state/x/-/outputs/ip?raw", "", 200, "=192.0.2.2"},
		{"GET /api/v1/state/x/-/outputs/list?raw=true", "", 200, `=["a<b",1]`},
		{"GET /api/v1/state/x/-/outputs/password?raw", "", 200, "=hunter2-2"},
		{"GET /api/v1/state/x/-/outputs/list", "", 200,
			`{"value":["a<b",1],"type":["tuple",["string","number"]],"sensitive":false}`},
		{"GET /api/v1/state/x/-/outputs/none", "", 404, "output_not_found"},
		{"GET /api/v1/state/none/-/outputs/ip", "", 404, "state_not_found"},
		{"GET /api/v1/state/x/-/outputs/..", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/x/-/outputs/a%2Fb", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/x/-/outputs?raw", "", 400, "parameter_invalid"},
	})
	var list struct {
		Outputs map[string]struct {
			Value     any
			Sensitive bool
		}
	}
	for query, password := range map[string]string{"": "(sensitive value)", "?sensitive=true": "hunter2-2"} {
		got := outputs.do("GET /api/v1/state/x/-/outputs"+query, "")
		if err := json.Unmarshal([]byte(got.body), &list); err != nil {
			t.Fatalf("%s: %v", got.body, err)
		}
		if list.Outputs["password"].Value != password || !list.Outputs["password"].Sensitive ||
			list.Outputs["ip"].Value != "192.0.2.2" {
			t.Errorf("outputs%s: %s", query, got.body)
		}
	}
	wantUnmasked(t, owner, 2) // the one by name, and the list
}

// The view is a whole state of version 4 to a client, with nothing of the rest in it.
func TestViewOfOutputsIsAState(t *testing.T) {
	_, outputs := viewers(t)
	for query, ip := range map[string]string{"": "192.0.2.2", "&version=1": "192.0.2.1"} {
		got := outputs.do("GET /api/v1/state/x?view=outputs"+query, "")
		var parsed struct {
			Version   int
			Lineage   string
			Resources []any
			Outputs   map[string]struct{ Value any }
		}
		if err := json.Unmarshal([]byte(got.body), &parsed); err != nil {
			t.Fatal(err)
		}
		if got.status != 200 || parsed.Version != 4 || parsed.Lineage != "5ad8" || parsed.Outputs["ip"].Value != ip ||
			parsed.Resources == nil || len(parsed.Resources) > 0 {
			t.Errorf("%d %s", got.status, got.body)
		}
		if strings.Contains(got.body, "s3same") || got.header.Get("ETag") != "" ||
			got.header.Get("Content-Type") != "application/json" {
			t.Errorf("headers %v, body %s", got.header, got.body)
		}
	}
}

func TestRedactedViewAndVersions(t *testing.T) {
	owner, _ := viewers(t)
	owner.converse([]step{
		{"GET /api/v1/state/x?version=1", "", 200, "=" + secretive("1", "small")},
		{"GET /api/v1/state/x?version=3", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/none?version=3", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/x?version=0", "", 400, "parameter_invalid"},
		{"GET /terraform/state/e/p?version=1", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/y?view=redacted", "", 422, "state_encrypted"},
		{"GET /api/v1/state/y", "", 200, "=" + encrypted},
	})
	got := owner.do("GET /api/v1/state/x?view=redacted", "")
	if got.status != 200 || strings.Contains(got.body, "hunter2") || strings.Contains(got.body, "s3same") ||
		!strings.Contains(got.body, "i-0abc") {
		t.Errorf("%d %s", got.status, got.body)
	}
	list := owner.do("GET /api/v1/state/x/-/versions", "")
	if !strings.Contains(list.body, `"resources":1`) {
		t.Errorf("no count of resources: %s", list.body)
	}
	if list := owner.do("GET /api/v1/state/y/-/versions", ""); !strings.Contains(list.body, `"resources":null`) {
		t.Errorf("a count of what nobody can read: %s", list.body)
	}
}

func TestDiff(t *testing.T) {
	owner, _ := viewers(t)
	const x = "GET /api/v1/state/x/-/versions/"
	owner.converse([]step{
		{x + "2/diff?format=text", "", 200, "~ size = \"small\" -> \"large\""},
		{x + "2/diff?format=text", "", 200, "~ token = (sensitive value)"},
		{x + "1/diff?format=text", "", 200, "+ vm.web {"},
		{x + "1/diff?against=2&format=text", "", 200, "~ size = \"large\" -> \"small\""},
		{x + "2/diff?against=2&format=text", "", 200, "No changes."},
		{x + "2/diff", "", 200, `"address":"vm.web"`},
		{x + "2/diff?against=7", "", 404, "version_not_found"},
		{x + "7/diff", "", 404, "version_not_found"},
		{x + "2/diff?against=0", "", 400, "parameter_invalid"},
		{x + "2/diff?format=html", "", 400, "parameter_invalid"},
		{x + "2/diff?sensitive=perhaps", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/y/-/versions/1/diff", "", 422, "state_encrypted"},
	})
	for query, shown := range map[string]bool{"": false, "?format=text": false, "?sensitive=false": false,
		"?sensitive=true": true, "?sensitive&format=text": true} {
		got := owner.do(x+"2/diff"+query, "")
		if got.status != 200 || strings.Contains(got.body, "hunter2-1") != shown ||
			strings.Contains(got.body, "s3same-2") != shown {
			t.Errorf("diff%s: %d %s; want secrets: %t", query, got.status, got.body, shown)
		}
	}
	wantUnmasked(t, owner, 2)
	owner.converse([]step{
		{"DELETE /api/v1/state/x/-/versions/1?reason=leak", "", 200, ""},
		{x + "2/diff", "", 410, "version_purged"},
	})
}

// wantUnmasked checks how often it is on record that sensitive values were shown.
func wantUnmasked(t *testing.T, c caller, want int) {
	t.Helper()
	got := c.do("GET /api/v1/audit?action=sensitive.read", "")
	if n := strings.Count(got.body, `"action":"sensitive.read"`); n != want {
		t.Errorf("%d readings of secrets are on record; want %d: %s", n, want, got.body)
	}
}
