package handlers_test

import (
	"context"
	"log/slog"
	"slices"
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
	p.Plans = []pulls.Plan{{Layer: "prod/net", Commit: wireCommit, Run: noRun, Status: pulls.Done, Reason: "r",
		Counts: &api.RunCounts{Add: 1}, Digest: "d",
		Apply: &pulls.Apply{By: forge.User{Login: "ana"}, Run: noRun, Status: pulls.Deciding, Reason: "r"}}}
	if kept, err := store.Save(t.Context(), p, "t"); err != nil || !kept {
		t.Fatal(kept, err)
	}
	if err := store.Finish(t.Context(), ref, "t", hints, at, at); err != nil {
		t.Fatal(err)
	}
}

// pullAnswers are those about pull requests.
func pullAnswers() map[string][]answered {
	const of, one = "/api/v1/repositories/:repository", "/api/v1/repositories/infra"
	const all, seven, none = of + "/pulls/:number", one + "/pulls/7", one + "/pulls/8"
	return map[string][]answered{
		"GET /api/v1/pulls": slices.Concat(says(api.Pulls{}, "/api/v1/pulls", "/api/v1/pulls?limit=1",
			"/api/v1/pulls?repository=infra"), refuses(400, "/api/v1/pulls?x=1")),
		"GET " + of + "/pull-settings": slices.Concat(says(api.PullSettings{}, one+"/pull-settings"),
			refuses(404, "/api/v1/repositories/none/pull-settings")),
		"PUT " + of + "/pull-settings": slices.Concat(says(api.PullSettings{},
			one+`/pull-settings {"plan":"write","apply":"admin"}`),
			refuses(400, one+`/pull-settings {"plan":"hope"}`, one+`/pull-settings {"plan":"off","apply":"write"}`),
			refuses(404, `/api/v1/repositories/none/pull-settings {"plan":"write"}`)),
		"GET " + all: slices.Concat(says(api.Pull{}, seven), refuses(404, none), refuses(400, one+"/pulls/x")),
		"POST " + all + "/look": slices.Concat(says(api.Done{}, seven+"/look"),
			refuses(409, "/api/v1/repositories/app/pulls/7/look")),
		"POST " + all + "/allow": slices.Concat(says(api.Pull{}, seven+`/allow {"commit":"`+wireCommit[:12]+`"}`),
			refuses(404, none+`/allow {"commit":"`+wireCommit+`"}`), refuses(400, seven+`/allow {"commit":"main"}`),
			refuses(409, seven+`/allow {"commit":"00000000"}`)),
	}
}
