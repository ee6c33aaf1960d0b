package handlers_test

import (
	"strings"
	"testing"
)

// wireDigest is the SHA-256 of "a = 1\n".
const wireDigest = "cb78bd8a17f7b751fe0d4663366dcbc257204033ef7ddd64b1f2969573b5b2e2"

const wireVariables = `{"set":[{"kind":"terraform","name":"a","value":"<1>"},{"kind":"terraform","name":"h","value":"[1]","hcl":true},` +
	`{"kind":"environment","name":"S","value":"hidden","sensitive":true}],"unset":[{"kind":"terraform","name":"none"}]}`

// fillWorkspaces makes what the answers about workspaces are of.
func fillWorkspaces(c caller) {
	const x = "/api/v1/workspaces/prod/net"
	c.converse([]step{
		{"POST /api/v1/workspaces",
			`{"name":"prod/net","version":"1.12.6","directory":"d","pool":"eu","parallelism":3,"outputs":["o"],"reads":["dns"]}`, 200, ""},
		{"POST /api/v1/workspaces", `{"name":"empty"}`, 200, ""},
		{"POST /api/v1/workspaces", `{"name":"waits"}`, 200, ""}, {"POST /api/v1/workspaces", `{"name":"applied"}`, 200, ""},
		{"POST /api/v1/workspaces", `{"name":"late"}`, 200, ""}, {"POST /api/v1/workspaces", `{"name":"pending"}`, 200, ""},
		{"POST /api/v1/variables", wireVariables, 200, ""}, {"POST " + x + "/-/variables", wireVariables, 200, ""},
		{"PUT " + x + "/-/files/d/main.tf", "b = 1\n", 200, ""},
		{"PUT " + x + "/-/files/run.sh?executable=true", "#!", 200, ""},
		{"PUT " + x + "/-/files/d/main.tf", "a = 1\n", 200, ""},
		{"PUT " + x + "/-/files/binary", "\xff", 200, ""},
		{"DELETE " + x + "/-/files/run.sh", "", 200, ""},
		{"POST /api/v1/repositories", `{"name":"infra","url":"https://127.0.0.1/x.git","branches":["main","release/*"],` +
			`"provider":"gitlab","credential":"token","user":"bot","token":"t"}`, 201, ""},
		{"POST /api/v1/repositories", `{"name":"app","url":"https://git.example.com/x.git","provider":"github",` +
			`"api":"https://git.example.com/api","credential":"github_app","app":"7","installation":9,"key":"k"}`, 201, ""},
		{"POST /api/v1/repositories", `{"name":"net","url":"ssh://git@127.0.0.1/x.git","credential":"deploy_key","key":` +
			wireDeployKey() + `,"known_hosts":"` + wireHostKey + `"}`, 201, ""},
		{"POST /api/v1/repositories/infra/fetch", "", 409, "repository_failed"},
		{"PUT /api/v1/policies/base", strings.Replace(wirePolicy, "hold", "advise", 1), 200, ""},
		{"PUT /api/v1/policies/own?workspace=waits", strings.Replace(wirePolicy, "hold", "advise", 1), 200, ""},
	})
}

// workspaceExamples are requests about workspaces.
func workspaceExamples() []string {
	return []string{
		"GET /api/v1/workspaces",
		"GET /api/v1/workspaces?limit=1",
		"400 GET /api/v1/workspaces?x=1",
		"GET /api/v1/workspaces/prod/net",
		"GET /api/v1/workspaces/empty",
		"404 GET /api/v1/workspaces/prod/net/no",
		"GET /api/v1/workspaces/prod/net/-/checksums",
		"GET /api/v1/workspaces/prod/net/-/checksums?snapshot=1",
		"GET /api/v1/workspaces/prod/net/-/files",
		"GET /api/v1/workspaces/prod/net/-/files?snapshot=2",
		"GET /api/v1/workspaces/prod/net/-/files/d/main.tf",
		"GET /api/v1/workspaces/prod/net/-/files/d%2Fmain.tf?snapshot=1",
		"404 GET /api/v1/workspaces/prod/net/-/files/no",
		"GET /api/v1/workspaces/prod/net/-/snapshots",
		"GET /api/v1/workspaces/prod/net/-/snapshots?limit=1",
		"GET /api/v1/workspaces/empty/-/snapshots",
		"GET /api/v1/workspaces/prod/net/-/snapshots/newest",
		"GET /api/v1/workspaces/prod/net/-/snapshots/2",
		"404 GET /api/v1/workspaces/prod/net/-/snapshots/77",
		"404 GET /api/v1/workspaces/empty/-/snapshots/newest",
		"GET /api/v1/workspaces/prod/net/-/snapshots/newest/diff?from=1",
		"GET /api/v1/workspaces/prod/net/-/snapshots/newest/diff?format=text",
		`PATCH /api/v1/workspaces/prod/net {"approvals":2,"plan_ttl":60,"gate_when":"facts.delete > 5","approvals_for":{"critical":2},"approvers_for":{"critical":["token.security/anna"]}}`,
		"404 PATCH /api/v1/workspaces/prod/net/no {}",
		`POST /api/v1/format {"language":"hcl","text":"a  =  1\nbb = 2\n"}`,
		`POST /api/v1/format {"language":"json","text":"{}"}`,
		`400 POST /api/v1/format {"language":"hcl","text":"a {"}`,
		`400 POST /api/v1/format {"language":"hcl","text":"a = (]"}`,
		`400 POST /api/v1/format {"language":"json","text":"{"}`,
		`400 POST /api/v1/format {"language":"c","text":""}`,
		"POST /api/v1/variables " + wireVariables,
		`POST /api/v1/workspaces {"name":"prod/new"}`,
		`409 POST /api/v1/workspaces {"name":"empty","approvals":1}`,
		`400 POST /api/v1/workspaces {"name":"x","tool":"make"}`,
		"400 POST /api/v1/workspaces/prod/net/-/archive nothing",
		`POST /api/v1/workspaces/prod/net/-/checksums {"sha256":["` + wireDigest + `","0000000000000000000000000000000000000000000000000000000000000000"]}`,
		`POST /api/v1/workspaces/prod/net/-/move {"from":"d/main.tf","to":"d/other.tf"}`,
		`404 POST /api/v1/workspaces/prod/net/-/move {"from":"none","to":"d/other.tf"}`,
		`400 POST /api/v1/workspaces/prod/net/-/move {"from":"d/other.tf","to":"binary"}`,
		"POST /api/v1/workspaces/prod/net/-/pull {}",
		`POST /api/v1/workspaces/prod/net/-/snapshots {"message":"<m>","parent":5,"files":[{"path":"d/main.tf","size":0,"executable":true,"sha256":"` + wireDigest + `"}]}`,
		`409 POST /api/v1/workspaces/prod/net/-/snapshots {"files":[{"path":"x","size":0,"sha256":"0000000000000000000000000000000000000000000000000000000000000000"}]}`,
		"POST /api/v1/workspaces/prod/net/-/variables " + wireVariables,
		`400 POST /api/v1/workspaces/prod/net/-/variables {"set":[{"kind":"environment","name":"PATH","value":"x"}]}`,
		"400 PUT /api/v1/workspaces/prod/net/-/contents/" + wireDigest + " other",
		"PUT /api/v1/workspaces/prod/net/-/files/new.tf c=1",
		"400 PUT /api/v1/workspaces/prod/net/-/files/a/../b c",
		"409 PUT /api/v1/workspaces/prod/net/-/files/n.tf?parent=1 c",
	}
}

// TestPull has files with their contents, as they are.
func TestPull(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	fillWorkspaces(c)
	const x = "/api/v1/workspaces/prod/net"
	c.converse([]step{
		{"POST " + x + "/-/pull", `{"paths":["d/main.tf"]}`, 200, `"files":[{"name":"d/main.tf","sha256":"` + wireDigest +
			`","content":"a = 1\n"}]`},
		{"POST " + x + "/-/pull", `{}`, 200, `"content":"","base64":"/w=="`},
		{"POST " + x + "/-/pull", `{"paths":["no"]}`, 404, "file_not_found"},
		{"POST " + x + "/-/pull", `{"snapshot":"2","paths":["run.sh"]}`, 200, `"content":"#!"`},
	})
}
