//go:build e2e

package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/gittest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/repos/forge/forgetest"
)

// drifting are layers of a repository, each of which makes one file with the real provider local.
type drifting struct {
	*hosted
	folder string // where the files are
}

// filed is a configuration that makes a file with the word of another one.
const filed = `
terraform {
  required_providers {
    local = { source = "hashicorp/local" }
  }
}
resource "local_file" "this" {
  filename = %q
  content  = file("${path.module}/word")
}
`

// TestDrift follows layers whose files somebody changes by hand, each with another remediation: what a push changes is
// planned because of a delivery and applied, a check sees what was changed outside, and what follows is what the
// remediation says. A window that is closed keeps what is planned from being applied.
func TestDrift(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	git := gittest.New(t)
	b := newRunBench(t, "HOLDFAST_REPOSITORIES_NETWORKS=127.0.0.1", "HOLDFAST_REPOSITORIES_CA_FILE="+git.CAFile)
	b.act()
	d := &drifting{folder: filepath.Join(b.dir, "files"), hosted: &hosted{runBench: b, Repo: git.Repo(t, "infra"),
		forge: forgetest.New(t, forge.GitHub), name: "infra"}}
	b.must(os.Mkdir(d.folder, 0o700))
	names := []string{"auto", "closed", "dry", "propose"}
	for _, name := range names {
		d.Write("envs/"+name+"/main.tf", fmt.Sprintf(filed, d.file(name)))
		d.Write("envs/"+name+"/word", "one")
	}
	d.Commit("Begin")
	far := b.pool()
	b.openAgent()
	d.secret = strings.TrimSpace(string(b.holdfast("repo", "add", "infra", git.URL("infra"), "--provider", "github")))
	found, err := b.client.Repository(t.Context(), "infra")
	b.must(err)
	d.webhook = found.Webhook
	b.holdfast("repo", "fetch", "infra")
	for _, name := range names {
		d.begin(name, far)
	}
	for _, name := range names {
		d.rests(name, "one")
	}
	d.pushed()
	d.set("closed", api.LayerChange{Windows: &[]api.LayerWindow{{Kind: "deny", Schedule: "* * * * *", Duration: 3600,
		Actions: []string{"apply"}}}})
	d.set("dry", api.LayerChange{Remediation: new("dry")})
	d.set("propose", api.LayerChange{Remediation: new("propose")})
	for _, name := range names {
		b.must(os.WriteFile(d.file(name), []byte("by hand"), 0o600))
		b.holdfast("layer", "check", name)
	}
	d.remediated()
	d.proposed()
	d.stays()
	d.closed()
	d.told(names)
	d.trend()
}

// trend wants each check and what it has found counted once, and what was remedied as healed.
func (d *drifting) trend() {
	d.Helper()
	trend, err := d.client.DriftTrend(d.Context(), 2) // midnight may have been
	d.must(err)
	var sum api.DriftDay
	for _, day := range trend.Days {
		sum.Checks, sum.Found = sum.Checks+day.Checks, sum.Found+day.Found
		sum.New, sum.Healed = sum.New+day.New, sum.Healed+day.Healed
	}
	if want := (api.DriftDay{Checks: 5, Found: 5, New: 4, Healed: 3}); sum != want {
		d.Errorf("the trend is %+v, not %+v", sum, want)
	}
	one, err := d.client.LayerDriftTrend(d.Context(), "dry", 400)
	d.must(err)
	if last := one.Days[len(one.Days)-1]; len(one.Days) != 400 || last.Healed != 0 || last.Checks > 2 {
		d.Errorf("the layer's %d days end with %+v", len(one.Days), last)
	}
	if said := string(d.holdfast("layer", "drift", "--trend")); !strings.Contains(said, "FOUND DRIFT") {
		d.Errorf("the command shows\n%s", said)
	}
}

// told waits until people are told of each drift once, and once of each that is gone.
func (d *drifting) told(names []string) {
	d.Helper()
	want := map[string]int{"dry drift.find": 1}
	for _, name := range names[:2] {
		want[name+" drift.find"], want[name+" drift.heal"] = 1, 1
	}
	want["propose drift.find"], want["propose drift.heal"] = 1, 1
	d.waits("people are told", func() bool {
		got := map[string]int{}
		for _, e := range collect(d.runBench, d.client.Events(client.EventsQuery{})) {
			if strings.HasPrefix(e.Action, "drift.") {
				got[e.State+" "+e.Action]++
			}
		}
		for what, n := range got {
			if n > want[what] {
				d.Fatalf("%s is told %d times, not %d", what, n, want[what])
			}
		}
		return len(got) == len(want)
	})
}

func (d *drifting) file(name string) string { return filepath.Join(d.folder, name) }

// begin makes a layer whose runs the open agent executes.
func (d *drifting) begin(name string, far func(*api.WorkspaceChange)) {
	d.Helper()
	order := api.WorkspaceChange{Name: name, MinSandbox: new("none")}
	far(&order)
	_, err := d.client.CreateWorkspace(d.Context(), order)
	d.must(err)
	d.holdfast("layer", "add", name, "--repository", "infra", "--path", "envs/"+name, "--remediation", "auto",
		"--check-every", "off")
}

func (d *drifting) set(name string, change api.LayerChange) {
	d.Helper()
	_, err := d.client.ChangeLayer(d.Context(), name, change)
	d.must(err)
}

// becomes waits until the layer is what is wanted. A run that fails is the end of it.
func (d *drifting) becomes(name, what string, is func(api.Layer) bool) (last api.Layer) {
	d.Helper()
	d.waits(name+" becomes "+what, func() bool {
		l, err := d.client.Layer(d.Context(), name)
		d.must(err)
		for _, run := range d.runsOf(name) {
			if run.Status == "failed" {
				d.Fatalf("run %s failed: %s\n%s", run.ID, run.Reason, d.log(run, "plan"))
			}
		}
		last = l
		return is(l)
	})
	return last
}

// rests waits until the layer has nothing to do, and its file the word.
func (d *drifting) rests(name, word string) {
	d.Helper()
	d.becomes(name, "idle", func(l api.Layer) bool { return l.State == "Idle" && l.Drifted == 0 })
	d.has(name, word)
}

func (d *drifting) has(name, word string) {
	d.Helper()
	text, err := os.ReadFile(d.file(name))
	d.must(err)
	if string(text) != word {
		d.Errorf("the file of %s says %q, not %q", name, text, word)
	}
}

// pushed has a delivery tell of a commit that one layer reads.
func (d *drifting) pushed() {
	d.Helper()
	d.Write("envs/auto/word", "two")
	commit := d.Commit("Say two")
	d.deliverPush(commit)
	d.becomes("auto", "planned and applied at the commit", func(l api.Layer) bool {
		return l.Planned == commit && l.Applied == commit && l.State == "Idle"
	})
	d.has("auto", "two")
	other := d.becomes("dry", "aware of the commit", func(l api.Layer) bool { return l.Branch == commit })
	if other.Relevant == commit || len(d.runsOf("dry")) != 1 {
		d.Errorf("a commit that another layer reads: %+v", other)
	}
}

// remediated is what auto does: the file is as the repository says again, and nobody was asked.
func (d *drifting) remediated() {
	d.Helper()
	d.becomes("auto", "remediated", func(l api.Layer) bool {
		runs := d.runsOf("auto")
		return l.State == "Idle" && l.Drifted == 0 && runs[0].Kind == "apply" && len(runs) == 4
	})
	d.has("auto", "two")
	if runs := d.runsOf("auto"); runs[1].Kind != "drift" || runs[0].Status != "succeeded" {
		d.Errorf("what was drifted is not remediated by a check and an apply: %+v", runs)
	}
}

// proposed is what propose does: a run waits for somebody, and nothing is changed before they say yes.
func (d *drifting) proposed() {
	d.Helper()
	l := d.becomes("propose", "proposed", func(l api.Layer) bool {
		return l.State == "ApplyNeeded" && d.runsOf("propose")[0].Status == "awaiting_approval"
	})
	d.has("propose", "by hand")
	drift, err := d.client.LayerDrift(d.Context(), "propose")
	d.must(err)
	if len(drift.Resources) != 1 || drift.Resources[0].Address != "local_file.this" || l.Drifted != 1 ||
		drift.Resources[0].Run != drift.Run || drift.Resources[0].Since.IsZero() {
		d.Errorf("the report is %+v", drift)
	}
	d.must(d.approved(d.runsOf("propose")[0]))
	d.rests("propose", "one")
}

// stays is what dry does: an apply that is needed stays so, whatever checks find, until a plan is needed.
func (d *drifting) stays() {
	d.Helper()
	d.becomes("dry", "planned", func(l api.Layer) bool { return l.State == "ApplyNeeded" && waitsForNoRun(l) })
	before := d.runsOf("dry")
	d.holdfast("layer", "check", "dry")
	d.becomes("dry", "checked again", func(l api.Layer) bool {
		return l.State == "ApplyNeeded" && waitsForNoRun(l) && len(d.runsOf("dry")) > len(before)
	})
	if runs := d.runsOf("dry"); before[0].Kind != "plan" || runs[0].Kind != "drift" || len(runs) != len(before)+1 {
		d.Errorf("the runs of a dry layer are %+v", runs)
	}
	d.Write("envs/dry/word", "three")
	commit := d.Commit("Say three")
	d.deliverPush(commit)
	d.becomes("dry", "planned at the commit", func(l api.Layer) bool {
		return l.Planned == commit && l.State == "ApplyNeeded" && waitsForNoRun(l)
	})
	d.has("dry", "by hand")
}

// closed is what a window does: what is needed is planned and waits, and is applied when the window is gone.
func (d *drifting) closed() {
	d.Helper()
	l := d.becomes("closed", "planned", func(l api.Layer) bool { return l.State == "ApplyNeeded" && waitsForNoRun(l) })
	if !strings.Contains(l.Says, "window") || d.runsOf("closed")[0].Kind != "plan" {
		d.Errorf("a layer whose window is closed says %q", l.Says)
	}
	d.has("closed", "by hand")
	d.set("closed", api.LayerChange{Windows: &[]api.LayerWindow{}})
	d.rests("closed", "one")
}
