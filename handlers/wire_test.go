package handlers_test

import (
	"maps"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
)

// answered is one request to a route, and what its answer is of.
type answered struct {
	request string // address and body, apart by a blank; {open} and {settled} are IDs of candidates
	status  int
	// as is a value of the type of package api that the answer is of; nil for one that is none:
	// the bytes of a state, text, or nothing at all.
	as any
	// bearer is shown instead of the owner's key; empty for that.
	bearer string
}

func answers(status int, as any, requests []string) (all []answered) {
	for _, request := range requests {
		all = append(all, answered{request: request, status: status, as: as})
	}
	return all
}

func says(as any, requests ...string) []answered { return answers(200, as, requests) }
func sendsBytes(requests ...string) []answered   { return answers(200, nil, requests) }
func refuses(status int, requests ...string) []answered {
	return answers(status, api.Failure{}, requests)
}
func isLocked(requests ...string) []answered { return answers(409, api.LockInfo{}, requests) }

// wireAnswers has every route, so that none answers what package api doesn't describe.
func wireAnswers() map[string][]answered {
	const x, locked = "/api/v1/state/x/-", "/api/v1/state/locked/-"
	const all, version, candidate = "/api/v1/state/:name/-", "/versions/:version", "/candidates/:id"
	found := map[string][]answered{
		"GET /":          sendsBytes("/"),
		"HEAD /":         sendsBytes("/"),
		"GET /ui":        refuses(400, "/ui"), // a program without the page
		"HEAD /ui":       answers(400, nil, []string{"/ui"}),
		"GET /ui/*path":  refuses(400, "/ui/states"),
		"HEAD /ui/*path": answers(400, nil, []string{"/ui/states"}),
		"GET /health":    says(api.Health{}, "/health"),
		"GET /livez":     says(api.Readiness{}, "/livez"),
		"GET /readyz":    says(api.Readiness{}, "/readyz"),
		"GET /metrics":   sendsBytes("/metrics"),
		"HEAD /health":   sendsBytes("/health"),
		"HEAD /livez":    sendsBytes("/livez"),
		"HEAD /readyz":   sendsBytes("/readyz"),
		"HEAD /metrics":  sendsBytes("/metrics"),

		"GET /api/openapi.json": sendsBytes("/api/openapi.json"),
		"GET /api/docs":         sendsBytes("/api/docs"),

		"POST /api/v1/session": slices.Concat(answers(201, api.SignedIn{},
			[]string{`/api/v1/session {"org":"11111111-2222-3333-4444-555555555555","key":"acme-key"}`}),
			refuses(401, `/api/v1/session {"org":"11111111-2222-3333-4444-555555555555","key":"wrong"}`),
			refuses(400, `/api/v1/session {"name":"x"}`)),
		"GET /api/v1/session":               says(api.SignedIn{}, "/api/v1/session"),
		"GET /api/v1/session/ways":          says(api.SignInWays{}, "/api/v1/session/ways"),
		"GET /api/v1/session/oidc":          refuses(501, "/api/v1/session/oidc"),
		"GET /api/v1/session/oidc/callback": refuses(501, "/api/v1/session/oidc/callback?code=x&state=x"),
		"DELETE /api/v1/session":            refuses(404, "/api/v1/session"),
		"GET /api/v1/sessions":              says(api.Sessions{}, "/api/v1/sessions"),
		"DELETE /api/v1/sessions":           says(api.SignedOut{}, "/api/v1/sessions"),
		"DELETE /api/v1/sessions/:session":  refuses(404, "/api/v1/sessions/0123456789abcdef"),
		"GET /api/v1/keys":                  says(api.Keys{}, "/api/v1/keys"),
		"POST /api/v1/keys": slices.Concat(answers(201, api.KeyMade{},
			[]string{`/api/v1/keys {"role":"reader","name":"ana","states":["prod/*"],"label":"x","from":["192.0.2.1"],"expires":"2100-01-01T00:00:00Z"}`}),
			refuses(400, `/api/v1/keys {"role":"king"}`)),
		"POST /api/v1/keys/:key/rotate": slices.Concat(answers(201, api.KeyMade{},
			[]string{"/api/v1/keys/" + wireKey() + "/rotate"}),
			refuses(404, "/api/v1/keys/nobody/rotate")),
		"DELETE /api/v1/keys/:key": refuses(409, "/api/v1/keys/"+wireKey()),
		"GET /api/v1/organization": says(api.OrganizationSettings{}, "/api/v1/organization"),
		"PATCH /api/v1/organization": slices.Concat(says(api.OrganizationSettings{},
			`/api/v1/organization {"version":"`+wireSettings()+`","settings":[{"name":"keep_days","value":"90"}]}`),
			refuses(400, `/api/v1/organization {"version":"x","settings":[{"name":"quota","value":"off"}]}`),
			refuses(409, `/api/v1/organization {"version":"x","settings":[{"name":"guards","value":"hold"}]}`)),
		"GET /api/v1/policies": slices.Concat(says(api.Policies{}, "/api/v1/policies", "/api/v1/policies?workspace=prod/net"),
			refuses(400, "/api/v1/policies?x=1", "/api/v1/policies?workspace=/")),
		"GET /api/v1/policies/:bundle": slices.Concat(says(api.PolicyBundle{}, "/api/v1/policies/base",
			"/api/v1/policies/base?version=1"), refuses(404, "/api/v1/policies/base?version=9", "/api/v1/policies/no")),
		"PUT /api/v1/policies/:bundle": slices.Concat(says(api.Policy{},
			"/api/v1/policies/base?workspace=prod/net "+wirePolicy),
			refuses(400, `/api/v1/policies/base {"files":[{"path":"a.rego","content":"package p\n\ndeny {"}]}`,
				`/api/v1/policies/base {"files":[],"enforce":"never"}`, "/api/v1/policies/base []")),
		"DELETE /api/v1/policies/:bundle": says(api.Done{}, "/api/v1/policies/base?workspace=prod/net"),
		"GET /api/v1/home":                says(api.Home{}, "/api/v1/home"),
		"GET /api/v1/events":              refuses(400, "/api/v1/events?after=x", "/api/v1/events?x=1"), // else it goes on
		"GET /api/v1/whoami":              says(api.Identity{}, "/api/v1/whoami"),
		"GET /api/v1/states": slices.Concat(says(api.States{}, "/api/v1/states?deleted=any", "/api/v1/states?limit=1"),
			refuses(400, "/api/v1/states?x=1")),
		"GET /api/v1/folders": slices.Concat(says(api.Folders{}, "/api/v1/folders", "/api/v1/folders?prefix=f/&limit=1"),
			refuses(400, "/api/v1/folders?prefix=f", "/api/v1/folders?cursor=!x")),
		"GET /api/v1/locks":        says(api.States{}, "/api/v1/locks"),
		"GET /api/v1/expectations": says(api.States{}, "/api/v1/expectations"),
		"GET /api/v1/audit/chain":  says(api.AuditChain{}, "/api/v1/audit/chain", "/api/v1/audit/chain?limit=1"),
		"GET /api/v1/audit":        says(api.Events{}, "/api/v1/audit", "/api/v1/audit?limit=1"),

		"POST /api/v1/upload": slices.Concat(says(api.Receipt{}, "/api/v1/upload "+wireUpload),
			refuses(400, `/api/v1/upload {"provider":1}`)),
		"POST /upload": says(api.Receipt{}, "/upload "+wireUpload),
		"GET /api/v1/data": slices.Concat(says(api.Records{}, "/api/v1/data", "/api/v1/data?limit=1"),
			refuses(400, "/api/v1/data?x=1")),
		"GET /api/v1/data/latest":  says(api.Records{}, "/api/v1/data/latest"),
		"GET /api/v1/data/summary": says(api.Summary{}, "/api/v1/data/summary"),

		"GET /api/v1/resources": says(api.Resources{}, "/api/v1/resources", "/api/v1/resources?limit=1"),
		"GET /api/v1/resources/coverage": slices.Concat(says(api.Counts{}, "/api/v1/resources/coverage"),
			says(api.Covered{}, "/api/v1/resources/coverage?status=unmatched")),
		"GET /api/v1/resources/:address/history": says(api.History{},
			"/api/v1/resources/module.m%5B%22k%22%5D.aws_vpc.n%5B%22k%22%5D/history?state=x",
			"/api/v1/resources/aws_vpc.moved2%5B0%5D/history?state=x"),

		"POST " + all + "/undelete": says(api.Version{}, "/api/v1/state/gone/-/undelete"),
		"POST " + all + "/import": slices.Concat(says(api.Version{},
			"/api/v1/state/brought/-/import?time=2024-01-01T00:00:00Z&source=elsewhere "+wireState("1", "z")),
			refuses(409, x+"/import?time=2024-01-01T00:00:00Z&source=elsewhere "+wireState("1", "z")),
			refuses(400, x+"/import "+wireState("1", "z"))),
		"POST " + all + "/lock/release": says(api.Released{},
			locked+`/lock/release {"reason":"<why>"}`, locked+`/lock/release {"reason":"<why>"}`),
		"GET " + all + "/expect": says(api.Expected{}, x+"/expect", locked+"/expect"),
		"POST " + all + "/expect": slices.Concat(says(api.Expected{}, x+"/expect "+wireExpect),
			refuses(404, locked+"/expect "+wireExpect),
			refuses(400, x+`/expect {"findings":["emptied"],"for":"0s","reason":"x"}`)),
		"DELETE " + all + "/expect": says(api.Expected{}, x+"/expect", x+"/expect?reason=over"),

		"GET " + all + "/lock": says(api.LockInfo{}, locked+"/lock", x+"/lock"),

		"GET " + all + "/versions": says(api.Versions{},
			x+"/versions", x+"/versions?limit=1", "/api/v1/state/purged/-/versions"),
		"GET " + all + version: slices.Concat(sendsBytes(x+"/versions/1"), refuses(404, x+"/versions/9")),
		"DELETE " + all + version: says(api.Purged{},
			x+"/versions/1?reason=leaked", x+"/versions/1?reason=leaked&copies=true"),
		"POST " + all + version + "/rollback": says(api.Version{}, x+`/versions/1/rollback {"reason":"<why>"}`),
		"GET " + all + version + "/diff": slices.Concat(
			says(api.Diff{}, x+"/versions/2/diff", x+"/versions/1/diff?sensitive=true"),
			sendsBytes(x+"/versions/2/diff?format=text")),
		"GET " + all + "/outputs":      slices.Concat(says(api.Outputs{}, x+"/outputs"), refuses(404, locked+"/outputs")),
		"GET " + all + "/outputs/:key": slices.Concat(says(api.Output{}, x+"/outputs/a"), sendsBytes(x+"/outputs/b?raw")),

		"GET " + all + "/graph": slices.Concat(says(api.Graph{}, x+"/graph", x+"/graph?version=1"),
			refuses(404, locked+"/graph", x+"/graph?version=9")),
		"GET " + all + "/candidates": says(api.Candidates{}, x+"/candidates", x+"/candidates?limit=1"),
		"POST " + all + "/candidates": answers(201, api.Candidate{},
			[]string{x + "/candidates?reason=lost " + wireState("8", "z")}),
		"GET " + all + candidate: slices.Concat(sendsBytes(x+"/candidates/{open}"),
			says(api.Candidate{}, x+"/candidates/{settled}")),
		"GET " + all + candidate + "/diff":     says(api.Diff{}, x+"/candidates/{open}/diff"),
		"POST " + all + candidate + "/discard": says(api.Done{}, x+`/candidates/{open}/discard {"reason":"old"}`),
		"POST " + all + candidate + "/promote": slices.Concat(
			says(api.Version{}, x+"/candidates/{open}/promote "+wireOrder),
			refuses(409, x+"/candidates/{settled}/promote "+wireOrder)),
	}
	maps.Copy(found, workspaceAnswers())
	maps.Copy(found, repositoryAnswers())
	maps.Copy(found, layerAnswers())
	maps.Copy(found, pullAnswers())
	maps.Copy(found, projectAnswers())
	maps.Copy(found, runAnswers())
	maps.Copy(found, protocolAnswers("/api/v1/state/:name", "/api/v1/state/", "/-/lock"))
	maps.Copy(found, protocolAnswers("/terraform/state/:enclave/:partition", "/terraform/state/e/", "/lock"))
	maps.Copy(found, dialectAnswers())
	return found
}

// dialectAnswers are those of what other servers' clients ask.
func dialectAnswers() map[string][]answered {
	found := map[string][]answered{}
	for _, d := range []struct {
		pattern, states, lock string
		stored, held, wrong   int
		unnamed               int // held, to a write without the ID of a lock
		serials               bool
	}{
		{"/api/v4/projects/:alias/terraform/state/:name", "/api/v4/projects/42/terraform/state/", "/lock", 200, 409, 409, 409,
			true},
		{"/api/packages/:alias/terraform/state/:name", "/api/packages/42/terraform/state/", "/lock", 201, 423, 423, 423,
			true},
		{"/state/:alias/:name", "/state/42/", "", 200, 423, 400, 423, false},
		{"/-/state/:alias/:name", "/42/state/", "/lock", 200, 409, 409, 423, false},
	} {
		x, locked := d.states+"x", d.states+"locked"
		other, third := " "+strings.ReplaceAll(wireInfo, "w-1", "w-3"), " "+strings.ReplaceAll(wireInfo, "w-1", "w-4")
		found["GET "+d.pattern] = slices.Concat(sendsBytes(x, x+"?view=redacted"),
			refuses(403, strings.Replace(x, "42", "43", 1)))
		found["POST "+d.pattern] = slices.Concat(answers(d.stored, api.Stored{}, []string{x + " " + wireState("7", "y")}),
			answers(d.unnamed, api.LockInfo{}, []string{locked + " " + wireState("1", "y")}))
		found["DELETE "+d.pattern] = says(api.Done{}, x)
		take, leave := "POST ", "DELETE "
		if d.lock == "" {
			take, leave = "LOCK ", "UNLOCK "
		}
		found[take+d.pattern+d.lock] = slices.Concat(says(api.LockInfo{}, x+d.lock+other),
			answers(d.held, api.LockInfo{}, []string{locked + d.lock + third}))
		found[leave+d.pattern+d.lock] = slices.Concat(refuses(d.wrong, locked+d.lock+third),
			says(api.Done{}, locked+d.lock+" "+wireInfo))
		if d.serials {
			found["GET "+d.pattern+"/versions/:serial"] = slices.Concat(sendsBytes(x+"/versions/2"),
				refuses(404, x+"/versions/9"))
			found["DELETE "+d.pattern+"/versions/:serial"] = slices.Concat(answers(204, nil, []string{x + "/versions/2"}),
				refuses(404, x+"/versions/9"))
		}
	}
	return found
}

// protocolAnswers are those of what Terraform and OpenTofu ask, in one spelling.
func protocolAnswers(pattern, states, lock string) map[string][]answered {
	x, locked := states+"x", states+"locked"
	other, third := " "+strings.ReplaceAll(wireInfo, "w-1", "w-3"), " "+strings.ReplaceAll(wireInfo, "w-1", "w-4")
	stored := slices.Concat(says(api.Stored{}, x+" "+wireState("7", "y")), isLocked(locked+" "+wireState("1", "y")))
	return map[string][]answered{
		"GET " + pattern:         slices.Concat(sendsBytes(x, x+"?view=redacted"), refuses(400, x+"?version=9")),
		"POST " + pattern:        stored,
		"PUT " + pattern:         stored,
		"DELETE " + pattern:      says(api.Done{}, x),
		"LOCK " + pattern:        slices.Concat(says(api.LockInfo{}, x+other), isLocked(locked+third)),
		"POST " + pattern + lock: says(api.LockInfo{}, x+lock+other),
		"PUT " + pattern + lock:  says(api.LockInfo{}, x+lock+other),
		"UNLOCK " + pattern:      slices.Concat(refuses(400, locked+third), says(api.Done{}, locked+" "+wireInfo)),
		"DELETE " + pattern + lock: slices.Concat(refuses(400, locked+lock+third),
			says(api.Done{}, locked+lock+" "+wireInfo)),
	}
}

// wirePolicy is a bundle of policies.
const wirePolicy = `{"files":[{"path":"a.rego","content":"package p\n\ndeny contains \"x\" if { input.x == 1 }\n"}],"enforce":"hold",` +
	`"message":"<m>"}`
