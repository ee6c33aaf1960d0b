package handlers_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlpulls"
)

// testPulls serves pull requests that are kept in memory, and looks at none by itself.
func testPulls(db *sqldb.DB, record audit.Recorder) *pulls.Service {
	return pulls.NewService(pulls.Deps{Store: sqlpulls.New(db), Repositories: wirePulls{},
		Gate: audit.NewGate(record, time.Now), Audit: record, Now: layersNow,
		Token: uuid.NewString, Log: slog.New(slog.DiscardHandler)})
}

// wirePulls knows no repository none.
type wirePulls struct{ pulls.Repositories }

func (wirePulls) Known(_ context.Context, _ uuid.UUID, repository string) error {
	if repository == "none" {
		return fault.New(fault.RepositoryNotFound, "there is no repository %q", repository)
	}
	return nil
}

// fillPulls has a pull request of a fork, of which there is all to say.
func fillPulls(t *testing.T, deps handlers.Deps) {
	t.Helper()
	store, ref, at := deps.Pulls.Store, pulls.Ref{Org: acme, Repository: "infra", Number: 7}, layersNow()
	if err := store.SetSettings(t.Context(), acme, "infra", pulls.Settings{Plan: "write", Branch: "main"}); err != nil {
		t.Fatal(err)
	}
	if err := store.Hint(t.Context(), ref, at); err != nil {
		t.Fatal(err)
	}
	p, hints, ok, err := store.Claim(t.Context(), ref, "t", at, at.Add(time.Minute))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	p.At = forge.PullRequest{Number: 7, Title: "<b>", Link: "https://x", Author: forge.User{ID: "1", Login: "bob"},
		State: forge.Open, Head: wireCommit, BaseRef: "main", Fork: true}
	p.Waits, p.Trouble, p.SeenAt = "it waits", "github: unreachable", at
	p.Allowed = &pulls.Allowed{Commit: wireCommit, By: forge.User{Login: "ana"}, At: at}
	p.Lacks, p.Apart = 2, "net/b.tf"
	p.Plans = []pulls.Plan{{Layer: "prod/net", Commit: wireCommit, Onto: wireCommit, Behind: "net/b.tf",
		Run: noRun, Status: pulls.Done, Reason: "r",
		Counts: &api.RunCounts{Add: 1}, Digest: "d",
		Apply: &pulls.Apply{By: forge.User{Login: "ana"}, Run: noRun, Status: pulls.Deciding, Reason: "r"}}}
	if kept, err := store.Save(t.Context(), p, "t"); err != nil || !kept {
		t.Fatal(kept, err)
	}
	if err := store.Finish(t.Context(), ref, "t", hints, at, at); err != nil {
		t.Fatal(err)
	}
}

// pullExamples are requests about pull requests.
func pullExamples() []string {
	return []string{
		"GET /api/v1/pulls",
		"GET /api/v1/pulls?limit=1",
		"GET /api/v1/pulls?repository=infra",
		"400 GET /api/v1/pulls?x=1",
		"GET /api/v1/repositories/infra/pull-settings",
		"404 GET /api/v1/repositories/none/pull-settings",
		"GET /api/v1/repositories/infra/pulls/7",
		"404 GET /api/v1/repositories/infra/pulls/8",
		"400 GET /api/v1/repositories/infra/pulls/x",
		`POST /api/v1/repositories/infra/pulls/7/allow {"commit":"89abcdef0123"}`,
		`404 POST /api/v1/repositories/infra/pulls/8/allow {"commit":"` + wireCommit + `"}`,
		`400 POST /api/v1/repositories/infra/pulls/7/allow {"commit":"main"}`,
		`409 POST /api/v1/repositories/infra/pulls/7/allow {"commit":"00000000"}`,
		"POST /api/v1/repositories/infra/pulls/7/look",
		"409 POST /api/v1/repositories/app/pulls/7/look",
		`PUT /api/v1/repositories/infra/pull-settings {"plan":"write","apply":"admin"}`,
		`400 PUT /api/v1/repositories/infra/pull-settings {"plan":"hope"}`,
		`400 PUT /api/v1/repositories/infra/pull-settings {"plan":"off","apply":"write"}`,
		`404 PUT /api/v1/repositories/none/pull-settings {"plan":"write"}`,
	}
}
