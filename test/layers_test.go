//go:build e2e

package test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/gittest"
)

// layered is a configuration that makes one resource out of a word.
const layered = `
variable "password" {
  default   = ""
  sensitive = true
}
module "shared" { source = "../../shared" }
resource "terraform_data" "made" { input = module.shared.word }
`

func sharing(word string) string { return "output \"word\" { value = \"" + word + "\" }\n" }

// TestLayers has a layer planned when it is made and again when a push changes what it reads, but not when a push
// changes something else; the plan is one of the configuration that was pushed.
func TestLayers(t *testing.T) {
	git := gittest.New(t)
	repo := git.Repo(t, "infra")
	repo.Write("envs/prod/main.tf", layered)
	repo.Write("shared/main.tf", sharing("one"))
	first := repo.Commit("Begin")
	b := newRunBench(t, "HOLDFAST_REPOSITORIES_NETWORKS=127.0.0.1", "HOLDFAST_REPOSITORIES_CA_FILE="+git.CAFile)
	b.act()

	b.holdfast("repo", "add", "infra", git.URL("infra"))
	b.holdfast("repo", "fetch", "infra")
	b.holdfast("layer", "add", "prod/app", "--repository", "infra", "--path", "envs/prod", "--remediation", "propose",
		"--tool", "opentofu", "--version", "1.12.6", "--check-every", "off")
	run := b.proposed(first)
	b.must(b.approved(run))
	b.layer("applied", func(l api.Layer) bool { return l.State == "Idle" })

	repo.Write("README.md", "nothing that is read\n")
	other := repo.Commit("Say something")
	b.holdfast("repo", "fetch", "infra")
	seen := b.layer("aware of the commit", func(l api.Layer) bool {
		return len(l.Commits) > 0 && l.Commits[0].Commit == other
	})
	if seen.Commits[0].Relevant || seen.State != "Idle" || len(b.runsOf("prod/app")) != 1 {
		t.Fatalf("a commit that changes nothing of the layer: %+v", seen)
	}

	repo.Write("shared/main.tf", sharing("two"))
	second := repo.Commit("Change what a module says")
	b.holdfast("repo", "fetch", "infra")
	again := b.proposed(second)
	if again.ID == run.ID {
		t.Fatal("the push was not planned")
	}
	if text := b.log(again, "plan"); !strings.Contains(text, "1 to change") {
		t.Errorf("the plan does not change what the push does:\n%s", text)
	}
	if said := string(b.holdfast("layer", "show", "prod/app")); !strings.Contains(said, "shared/main.tf") {
		t.Errorf("the layer does not say why the commit is relevant:\n%s", said)
	}
	b.must(b.approved(again))
	b.layer("applied again", func(l api.Layer) bool { return l.State == "Idle" })
	if state := string(b.holdfast("state", "pull", "prod/app")); !strings.Contains(state, `"two"`) {
		t.Errorf("what was applied is not what was pushed:\n%s", state)
	}

	b.holdfast("layer", "check", "prod/app")
	checked := b.layer("checked", func(l api.Layer) bool { return l.CheckedAt != nil && l.State == "Idle" })
	all := b.runsOf("prod/app")
	if last := all[0]; last.Kind != "drift" || last.Status != "succeeded" || checked.Drifted != 0 {
		t.Errorf("the check was %+v and found %d", last, checked.Drifted)
	}
}

// act has the program talk to this server.
func (b *runBench) act() {
	// The server's own environment may lie behind this one.
	b.environ = append(slices.Clip(b.environ), "HOLDFAST_ADDR="+b.server.url, "HOLDFAST_ORG="+b.org.String(),
		"HOLDFAST_KEY="+b.key)
}

// waitsForNoRun says that the layer's last run, if there was any, has ended.
func waitsForNoRun(l api.Layer) bool { return l.Run == nil || l.Run.Ended }

// layer waits until the layer is what is wanted.
func (b *runBench) layer(what string, is func(api.Layer) bool) (last api.Layer) {
	b.Helper()
	for deadline := time.Now().Add(awaitLimit); time.Now().Before(deadline); time.Sleep(awaitInterval) {
		l, err := b.client.Layer(b.Context(), "prod/app")
		b.must(err)
		if last = l; is(l) {
			return l
		}
	}
	b.Fatalf("the layer did not become %s within %s: %+v", what, awaitLimit, last)
	return last
}

// proposed waits for the layer's run of a commit, until somebody is to approve of its plan.
func (b *runBench) proposed(commit string) api.Run {
	b.Helper()
	var found api.Run
	b.layer("planned", func(api.Layer) bool {
		for _, run := range b.runsOf("prod/app") {
			if run.Status == "failed" {
				b.Fatalf("run %s failed: %s\n%s", run.ID, run.Reason, b.log(run, "plan"))
			}
			if run.Status == "awaiting_approval" {
				found = run
				return true
			}
		}
		return false
	})
	l := b.layer("at the commit", func(l api.Layer) bool { return len(l.Commits) > 0 && l.Commits[0].Commit == commit })
	if !l.Commits[0].Relevant {
		b.Fatalf("the commit is not relevant: %+v", l.Commits[0])
	}
	return found
}

// approved says yes to a plan.
func (b *runBench) approved(r api.Run) error {
	_, err := b.client.ApproveRun(b.Context(), r.ID, api.Decision{Digest: r.Pin.Digest})
	return err
}

// runsOf returns a workspace's runs, the newest first.
func (b *runBench) runsOf(workspace string) []api.Run {
	b.Helper()
	return collect(b, b.client.Runs(client.RunsQuery{Workspace: workspace}))
}
