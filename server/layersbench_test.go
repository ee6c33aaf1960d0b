package server

import (
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/gittest"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/hook"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqllayers"
	"github.com/holdfast/holdfast/storage/sqlrepos"
)

// idleRuns are none: the layers of the benchmark need no run.
type idleRuns struct{ layers.Runs }

func (idleRuns) Share() int { return 1 }

// manyFiles has a repository of 100,000 files for git fast-import, with 5,000 folders that call some of 500 modules.
func manyFiles() string {
	var text strings.Builder
	files := 0
	file := func(path, content string) {
		files++
		fmt.Fprintf(&text, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
	}
	text.WriteString("commit refs/heads/main\ncommitter Ada <ada@example.com> 1767323045 +0000\ndata 5\nBegin\n")
	for i := range 500 {
		file(fmt.Sprintf("modules/m%d/main.tf", i), fmt.Sprintf("module \"next\" {\n  source = \"../m%d\"\n}\n", i/2))
	}
	for i := range 5000 {
		file(folderOf(i)+"/main.tf", fmt.Sprintf("module \"a\" {\n  source = \"../../../modules/m%d\"\n}\n", i%500))
		file(folderOf(i)+"/terraform.tfvars", "a = 1\n")
	}
	for i := files; i < 100_000; i++ {
		file(fmt.Sprintf("other/%d/%d.txt", i%100, i), "")
	}
	return text.String()
}

func folderOf(i int) string { return fmt.Sprintf("envs/e%d/l%d", i%50, i) }

// BenchmarkRelevantLayers is what a server needs to know which of 5,000 layers a commit changes, in a repository of
// 100,000 files: the commit is fetched, and the first layer of all that look at it has its step. The others find what
// is known by then.
func BenchmarkRelevantLayers(b *testing.B) {
	git := gittest.New(b)
	repo := git.Repo(b, "infra")
	push := func(commits string) string {
		repo.GitIn(commits, "fast-import", "--quiet")
		repo.Git("push", "--quiet", "origin", "main")
		return repo.Git("rev-parse", "main")
	}
	first := layers.Commit{ID: push(manyFiles())}
	db, err := sqldb.Open(b.Context(), sqldb.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	log, quiet := memory.New(1<<20), slog.New(slog.DiscardHandler)
	defer log.Close()
	at, org := time.Now(), uuid.New()
	gate := audit.NewGate(log, time.Now)
	served := repos.NewService(repos.Deps{Store: sqlrepos.New(db), Gate: gate, Seals: seal.New(seal.NewMaster(),
		sqldb.NewKeys(db)), Folder: b.TempDir(), Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		CAFile: git.CAFile, Now: time.Now, Random: func() float64 { return 0.5 }, Log: quiet})
	defer served.Close()
	_, _, err = served.Create(b.Context(), itself(org), "infra", repos.Order{Settings: func(s *repos.Settings) error {
		s.URL, s.Provider = git.URL("infra"), hook.Plain
		return nil
	}})
	if err != nil {
		b.Fatal(err)
	}
	store := sqllayers.New(db)
	service := layers.NewService(layers.Deps{Store: store, Repositories: layerRepositories{served}, Runs: idleRuns{},
		Gate: gate, Audit: log, Now: time.Now, Log: quiet})
	for i := range 5000 {
		l := layers.Layer{Settings: layers.Defaults(), CreatedAt: at}
		l.Settings.Repository, l.Settings.Path, l.Settings.Drift.Off = "infra", folderOf(i), true
		l.Facts.Branch, l.Facts.Relevant = first, first
		l.Facts.Plan = layers.PlanFact{Run: "run", Commit: first.ID, At: at}
		_, err := store.Update(b.Context(), layers.Ref{Org: org, Name: fmt.Sprint("l", i)},
			func(*layers.Layer) (layers.Change, error) { return layers.Change{Put: &l}, nil })
		if err != nil {
			b.Fatal(err)
		}
	}
	step := func(n int, path string) layers.Layer {
		push(fmt.Sprintf("commit refs/heads/main\ncommitter Ada <ada@example.com> %d +0000\ndata 6\nChange\n"+
			"from refs/heads/main^0\nM 100644 inline %s\ndata 12\n# change %03d\n", 1767323046+n, path, n%1000))
		if _, err := served.Fetch(b.Context(), itself(org), "infra"); err != nil {
			b.Fatal(err)
		}
		ref := layers.Ref{Org: org, Name: "l7"}
		b.StartTimer()
		err := service.Step(b.Context(), ref)
		b.StopTimer()
		if err != nil {
			b.Fatal(err)
		}
		l, err := store.Layer(b.Context(), ref)
		if err != nil || len(l.Commits) == 0 || l.Commits[0].Relevant {
			b.Fatalf("%v, %+v", err, l)
		}
		return l
	}
	b.StopTimer()
	step(0, "modules/m499/main.tf") // the first commit has all files read
	b.ResetTimer()
	b.StopTimer()
	for n := range b.N {
		step(n+1, "modules/m498/main.tf")
	}
}
