package handlers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
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
			`{"name":"prod/net","version":"1.12.6","directory":"d","pool":"eu","parallelism":3,"outputs":["o"]}`, 200, ""},
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

func workspaceAnswers() map[string][]answered {
	const all, x, empty = "/api/v1/workspaces/:name", "/api/v1/workspaces/prod/net", "/api/v1/workspaces/empty"
	const snapshot = all + "/-/snapshots/:snapshot"
	order := `{"message":"<m>","parent":5,"files":[{"path":"d/main.tf","size":0,"executable":true,"sha256":"` +
		wireDigest + `"}]}`
	return map[string][]answered{
		"GET /api/v1/workspaces": slices.Concat(says(api.Workspaces{}, "/api/v1/workspaces", "/api/v1/workspaces?limit=1"),
			refuses(400, "/api/v1/workspaces?x=1")),
		"POST /api/v1/workspaces": slices.Concat(says(api.Workspace{}, `/api/v1/workspaces {"name":"prod/new"}`),
			refuses(409, `/api/v1/workspaces {"name":"empty","approvals":1}`),
			refuses(400, `/api/v1/workspaces {"name":"x","tool":"make"}`)),
		"GET /api/v1/variables":  says(api.Variables{}, "/api/v1/variables"),
		"POST /api/v1/variables": says(api.Done{}, "/api/v1/variables "+wireVariables),
		"GET " + all:             slices.Concat(says(api.Workspace{}, x, empty), refuses(404, x+"/no")),
		"PATCH " + all: slices.Concat(says(api.Workspace{},
			x+` {"approvals":2,"plan_ttl":60,"gate_when":"facts.delete > 5","approvals_for":{"critical":2},"approvers_for":{"critical":["token.security/anna"]}}`),
			refuses(404, x+"/no {}")),
		"DELETE " + all: says(api.Done{}, x),

		"GET " + all + "/-/variables": says(api.Variables{}, x+"/-/variables"),
		"POST " + all + "/-/variables": slices.Concat(says(api.Done{}, x+"/-/variables "+wireVariables),
			refuses(400, x+`/-/variables {"set":[{"kind":"environment","name":"PATH","value":"x"}]}`)),
		"GET " + all + "/-/snapshots": says(api.Snapshots{}, x+"/-/snapshots", x+"/-/snapshots?limit=1", empty+
			"/-/snapshots"),
		"POST " + all + "/-/snapshots": slices.Concat(says(api.Snapshot{}, x+"/-/snapshots "+order),
			refuses(409, x+`/-/snapshots {"files":[{"path":"x","size":0,"sha256":"`+strings.Repeat("0", 64)+`"}]}`)),
		"GET " + snapshot: slices.Concat(says(api.SnapshotFiles{}, x+"/-/snapshots/newest", x+"/-/snapshots/2"),
			refuses(404, x+"/-/snapshots/77", empty+"/-/snapshots/newest")),
		"GET " + snapshot + "/archive": sendsBytes(x + "/-/snapshots/newest/archive"),
		"GET " + snapshot + "/diff": slices.Concat(says(api.SnapshotDiff{}, x+"/-/snapshots/newest/diff?from=1"),
			sendsBytes(x+"/-/snapshots/newest/diff?format=text")),
		"POST " + all + "/-/archive": refuses(400, x+"/-/archive nothing"),

		"PUT " + all + "/-/contents/:digest": slices.Concat(refuses(400, x+"/-/contents/"+wireDigest+" other")),
		"GET " + all + "/-/checksums":        says(api.FileChecksums{}, x+"/-/checksums", x+"/-/checksums?snapshot=1"),
		"POST " + all + "/-/checksums": says(api.MissingContents{}, x+`/-/checksums {"sha256":["`+wireDigest+`","`+
			strings.Repeat("0", 64)+`"]}`),
		"GET " + all + "/-/files": says(api.SnapshotFiles{}, x+"/-/files", x+"/-/files?snapshot=2"),
		"GET " + all + "/-/files/:path": slices.Concat(sendsBytes(x+"/-/files/d/main.tf", x+
			"/-/files/d%2Fmain.tf?snapshot=1"), refuses(404, x+"/-/files/no")),
		"PUT " + all + "/-/files/:path": slices.Concat(says(api.Snapshot{}, x+"/-/files/new.tf c=1"),
			refuses(400, x+"/-/files/a/../b c"), refuses(409, x+"/-/files/n.tf?parent=1 c")),
		"DELETE " + all + "/-/files/:path": says(api.Snapshot{}, x+"/-/files/d/main.tf"),
		"POST " + all + "/-/move": slices.Concat(says(api.Snapshot{}, x+`/-/move {"from":"d/main.tf","to":"d/other.tf"}`),
			refuses(404, x+`/-/move {"from":"none","to":"d/other.tf"}`),
			refuses(400, x+`/-/move {"from":"d/other.tf","to":"binary"}`)),
		"POST /api/v1/format": slices.Concat(says(api.Formatted{},
			`/api/v1/format {"language":"hcl","text":"a  =  1\nbb = 2\n"}`, `/api/v1/format {"language":"json","text":"{}"}`),
			refuses(400, `/api/v1/format {"language":"hcl","text":"a {"}`, `/api/v1/format {"language":"hcl","text":"a = (]"}`, `/api/v1/format {"language":"json","text":"{"}`,
				`/api/v1/format {"language":"c","text":""}`)),
		"POST " + all + "/-/pull": says(api.PulledFiles{}, x+"/-/pull {}"),
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
