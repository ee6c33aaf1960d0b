package handlers_test

import (
	"slices"

	"github.com/holdfast/holdfast/api"
)

// projectAnswers are those about projects, which are the workspaces of runs and of configurations.
func projectAnswers() map[string][]answered {
	const all, x = "/api/v1/infra/:project", "/api/v1/infra/prod%2Fnet"
	const empty, none = "/api/v1/infra/empty", "/api/v1/infra/none"
	const waits, applied, late = "/api/v1/infra/waits", "/api/v1/infra/applied", "/api/v1/infra/late"
	return map[string][]answered{
		"GET " + all + "/files": slices.Concat(says(api.ProjectFiles{}, x+"/files", empty+"/files"),
			refuses(404, none+"/files")),
		"POST " + all + "/files": slices.Concat(
			says(api.ProjectFileDone{}, x+`/files {"name":"m/n.tf","content":"a = \"<\"\n"}`, empty+`/files {"name":"main.tf"}`),
			refuses(404, none+`/files {"name":"main.tf"}`), refuses(400, x+`/files {"name":"../x"}`, x+`/files {"nam":"x"}`)),
		"DELETE " + all + "/files/:name": slices.Concat(says(api.ProjectFileDone{}, x+"/files/d%2Fmain.tf"),
			refuses(404, x+"/files/no")),
		"GET " + all + "/files/checksums": says(api.ProjectChecksums{}, x+"/files/checksums", empty+"/files/checksums"),
		"POST " + all + "/files/pull":     says(api.ProjectPull{}, x+"/files/pull", empty+"/files/pull {}"),
		"POST " + all + "/run": slices.Concat(refuses(409, waits+`/run {"mode":"plan"}`),
			refuses(400, waits+`/run {"mode":"destroy"}`), refuses(404, none+`/run {"mode":"plan"}`)),
		"GET " + all + "/run/stream": slices.Concat(refuses(400, waits+"/run/stream?mode=plan", waits+"/run/stream",
			waits+"/run/stream?mode=plan&run=x", waits+"/run/stream?run=x&position=7"),
			refuses(404, none+"/run/stream?mode=plan")),
		"GET " + all + "/runs": slices.Concat(says(api.ProjectRuns{}, waits+"/runs", waits+"/runs?limit=1&offset=1",
			empty+"/runs"), refuses(400, waits+"/runs?limit=201"), refuses(404, none+"/runs")),
		"GET " + all + "/runs/:id": slices.Concat(says(api.ProjectRun{}, waits+"/runs/{waits}", applied+"/runs/{applied}",
			"/api/v1/infra/pending/runs/{run}"), refuses(404, waits+"/runs/{applied}"), refuses(400, waits+"/runs/x")),
		"POST " + all + "/runs/:id/approve": slices.Concat(refuses(409, applied+"/runs/{applied}/approve",
			late+`/runs/{late}/approve {"digest":"{digest}"}`), says(api.ProjectRun{}, late+"/runs/{late}/approve")),
		"POST " + all + "/runs/:id/deny": says(api.ProjectRun{}, waits+`/runs/{waits}/deny {"digest":"{digest}","reason":"no"}`),
		"GET " + all + "/state": slices.Concat(refuses(401, x+"/state"),
			by("{token}", refuses(410, "/api/v1/infra/pending/state"))),
		"POST " + all + "/state": slices.Concat(refuses(401, x+"/state {}"),
			by("{token}", refuses(403, "/api/v1/infra/pending/state "+body(1)))),
	}
}
