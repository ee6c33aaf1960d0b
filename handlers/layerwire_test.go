package handlers_test

import (
	"context"
	"io/fs"
	"log/slog"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqllayers"
)

// testLayers serves layers that are kept in memory, of a repository infra, and looks at none by itself.
func testLayers(db *sqldb.DB, record audit.Recorder) *layers.Service {
	return layers.NewService(layers.Deps{
		Store: sqllayers.New(db), Repositories: wireRepository{}, Workspaces: anyWorkspace{},
		Inventory: wireInventory{}, Gate: audit.NewGate(record, time.Now), Audit: record, Now: layersNow,
		Log: slog.New(slog.DiscardHandler),
	})
}

// layersNow is when layers are looked at.
func layersNow() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// wireRepository is infra.
type wireRepository struct{ layers.Repositories }

const wireCommit = "89abcdef0123456789abcdef0123456789abcdef"

func (wireRepository) Head(_ context.Context, _ uuid.UUID, repository, _ string) (layers.Commit, string, error) {
	if repository != "infra" {
		return layers.Commit{}, "", fault.New(fault.RepositoryNotFound, "there is no repository %q", repository)
	}
	return layers.Commit{ID: wireCommit}, "", nil
}

func (wireRepository) Read(_ context.Context, _ uuid.UUID, _, _ string, read func(fs.FS) error) error {
	return read(fstest.MapFS{
		layers.DeclarationFile: {Data: []byte("layers:\n  - path: envs/*/\n    tool: opentofu\n    version: \">= 1.9\"\n" +
			"    reads: [x]\n")},
		"envs/prod/main.tf": {}, "envs/test/main.tf": {},
	})
}

// wireInventory has a state and an upload that claim a.b.
type wireInventory struct{}

func (wireInventory) Claims(context.Context, auth.Principal, string, []string) (map[string][]layers.Claim, error) {
	return map[string][]layers.Claim{"a.b": {{Name: "prod/other", At: layersNow()},
		{Upload: true, Name: "aws/compute/vm/b", At: layersNow()}}}, nil
}

// anyWorkspace has every workspace be there.
type anyWorkspace struct{ layers.Workspaces }

func (anyWorkspace) Make(context.Context, auth.Principal, string, layers.Tooling, string) error {
	return nil
}

// fillLayers has a layer of which there is all to say.
func fillLayers(t *testing.T, deps handlers.Deps) {
	t.Helper()
	at := layersNow()
	s := layers.Defaults()
	s.Repository, s.Path, s.Triggers, s.MaxChanges, s.Retries = "infra", "envs/prod", []string{"shared/**"}, 5, 3
	s.Drift.RefreshOnly = true
	s.Windows = []layers.Window{{Kind: "deny", Schedule: "0 18 * * 5", Zone: "Europe/Berlin", Duration: time.Hour,
		Actions: []string{"apply"}}}
	s.Ignore = []layers.Rule{{Address: "*", Attribute: "tags"}}
	commit := layers.Commit{ID: wireCommit, At: at}
	actor := layers.Actor{KeyID: "k", KeyName: "ana", Subject: "ana"}
	// What a tool has said has a value of a state in it.
	l := &layers.Layer{Settings: s, State: layers.PlanNeeded, Says: "the last plan has failed: vpc-1 exists already",
		CreatedAt: at, UpdatedAt: at, UpdatedBy: actor,
		Commits: []layers.CommitVerdict{{Commit: commit, Subject: "Begin", Relevant: true, Why: "x"}},
		Run: &layers.Begun{ID: noRun, Want: layers.WantPlan, Commit: wireCommit, At: at,
			Why: "the last plan has failed: vpc-1 exists already"},
		Drifted: []layers.Resource{{Address: "a.b", Type: "a", Action: "changed", ID: "vpc-1", Attributes: []string{"x"},
			Since: at, Run: noRun, Cause: "c", Expected: "e", Ignored: true},
			{Address: "a.c", Type: "a", Action: "changed", ID: "vpc-1", Attributes: []string{"x"}, Since: at, Run: noRun,
				Cause: "c"}},
		Expected: []layers.Expectation{{ID: "e", Rule: layers.Rule{Address: "a.b", Attribute: "*"}, Owner: "o",
			Reason: "r", Expires: at.AddDate(1000, 0, 0), By: actor, At: at}},
		Checks: []layers.CheckPoint{{At: at, Run: noRun, Drifted: 1}},
	}
	l.Facts.Branch, l.Facts.Relevant, l.Facts.Checked = commit, commit, at
	l.Facts.Plan.Commit, l.Facts.Applied.Commit = wireCommit, wireCommit
	l.Facts.Drift = layers.DriftFact{Run: noRun, At: at, Since: at, Digest: "d", Count: 1}
	l.Facts.Failures = layers.Failures{Count: 1, RetryAt: at, Plan: true, Final: true,
		Reason: "plan failed: vpc-1 exists already", Run: noRun}
	l.Conditions = layers.Conditions(l.Facts, layers.Terms{}, at).Since(nil, at)
	if _, err := deps.Layers.Store.Update(t.Context(), layers.Ref{Org: acme, Name: "prod/net"},
		func(*layers.Layer) (layers.Change, error) {
			return layers.Change{Put: l, Tally: &layers.Tally{Day: layers.DayOf(at), Checks: 3, Found: 1,
				Drifted: 1, Fresh: 2, Healed: 1}}, nil
		}); err != nil {
		t.Fatal(err)
	}
}

// layerExamples are requests about layers.
func layerExamples() []string {
	return []string{
		"DELETE /api/v1/layers/prod/net",
		"404 DELETE /api/v1/layers/none",
		"DELETE /api/v1/layers/prod/net/-/expectations/e",
		"404 DELETE /api/v1/layers/none/-/expectations/e",
		"GET /api/v1/drift/trend",
		"GET /api/v1/drift/trend?days=400",
		"400 GET /api/v1/drift/trend?days=401",
		"400 GET /api/v1/drift/trend?days=0",
		"400 GET /api/v1/drift/trend?days=x",
		"GET /api/v1/layers",
		"GET /api/v1/layers?limit=1",
		"GET /api/v1/layers?repository=infra",
		"400 GET /api/v1/layers?x=1",
		"GET /api/v1/layers/prod/net",
		"404 GET /api/v1/layers/none",
		"GET /api/v1/layers/prod/net/-/drift",
		"404 GET /api/v1/layers/none/-/drift",
		"GET /api/v1/layers/prod/net/-/drift/trend?days=2",
		"404 GET /api/v1/layers/none/-/drift/trend",
		"400 GET /api/v1/layers/prod/net/-/drift/trend?days=0",
		`PATCH /api/v1/layers/prod/net {"drift":{"cron":"0 6 * * *","time_zone":"UTC"}}`,
		`PATCH /api/v1/layers/prod/net {"drift":{"off":true}}`,
		`PATCH /api/v1/layers/prod/net {"windows":[{"kind":"deny","schedule":"0 18 * * 5","duration":3600,"actions":["apply"]}]}`,
		"404 PATCH /api/v1/layers/none {}",
		`400 PATCH /api/v1/layers/prod/net {"remediation":"hope"}`,
		`POST /api/v1/discover {"repository":"infra"}`,
		`POST /api/v1/discover {"repository":"infra","accept":["envs/prod"]}`,
		`404 POST /api/v1/discover {"repository":"none"}`,
		`400 POST /api/v1/discover {"repository":"infra","pattern":"**"}`,
		`POST /api/v1/layers {"name":"prod/db","repository":"infra","path":"envs/db","drift":{"every":3600}}`,
		`409 POST /api/v1/layers {"name":"prod/net","repository":"infra"}`,
		`404 POST /api/v1/layers {"name":"prod/db","repository":"none"}`,
		`400 POST /api/v1/layers {"name":"prod/db","repository":"infra","path":"../x"}`,
		"POST /api/v1/layers/prod/net/-/check",
		"404 POST /api/v1/layers/none/-/check",
		"POST /api/v1/layers/prod/net/-/expectations " + wireExpected(),
		`400 POST /api/v1/layers/prod/net/-/expectations {"address":"*"}`,
		"404 POST /api/v1/layers/none/-/expectations " + wireExpected(),
		"POST /api/v1/layers/prod/net/-/sync",
		"404 POST /api/v1/layers/none/-/sync",
	}
}

// wireExpected is a good expectation, as JSON.
func wireExpected() string {
	return `{"address":"a.*","attribute":"x","owner":"ops","reason":"a scanner sets it",` +
		`"expires":"2026-06-01T00:00:00Z"}`
}
