package server

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/gittest"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/repos/hook"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqllayers"
	"github.com/holdfast/holdfast/storage/sqlrepos"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
	"github.com/holdfast/holdfast/workspace"
)

// lagging is a repository with the layers net and dns, and a branch that leaves main at its first commit.
type lagging struct {
	pullLayers
	t    *testing.T
	repo *gittest.Repo
	of   pulls.Ref
	at   forge.PullRequest
}

func newLagging(t *testing.T) *lagging {
	git := gittest.New(t)
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	log, quiet := memory.New(1<<20), slog.New(slog.DiscardHandler)
	t.Cleanup(func() { _ = log.Close() })
	gate, sealer := audit.NewGate(log, time.Now), seal.New(seal.NewMaster(), sqldb.NewKeys(db))
	served := repos.NewService(repos.Deps{Store: sqlrepos.New(db), Gate: gate, Seals: sealer, Folder: t.TempDir(),
		Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, CAFile: git.CAFile, Now: time.Now,
		Random: func() float64 { return 0.5 }, Log: quiet})
	t.Cleanup(served.Close)
	w := &lagging{t: t, repo: git.Repo(t, "infra"), of: pulls.Ref{Org: uuid.New(), Repository: "infra", Number: 7}}
	_, _, err = served.Create(t.Context(), itself(w.of.Org), "infra", repos.Order{Settings: func(s *repos.Settings) error {
		s.URL, s.Provider, s.Branches = git.URL("infra"), hook.GitHub, []string{"main"}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	spaces := workspace.NewService(workspace.Deps{Store: sqlworkspace.New(db, sealer, time.Now), Gate: gate, Audit: log,
		Seals: sealer, Now: time.Now, Log: quiet})
	store := sqllayers.New(db)
	w.pullLayers = pullLayers{layers.NewService(layers.Deps{Store: store, Repositories: layerRepositories{served},
		Gate: gate, Audit: log, Now: time.Now, Log: quiet}), served, spaces}
	for _, name := range []string{"net", "dns"} {
		l := layers.Layer{Settings: layers.Defaults(), CreatedAt: time.Now()}
		l.Settings.Repository, l.Settings.Path = "infra", name
		_, err := store.Update(t.Context(), layers.Ref{Org: w.of.Org, Name: name},
			func(*layers.Layer) (layers.Change, error) { return layers.Change{Put: &l}, nil })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := spaces.Create(t.Context(), itself(w.of.Org), state.Name(name), workspace.Defaults()); err != nil {
			t.Fatal(err)
		}
	}
	w.repo.Write("net/main.tf", "# a\n\n\n\n# b\n")
	w.repo.Write("dns/main.tf", "# a\n")
	w.repo.Commit("Begin")
	w.repo.Switch("change")
	w.repo.Write("net/main.tf", "# a, changed\n\n\n\n# b\n")
	w.at = forge.PullRequest{Number: 7, State: forge.Open, BaseRef: "main", HeadRef: "change",
		Head: w.repo.Commit("Change")}
	w.repo.Git("push", "--quiet", "origin", "HEAD:refs/pull/7/head")
	w.repo.Git("switch", "--quiet", "main")
	return w
}

// commit has main go on, and returns the commit as the server knows it.
func (w *lagging) commit(path, content string) string {
	w.t.Helper()
	w.repo.Write(path, content)
	w.repo.Commit("Change " + path)
	if _, err := w.repositories.Fetch(w.t.Context(), itself(w.of.Org), "infra"); err != nil {
		w.t.Fatal(err)
	}
	base, err := w.Base(w.t.Context(), w.of, w.at)
	if err != nil || base == "" {
		w.t.Fatal(base, err)
	}
	return base
}

func (w *lagging) files(onto, layer string) map[string]string {
	w.t.Helper()
	ctx, caller := context.Context(w.t.Context()), itself(w.of.Org)
	name, err := w.Snapshot(ctx, caller, w.of, w.at, onto, layer)
	if err != nil {
		w.t.Fatal(err)
	}
	if again, err := w.Snapshot(ctx, caller, w.of, w.at, onto, layer); err != nil || again != name {
		w.t.Errorf("the second time it is %s, %v; want %s", again, err, name)
	}
	kept, err := w.workspaces.Files(ctx, w.of.Org, state.Name(layer), name)
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range kept.Files {
		content, err := w.workspaces.Content(ctx, w.of.Org, f)
		if err != nil {
			w.t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if err != nil {
			w.t.Fatal(err)
		}
		all[f.Path] = string(text)
	}
	return all
}

// A layer differs too where the base changes what the head alone has it read.
func TestHeadsReadWhatTheBaseChanges(t *testing.T) {
	t.Parallel()
	w := newLagging(t)
	w.repo.Git("switch", "--quiet", "change")
	w.repo.Write("net/main.tf", "module \"m\" {\n  source = \"../modules/m\"\n}\n")
	w.at.Head = w.repo.Commit("Use a module")
	w.repo.Git("push", "--quiet", "origin", "HEAD:refs/pull/7/head")
	w.repo.Git("switch", "--quiet", "main")
	first := w.commit("modules/m/main.tf", "# m\n")
	second := w.commit("modules/m/main.tf", "# m, changed\n")
	want := map[string]string{"net": "modules/m/main.tf"}
	if got, err := w.Behind(t.Context(), w.of, w.at, second); err != nil || !maps.Equal(got.Layers, want) {
		t.Errorf("the head lacks %+v, %v", got, err)
	}
	if got, err := w.Changed(t.Context(), w.of, w.at, first, second); err != nil || !maps.Equal(got, want) {
		t.Errorf("since the merge main has changed %v, %v", got, err)
	}
}

// How far a head is behind its base is said with the layers that differ, and what is planned is the merge of the two.
func TestHeadsBehindTheirBase(t *testing.T) {
	t.Parallel()
	w := newLagging(t)
	lag := func(base string) pulls.Lag {
		t.Helper()
		found, err := w.Behind(t.Context(), w.of, w.at, base)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if got := lag(w.repo.Git("rev-parse", "main")); got.Commits != 0 || len(got.Layers) != 0 || got.Apart != "" {
		t.Errorf("a head that lacks nothing: %+v", got)
	}
	second := w.commit("net/b.tf", "# new\n")
	if got := lag(second); got.Commits != 1 || got.Apart != "" || !maps.Equal(got.Layers,
		map[string]string{"net": "net/b.tf"}) {
		t.Errorf("%+v", got)
	}
	if got := w.files("", "net"); len(got) != 1 {
		t.Errorf("the head alone is %q", slices.Collect(maps.Keys(got)))
	}
	merged := w.files(second, "net")
	if len(merged) != 2 || merged["net/main.tf"] != "# a, changed\n\n\n\n# b\n" || merged["net/b.tf"] != "# new\n" {
		t.Errorf("the merge is %q", merged)
	}
	third := w.commit("dns/main.tf", "# b\n")
	if got, err := w.Changed(t.Context(), w.of, w.at, second, third); err != nil || !maps.Equal(got,
		map[string]string{"dns": "dns/main.tf"}) {
		t.Errorf("since the merge main has changed %v, %v", got, err)
	}
	apart := w.commit("net/main.tf", "# something else\n\n\n\n# b\n")
	if got := lag(apart); got.Commits != 3 || got.Apart != "net/main.tf" || len(got.Layers) != 2 {
		t.Errorf("%+v", got)
	}
	_, err := w.Snapshot(t.Context(), itself(w.of.Org), w.of, w.at, apart, "net")
	if !fault.Is(err, fault.CommitNotFound) {
		t.Errorf("what does not merge: %v", err)
	}
}
