package pulls_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/repos/forge/forgetest"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlpulls"
)

// world is a service over a forge, with layers and runs that do what a test says.
type world struct {
	*pulls.Service
	t        *testing.T
	there    *forgetest.Forge
	forge    forge.Forge
	settings pulls.Settings
	ref      pulls.Ref
	saves    int   // that still work; below zero for all
	away     error // why no run can be made now; nil where it can

	undroppable error // why no run can be dropped now; nil where it can

	mu       sync.Mutex
	now      time.Time
	affected []string
	defined  map[string]string // layers with where they are
	base     string            // commit of the base; empty for none
	behind   map[string]string // layers that it changes and the head lacks
	changed  map[string]string // layers that it has changed since it was merged with the head
	apart    string            // where the two don't merge
	made     []*run
	keys     map[string]*run
}

// run is one that the service has begun.
type run struct {
	pulls.RunFact
	order     api.RunOrder
	of        runs.PullOrder
	confirmed string
	dropped   bool
}

var errDied = errors.New("the process died")

// mortal is a store of a process that dies when it has saved so often.
type mortal struct {
	pulls.Store
	w *world
}

func (m mortal) Save(ctx context.Context, p pulls.Pull, token string) (bool, error) {
	if m.w.saves == 0 {
		return false, errDied
	}
	m.w.saves--
	return m.Store.Save(ctx, p, token)
}

func (m mortal) Finish(ctx context.Context, ref pulls.Ref, token string, hints int64, now, next time.Time) error {
	if m.w.saves == 0 {
		return errDied
	}
	return m.Store.Finish(ctx, ref, token, hints, now, next)
}

func newWorld(t *testing.T, provider forge.Provider) *world {
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := &world{t: t, there: forgetest.New(t, provider), saves: -1, affected: []string{"prod/network"},
		settings: pulls.Settings{Plan: "write"},
		now:      time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC), keys: map[string]*run{},
		ref: pulls.Ref{Org: uuid.New(), Repository: "infra", Number: 7}}
	w.forge = w.there.Open(t)
	w.Service = pulls.NewService(pulls.Deps{Store: mortal{sqlpulls.New(db), w}, Repositories: w, Layers: w,
		Runs: inRuns{w},
		Link: func(run string) string { return "https://holdfast.example/ui/runs/" + run },
		Now:  func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now }, Token: uuid.NewString,
		Log: slog.New(slog.DiscardHandler)})
	return w
}

// look has the pull request looked at, as after a delivery.
func (w *world) look() {
	w.t.Helper()
	w.jump(time.Second)
	if err := errors.Join(w.Hint(w.t.Context(), w.ref), w.Round(w.t.Context())); err != nil && !errors.Is(err, errDied) {
		w.t.Fatal(err)
	}
}

func (w *world) jump(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) pull() pulls.Pull {
	w.t.Helper()
	p, there, err := w.Store.Pull(w.t.Context(), w.ref)
	if err != nil || !there {
		w.t.Fatal(there, err)
	}
	return p
}

// comment is what the one comment of ours says.
func (w *world) comment() string {
	w.t.Helper()
	var all []string
	w.there.Do(func() {
		for _, c := range w.there.Pulls[7].Comments {
			if c.Author.Login == forgetest.Bot().Login {
				all = append(all, c.Body)
			}
		}
	})
	if len(all) > 1 {
		w.t.Fatalf("%d comments:\n%s", len(all), strings.Join(all, "\n=====\n"))
	}
	return strings.Join(all, "")
}

// says has somebody comment, and the pull request looked at.
func (w *world) says(login, text string) {
	w.t.Helper()
	w.there.Do(func() { w.there.Comment(7, w.there.User(login), text) })
	w.look()
}

// status is the last one of a commit.
func (w *world) status(commit string) (last forge.Status) {
	w.there.Do(func() {
		for _, s := range w.there.Statuses {
			if s.Commit == commit {
				last = s.Status
			}
		}
	})
	return last
}

func (w *world) push(head string) {
	w.there.Do(func() { w.there.Pulls[7].Head = head })
	w.look()
}

// end has a run end well, with changes.
func (r *run) end(changes string) {
	r.Ended, r.Good, r.Decide, r.Changes, r.Base, r.Config = true, true, false, changes, "state", r.order.Snapshot
	r.Digest, r.Counts = strings.Repeat("d1", 32), &api.RunCounts{Add: 1, Any: true}
}

// Forge implements pulls.Repositories.
func (w *world) Forge(context.Context, uuid.UUID, string) (forge.Forge, pulls.Settings, error) {
	return w.forge, w.settings, nil
}

// Known implements pulls.Repositories.
func (w *world) Known(context.Context, uuid.UUID, string) error { return nil }

// Affected implements pulls.Layers.
func (w *world) Affected(context.Context, pulls.Ref, forge.PullRequest, []string, bool) ([]string, error) {
	return w.affected, nil
}

// Definitions implements pulls.Layers.
func (w *world) Definitions(context.Context, pulls.Ref, forge.PullRequest) (map[string]string, error) {
	return w.defined, nil
}

// Base implements pulls.Layers.
func (w *world) Base(context.Context, pulls.Ref, forge.PullRequest) (string, error) {
	return w.base, nil
}

// Behind implements pulls.Layers.
func (w *world) Behind(context.Context, pulls.Ref, forge.PullRequest, string) (pulls.Lag, error) {
	return pulls.Lag{Commits: len(w.behind), Layers: w.behind, Apart: w.apart}, nil
}

// Changed implements pulls.Layers.
func (w *world) Changed(context.Context, pulls.Ref, forge.PullRequest, string, string) (map[string]string, error) {
	return w.changed, nil
}

// Snapshot implements pulls.Layers.
func (w *world) Snapshot(_ context.Context, p auth.Principal, _ pulls.Ref, at forge.PullRequest, onto,
	layer string) (string, error) {
	if p.MayOn(auth.WriteWorkspace, layer) != nil || p.MayOn(auth.WriteWorkspace, "another") == nil {
		w.t.Errorf("%+v may do too much, or too little", p)
	}
	return "beside-" + layer + at.Head + onto, nil
}

// Drop implements pulls.Layers.
func (w *world) Drop(context.Context, uuid.UUID, string, string) error { return nil }

// inRuns is what a world is as pulls.Runs.
type inRuns struct{ *world }

func (w inRuns) Begin(_ context.Context, _ auth.Principal, o api.RunOrder, of runs.PullOrder,
	key string) (string, error) {
	if found := w.keys[key]; found != nil {
		return found.ID, nil
	}
	if w.away != nil {
		return "", w.away
	}
	made := &run{RunFact: pulls.RunFact{ID: fmt.Sprintf("RUN%d", len(w.made))}, order: o, of: of}
	w.made, w.keys[key] = append(w.made, made), made
	return made.ID, nil
}

func (w inRuns) find(id string) *run {
	for _, r := range w.made {
		if r.ID == id {
			return r
		}
	}
	w.t.Fatalf("there is no run %q", id)
	return nil
}

func (w inRuns) Fact(_ context.Context, _ uuid.UUID, id string) (pulls.RunFact, error) {
	return w.find(id).RunFact, nil
}

func (w inRuns) Confirm(_ context.Context, _ auth.Principal, id, digest, _ string) error {
	w.find(id).confirmed = digest
	return nil
}

func (w inRuns) Drop(_ context.Context, _ auth.Principal, id, _ string) error {
	w.find(id).dropped = w.undroppable == nil
	return w.undroppable
}

func (w inRuns) Insight(context.Context, uuid.UUID, string) (*api.Insight, error) {
	return &api.Insight{Summary: "**1 to add.**"}, nil
}

func (w inRuns) Changes(context.Context, uuid.UUID, string) (*api.RunChanges, error) { return nil, nil }
