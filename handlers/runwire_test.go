package handlers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// fillRuns makes what the answers about runs are of, and returns what stands for their IDs and
// secrets.
func fillRuns(t *testing.T, w *runworld.World) (names []string) {
	w.Pool = "eu"
	order := func(workspace, kind string) string {
		run, err := w.Create(t.Context(), owner,
			api.RunOrder{Workspace: workspace, Kind: kind, Message: "<why>", Targets: []string{"a.b"}, Replace: []string{"c.d"},
				Reconcile: "11111111-2222-4333-8444-555555555555"}, "")
		if err != nil {
			t.Fatal(err)
		}
		return run.ID
	}
	plan := func(workspace string) string {
		id := order(workspace, "apply")
		e := w.Claim(t, acme)
		e.Log("\x1b[1mplanned <it>\x1b[0m\r\n")
		e.Plan(2)
		return id
	}
	apply := func(workspace string) (string, *runworld.Executor) {
		id := plan(workspace)
		run, err := w.Get(t.Context(), owner, id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Approve(t.Context(), owner, id, api.Decision{Digest: run.Pin.Digest, Reason: "fine"}); err != nil {
			t.Fatal(err)
		}
		return id, w.Claim(t, acme)
	}
	w.Terms.Gates = runs.Gates{Severity: "high"}
	waits := plan("waits")
	w.Terms.Gates = runs.Gates{}
	run, err := w.Get(t.Context(), owner, waits)
	if err != nil {
		t.Fatal(err)
	}
	digest := run.Pin.Digest
	applied, e := apply("applied")
	e.Apply(`{"id":{"sensitive":false,"type":"string","value":"<1>"}}`)
	part, e := apply("e/x")
	e.Apply(`{}`)
	here, over := elsewhere(t, w), elsewhere(t, w)
	stale := plan("stale")
	w.MoveState(t, acme, "stale")
	orphan, e := apply("orphan")
	e.Renew("apply", api.InFlight{Address: "a.b", Action: "create", Since: w.Now()})
	w.Later(t, time.Minute)
	_, token, err := w.CreatePool(t.Context(), owner, "eu", []string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	agent, secret, err := w.Register(t.Context(), owner, token,
		api.AgentRegistration{Name: "host", Version: "1", System: "linux_amd64", Sandbox: "landlock"})
	if err != nil {
		t.Fatal(err)
	}
	late := plan("late") // of the state as it is now
	if run, err = w.Get(t.Context(), owner, late); err != nil {
		t.Fatal(err)
	}
	order("pending", "apply")
	executor := w.Claim(t, acme)
	executor.Renew("plan")
	executor.Log("now")
	order("claimed", "plan")
	return []string{
		"{waits}", waits, "{digest}", digest, "{late}", late, "{lateDigest}", run.Pin.Digest, "{applied}", applied, "{stale}",
		stale, "{orphan}", orphan, "{part}", part, "{here}", here, "{over}", over, "{pool}", token,
		"{agent}", agent.ID, "{secret}", secret, "{run}", executor.Run, "{token}", executor.Token,
	}
}

// elsewhere begins the record of a run that is made on somebody's machine.
func elsewhere(t *testing.T, w *runworld.World) string {
	t.Helper()
	w.Jump(time.Second) // so that IDs sort
	own := owner
	own.KeyID = wireKey()
	run, err := w.BeginElsewhere(t.Context(), own, runs.Elsewhere{Workspace: "e/x", Kind: runs.Apply}, "")
	if err != nil {
		t.Fatal(err)
	}
	return run.ID
}

// runExamples are requests about runs, and of those who execute them.
func runExamples() []string {
	return []string{
		"DELETE /api/v1/pools/eu/grants/11111111-1111-4111-8111-111111111111",
		"400 DELETE /api/v1/pools/eu/grants/x",
		"DELETE /enclaves/none",
		"GET /api/v1/runs",
		"GET /api/v1/runs?limit=1",
		"GET /api/v1/runs?status=orphaned,stale&kind=apply",
		"GET /api/v1/runs/{run}",
		"GET /api/v1/runs/{applied}",
		"GET /api/v1/runs/{waits}",
		"GET /api/v1/runs/{stale}",
		"GET /api/v1/runs/{orphan}",
		"404 GET /api/v1/runs/01JD8X6Q4ZK4T1M5S0R9V7E2WB",
		"404 GET /api/v1/runs/01M00000000000000000000000",
		"404 GET /api/v1/runs/{run}/artefacts/plan/1",
		"GET /api/v1/runs/{waits}/changes",
		"404 GET /api/v1/runs/{run}/changes",
		"GET /api/v1/runs/{run}/events",
		"GET /api/v1/runs/{run}/events?limit=1&after=1",
		"GET /api/v1/runs/{waits}/insight",
		"404 GET /api/v1/runs/{run}/insight",
		"GET /api/v1/runs/{run}/log",
		"GET /api/v1/runs/{waits}/log?ansi=strip&download=true&offset=3&attempt=1",
		"GET /api/v1/runs/{waits}/log/stream",
		"GET /api/v1/runs/{stale}/log/stream?stream=apply",
		"GET /api/v1/runs/{applied}/outputs",
		"404 GET /api/v1/runs/{run}/outputs",
		"GET /enclaves/e/partitions/x/iac/runs",
		"400 GET /enclaves/%2F/partitions/x/iac/runs",
		"GET /enclaves/e/partitions/x/iac/runs/{part}",
		"404 GET /enclaves/e/partitions/x/iac/runs/{applied}",
		"GET /enclaves/e/partitions/x/iac/runs/{part}/stream",
		"GET /enclaves/e/partitions/x/iac/runs/{part}/stream?after=apply:1:0",
		"400 GET /enclaves/e/partitions/x/iac/runs/{part}/stream?after=1:0",
		"GET /enclaves/e/partitions/x/iac/runs/latest",
		"404 GET /enclaves/e/partitions/none/iac/runs/latest",
		`PATCH /api/v1/pools/eu {"workspaces":["a/*"]}`,
		`404 PATCH /api/v1/pools/us {"workspaces":[]}`,
		`POST /api/v1/agents {"name":"<h>","version":"1","system":"linux_amd64","sandbox":"none","boot_id":"b"}`,
		`200 POST /api/v1/agents/{agent}/claim {"key":"k","sandbox":"none","boot_id":"b"}`,
		`204 POST /api/v1/agents/{agent}/claim {"key":"l","sandbox":"none","boot_id":"b"}`,
		`POST /api/v1/pools {"name":"us","workspaces":["prod/*"]}`,
		`409 POST /api/v1/pools {"name":"eu"}`,
		`POST /api/v1/pools/eu/grants {"organization":"11111111-1111-4111-8111-111111111111","workspaces":["a/*"]}`,
		`400 POST /api/v1/pools/eu/grants {"organization":"x"}`,
		"POST /api/v1/pools/eu/rotate",
		"404 POST /api/v1/pools/us/rotate",
		`POST /api/v1/runs {"workspace":"x","kind":"plan","no_refresh":true,"message":"<m>"}`,
		"409 POST /api/v1/runs/{waits}/approve {}",
		`POST /api/v1/runs/{late}/approve {"digest":"{lateDigest}","break_glass":true,"reason":"<r>"}`,
		`POST /api/v1/runs/{run}/cancel {"reason":"<r>"}`,
		"POST /api/v1/runs/{waits}/cancel",
		"409 POST /api/v1/runs/{applied}/cancel",
		`POST /api/v1/runs/{waits}/deny {"digest":"{digest}","reason":"no"}`,
		"POST /api/v1/runs/{waits}/discard",
		`POST /api/v1/runs/{run}/lease {"epoch":1,"stage":"plan"}`,
		`POST /api/v1/runs/{run}/phase {"epoch":1,"stage":"plan","attempt":1,"phase":"init","outcome":"failed","exit_code":1,"seconds":1.5}`,
		"400 POST /api/v1/runs/{run}/phase {}",
		"400 POST /api/v1/runs/{orphan}/resolve {}",
		`POST /api/v1/runs/{orphan}/resolve {"reason":"gone"}`,
		"POST /api/v1/runs/{applied}/retry",
		`POST /enclaves/e/partitions/x/iac/runs {"operation":"Teardown","tool":"tofu"}`,
		`400 POST /enclaves/e/partitions/x/iac/runs {"operation":"No"}`,
		`400 POST /enclaves/e/partitions/x/iac/runs/{over}/end {"status":"Done"}`,
		`POST /enclaves/e/partitions/x/iac/runs/{over}/end {"status":"Succeeded","exit_code":0}`,
		"POST /enclaves/e/partitions/x/iac/runs/{here}/lease {}",
		"404 POST /enclaves/e/partitions/x/iac/runs/{part}/lease {}",
		"400 PUT /api/v1/runs/{run}/artefacts/lock_file/1 text",
		"PUT /api/v1/runs/{run}/log/plan/1?offset=3 more",
		"409 PUT /api/v1/runs/{run}/log/plan/1?offset=99 more",
		"PUT /enclaves/e/partitions/x/iac/runs/{here}/log/plan <log>",
		"409 PUT /enclaves/e/partitions/x/iac/runs/{here}/log/plan?offset=9 <log>",
	}
}

// Bad input about runs is refused with a code.
func TestBadInputAboutRuns(t *testing.T) {
	world, server := runServer(t)
	c, fill := newCaller(t, server, acme, acmeKey), strings.NewReplacer(fillRuns(t, world)...)
	const run = "/api/v1/runs/{run}"
	for _, test := range []struct {
		request, body, bearer string
		status                int
		code                  string
	}{
		{"POST /api/v1/runs", `{}`, "", 400, "run_invalid"},
		{"POST /api/v1/runs", `{"workspace":"x","kind":"teardown"}`, "", 400, "run_invalid"},
		{"POST /api/v1/runs", `{"workspace":"x","kind":"drift","no_refresh":true}`, "", 400, "run_invalid"},
		{"POST /api/v1/runs", `{"workspace":"x","kind":"refresh","replace":["a.b"]}`, "", 400, "run_invalid"},
		{"POST /api/v1/runs", `{"workspace":"x","kind":"plan","pool":"y"}`, "", 400, "run_invalid"},
		{"POST /api/v1/runs", `[]`, "", 400, "run_invalid"},
		{"POST /api/v1/runs", `{"workspace":"x","kind":"plan","targets":["-x"]}`, "", 400, "run_invalid"},
		{"POST /api/v1/runs", `{"workspace":"absent","kind":"plan"}`, "", 404, "workspace_not_found"},
		{"POST /api/v1/runs", `{"workspace":"x","kind":"plan","snapshot":"abc"}`, "", 404, "snapshot_not_found"},
		{"GET /api/v1/runs?status=tired", ``, "", 400, "parameter_invalid"},
		{"GET /api/v1/runs?kind=upgrade", ``, "", 400, "parameter_invalid"},
		{"GET /api/v1/runs?cursor=x", ``, "", 400, "cursor_invalid"},
		{"GET " + run + "/log?offset=-1", ``, "", 400, "parameter_invalid"},
		{"GET " + run + "/log?stream=json", ``, "", 400, "parameter_invalid"},
		{"POST " + run + "/approve", `{"digest":"x"}`, "", 409, "run_status"},
		{"POST /api/v1/runs/{waits}/approve", `{"digest":"x"}`, "", 409, "pin_mismatch"},
		{"POST /api/v1/runs/{waits}/approve", `{"digest":"x","break_glass":true}`, "", 400, "reason_missing"},
		{"POST /api/v1/runs/{stale}/approve", `{"digest":"x"}`, "", 409, "run_stale"},
		{"POST /api/v1/runs/{stale}/approve", `{"digest":"x","break_glass":true,"reason":"r"}`, "", 409, "run_stale"},
		{"POST " + run + "/cancel", `{"level":"soon"}`, "", 400, "run_invalid"},
		{"POST " + run + "/cancel", `{"level":"hard"}`, "", 409, "run_status"},
		{"POST " + run + "/resolve", `{"reason":"x"}`, "", 409, "run_status"},
		{"POST " + run + "/retry", ``, "", 409, "run_status"},
		{"POST /api/v1/pools", `{"name":"../x"}`, "", 400, "run_invalid"},
		{"POST " + run + "/lease", `{"epoch":1}`, "", 403, "right_missing"}, // an owner is no executor
		{"POST " + run + "/lease", `{"epoch":7}`, "{token}", 400, "run_invalid"},
		{"POST /api/v1/runs/{waits}/lease", `{"epoch":1}`, "{token}", 403, "right_missing"},
		{"POST " + run + "/phase", `{"epoch":1,"phase":"plan","outcome":"fine"}`, "{token}", 400, "run_invalid"},
		{"PUT " + run + "/log/plan/2", `x`, "{token}", 400, "run_invalid"},
		{"PUT " + run + "/log/plan/0", `x`, "{token}", 400, "run_invalid"},
		{"PUT " + run + "/log/plan/1?offset=9", `x`, "{token}", 409, "log_gap"},
		{"PUT " + run + "/log/plan/1", `other`, "{token}", 409, "log_mismatch"},
		{"PUT " + run + "/log/plan/1", strings.Repeat("x", 1<<20+1), "{token}", 413, "body_too_large"},
		{"GET " + run, ``, "{token}", 403, "right_missing"}, // an executor is no reader
		{"POST /api/v1/agents", `{}`, "hfp_wrong", 401, "credentials_wrong"},
		{"POST /api/v1/agents/{agent}/claim", `{"key":"k"}`, "hfa_wrong", 401, "credentials_wrong"},
		{"POST /api/v1/agents/{agent}/claim", `{"key":""}`, "{secret}", 400, "run_invalid"},
		{"POST /api/v1/agents/{agent}/claim", `{"key":"k"}`, "{token}", 401, "credentials_wrong"},
	} {
		var headers []string
		if test.bearer != "" {
			headers = append(headers, "Authorization: Bearer "+fill.Replace(test.bearer))
		}
		got := c.do(fill.Replace(test.request), test.body, headers...)
		if got.status != test.status || !strings.Contains(got.body, `"code":"`+test.code+`"`) {
			t.Errorf("%s %.60s: %d %.200s; want %d %s", test.request, test.body, got.status, got.body, test.status, test.code)
		}
	}
	if got := c.do("GET "+fill.Replace(run)+"/log", ""); got.body != "now" {
		t.Errorf("the log is %q", got.body)
	}
	if got := c.do("GET "+fill.Replace("/api/v1/runs/{waits}/log?ansi=strip"), ""); got.body != "planned <it>\r\n" {
		t.Errorf("the log without colours is %q", got.body)
	}
}
