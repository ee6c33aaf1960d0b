package handlers_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/auth"
)

func TestWhoami(t *testing.T) {
	patterns, err := auth.ParsePatterns("prod/*, shared/network")
	if err != nil {
		t.Fatal(err)
	}
	ends := time.Date(2027, 1, 31, 1, 0, 0, 0, time.FixedZone("", 3600))
	callers := keys{
		{Org: acme, Key: acmeKey}: {Org: acme, OrgName: `Acme <&>`, KeyID: "a1", KeyName: "ci",
			Limits: auth.Limits{Requests: 60, States: auth.Unlimited},
			Grant:  auth.Grant{Role: auth.Reader, States: patterns, Expires: ends}},
		{Org: acme, Key: "certificate"}: {Org: acme, KeyID: "cert.ops", KeyName: "ops", Subject: "dns:ops.acme.example",
			Grant: auth.Grant{Role: auth.Outputs}},
		{Org: acme, Key: "nothing"}: {Org: acme, KeyID: "n1"},
		{Org: acme, Key: "run"}: {Org: acme, KeyID: "run.r-1",
			Run: &auth.RunGrant{ID: "r-1", Epoch: 1, Stage: auth.RunApply, State: "prod/a"}},
	}
	deps := testDeps(t)
	deps.Verifier = callers
	server := startServer(t, deps)
	const narrow = `"runs":{"files":{"used":0,"limit":21474836480},"recorded":{"used":0,"limit":100000},"waiting":{"used":0,"limit":1000},"working":{"used":0,"limit":20}},`
	runs := strings.Replace(narrow, `"recorded"`, `"configurations":{"used":0,"limit":5368709120},"recorded"`, 1)
	for key, want := range map[string]string{
		acmeKey: `{"org_id":"11111111-2222-3333-4444-555555555555","org_name":"Acme \u003c\u0026\u003e","key_id":"a1","key_name":"ci","subject":"",` +
			`"role":"reader","rights":["state:read","state:metadata","state:outputs","data:read","workspace:read","run:read","repository:read"],"states":["prod/*","shared/network"],` +
			`"expires":"2027-01-31T00:00:00Z","limits":{"rate_limit":60,"state_rate_limit":null,"rate_left":59},` + narrow +
			`"address":"127.0.0.1"}`,
		"certificate": `{"org_id":"11111111-2222-3333-4444-555555555555","org_name":"","key_id":"cert.ops","key_name":"ops","subject":"dns:ops.acme.example",` +
			`"role":"outputs","rights":["state:outputs"],"states":null,"expires":null,"limits":{"rate_limit":null,"state_rate_limit":null},` + runs + `"address":"127.0.0.1"}`,
		"nothing": `{"org_id":"11111111-2222-3333-4444-555555555555","org_name":"","key_id":"n1","key_name":"","subject":"",` +
			`"role":"","rights":null,"states":null,"expires":null,"limits":{"rate_limit":null,"state_rate_limit":null},` + runs +
			`"address":"127.0.0.1"}`,
		"run": `{"org_id":"11111111-2222-3333-4444-555555555555","org_name":"","key_id":"run.r-1","key_name":"","subject":"","run":"r-1",` +
			`"role":"","rights":["state:read","state:write","state:lock"],"states":["prod/a"],"expires":null,"limits":{"rate_limit":null,"state_rate_limit":null},"address":"127.0.0.1"}`,
	} {
		if got := newCaller(t, server, acme, key).do("GET /api/v1/whoami", ""); got.status != http.StatusOK ||
			got.body != want {
			t.Errorf("%s: %d\n got %s\nwant %s", key, got.status, got.body, want)
		}
	}
}
