//go:build e2e

package test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/gittest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/repos/forge/forgetest"
)

// hosted is a repository with a layer, at a git server and a forge.
type hosted struct {
	*runBench
	*gittest.Repo
	git     *gittest.Server
	forge   *forgetest.Forge
	name    string // of the repository; its layer is name/app
	webhook string
	secret  string
}

// host registers a repository with a layer, whose first plan is applied.
func (b *runBench) host(git *gittest.Server, provider forge.Provider) *hosted {
	b.Helper()
	h := &hosted{runBench: b, Repo: git.Repo(b.T, forgetest.Repository), git: git,
		forge: forgetest.New(b.T, provider), name: string(provider)}
	h.Write("envs/prod/main.tf", layered)
	h.Write("shared/main.tf", sharing("one"))
	h.Repo.Commit("Begin")
	token := filepath.Join(b.dir, "token")
	b.must(os.WriteFile(token, []byte(forgetest.Token), 0o600))
	h.secret = strings.TrimSpace(string(b.holdfast("repo", "add", h.name, git.URL(forgetest.Repository), "--provider",
		h.name, "--api", h.forge.URL, "--token-file", token)))
	found, err := b.client.Repository(b.Context(), h.name)
	b.must(err)
	h.webhook = found.Webhook
	b.holdfast("repo", "fetch", h.name)
	b.holdfast("layer", "add", h.layerName(), "--repository", h.name, "--path", "envs/prod", "--remediation", "propose",
		"--tool", "opentofu", "--version", "1.12.6", "--check-every", "off")
	h.agree()
	return h
}

func (h *hosted) layerName() string { return h.name + "/app" }

// agree waits for the layer's proposal, says yes, and waits until it is applied.
func (h *hosted) agree() {
	h.Helper()
	run := h.newest("a proposal", func(r api.Run) bool { return r.Status == "awaiting_approval" })
	h.must(h.approved(run))
	h.newest("an apply", func(r api.Run) bool { return r.ID == run.ID && r.Status == "succeeded" })
	h.waits("the layer is at rest", func() bool {
		l, err := h.client.Layer(h.Context(), h.layerName())
		h.must(err)
		return l.State == "Idle"
	})
}

// newest waits until one of the workspace's runs is what is wanted.
func (h *hosted) newest(what string, is func(api.Run) bool) (found api.Run) {
	h.Helper()
	h.waits("there is "+what, func() bool {
		for _, run := range h.runsOf(h.layerName()) {
			if run.Status == "failed" {
				h.Fatalf("run %s failed: %s\n%s", run.ID, run.Reason, h.log(run, "plan"))
			}
			if is(run) {
				found = run
				return true
			}
		}
		return false
	})
	return found
}

// waits waits until it is so.
func (h *hosted) waits(what string, is func() bool) {
	h.Helper()
	for deadline := time.Now().Add(awaitLimit); time.Now().Before(deadline); time.Sleep(awaitInterval) {
		if is() {
			return
		}
	}
	h.Fatalf("it is not so within %s: %s", awaitLimit, what)
}

// propose pushes a branch, which changes files, and opens a pull request of it. It returns its commit.
func (h *hosted) propose(number int64, fork bool, files map[string]string) string {
	h.Helper()
	h.Git("switch", "--quiet", "--force-create", "change-"+strconv.FormatInt(number, 10), "origin/main")
	var paths []string
	for path, content := range files {
		h.Write(path, content)
		paths = append(paths, path)
	}
	h.Git("add", "--all")
	h.Git("commit", "--quiet", "--message", "Change something")
	head := h.Git("rev-parse", "HEAD")
	h.pushHead(number, fork)
	h.forge.Do(func() {
		h.forge.Pulls[number] = &forgetest.Pull{PullRequest: forge.PullRequest{Number: number, Title: "Change something",
			Link: "https://forge.example/7", Author: h.forge.User("bob"), State: forge.Open, Head: head, Fork: fork,
			HeadRef: "change", Base: head, BaseRef: "main"}, Files: paths}
	})
	h.deliverPull(number)
	return head
}

// pushHead pushes the head of a pull request to where its forge has it.
func (h *hosted) pushHead(number int64, fork bool) {
	h.Helper()
	at := strconv.FormatInt(number, 10) + "/head"
	switch h.forge.Provider {
	case forge.Bitbucket: // forks have theirs to themselves
		if fork {
			h.git.Repo(h.T, forgetest.Fork)
			h.Git("push", "--quiet", filepath.Join(h.git.Root, forgetest.Fork+".git"), "HEAD:refs/heads/change")
		}
	case forge.GitLab:
		h.Git("push", "--quiet", "origin", "HEAD:refs/merge-requests/"+at)
	default:
		h.Git("push", "--quiet", "origin", "HEAD:refs/pull/"+at)
	}
	if !fork {
		h.Push()
	}
}

// comments is what the server has written below a pull request: one comment at most.
func (h *hosted) comments(number int64) string {
	h.Helper()
	var all []string
	h.forge.Do(func() {
		for _, c := range h.forge.Pulls[number].Comments {
			if c.Author.Login == forgetest.Bot().Login {
				all = append(all, c.Body)
			}
		}
	})
	if len(all) > 1 {
		h.Fatalf("%d comments:\n%s", len(all), strings.Join(all, "\n====\n"))
	}
	return strings.Join(all, "")
}

// commented waits until the one comment has all of the texts.
func (h *hosted) commented(number int64, texts ...string) {
	h.Helper()
	var last string
	for deadline := time.Now().Add(awaitLimit); time.Now().Before(deadline); time.Sleep(awaitInterval) {
		last = h.comments(number)
		missing := false
		for _, text := range texts {
			missing = missing || !strings.Contains(last, text)
		}
		if !missing {
			return
		}
		if strings.Contains(last, "| failed") {
			h.Fatalf("a plan failed:\n%s", last)
		}
	}
	h.Fatalf("the comment does not say %q within %s:\n%s", texts, awaitLimit, last)
}

// status is the last one of a commit.
func (h *hosted) status(commit string) (last forge.Status) {
	h.forge.Do(func() {
		for _, s := range h.forge.Statuses {
			if s.Commit == commit {
				last = s.Status
			}
		}
	})
	return last
}

// says has somebody comment below a pull request.
func (h *hosted) says(number int64, login, text string) {
	h.Helper()
	h.forge.Do(func() { h.forge.Comment(number, h.forge.User(login), text) })
	h.deliverComment(number, login, text)
}

// merge merges a pull request, as its forge does.
func (h *hosted) merge(number int64) string {
	h.Helper()
	h.Git("switch", "--quiet", "main")
	h.Git("merge", "--quiet", "--no-ff", "--message", "Merge it", "change-"+strconv.FormatInt(number, 10))
	merged := h.Push()
	h.forge.Do(func() {
		h.forge.Pulls[number].State, h.forge.Pulls[number].Merge = forge.Merged, merged
	})
	h.deliverPull(number)
	h.deliverPush(merged)
	return merged
}

// TestPullRequests has pull requests planned, as four forges tell of them: by webhook, as a status of the commit and
// one comment; applied by a comment, or merged and applied; and a fork kept from secrets.
func TestPullRequests(t *testing.T) {
	suite.Deep(t)
	b := newRunBench(t, "HOLDFAST_REPOSITORIES_NETWORKS=127.0.0.1",
		"HOLDFAST_REPOSITORIES_CA_FILE="+gittest.New(t).CAFile, "HOLDFAST_REPOSITORIES_ALLOW_HTTP=true")
	b.act()
	for provider, follow := range map[forge.Provider]func(*hosted){forge.GitHub: (*hosted).merged,
		forge.GitLab: (*hosted).appliedByComment, forge.Gitea: (*hosted).fork, forge.Bitbucket: (*hosted).forkElsewhere} {
		t.Run(string(provider), func(t *testing.T) {
			t.Parallel()
			of := *b
			of.T = t
			follow(of.host(gittest.New(t), provider))
		})
	}
}

// merged follows a pull request from its first delivery to the state.
func (h *hosted) merged() {
	one := h.propose(6, false, map[string]string{"shared/main.tf": sharing("two")})
	h.forge.Do(func() {
		if len(h.forge.Calls) > 0 {
			h.Error("a repository that wants nothing of pull requests had the forge asked:", h.forge.Calls)
		}
	})
	h.holdfast("pull", "settings", h.name, "--plan", "write")
	h.deliverPull(6)
	h.commented(6, one[:12], "github/app", "planned, `", "1 to change")
	if s := h.status(one); s.State != forge.Success || s.Context != "holdfast/github/app" {
		h.Errorf("the commit's status is %+v", s)
	}
	if shown := string(h.holdfast("pull", "show", h.name, "6")); !strings.Contains(shown, "done") {
		h.Errorf("it is shown as\n%s", shown)
	}
	h.propose(5, false, map[string]string{"README.md": "nothing that is read\n"})
	h.waits("a pull request that changes no layer is looked at", func() bool {
		p, err := h.client.PullRequest(h.Context(), h.name, 5)
		return err == nil && p.SeenAt != nil && len(p.Plans) == 0
	})
	if text := h.comments(5); text != "" {
		h.Errorf("a pull request that changes nothing is commented:\n%s", text)
	}
	h.merge(6)
	h.agree()
	if state := string(h.holdfast("state", "pull", h.layerName())); !strings.Contains(state, `"two"`) {
		h.Errorf("what was merged is not applied:\n%s", state)
	}
	h.waits("the pull request is over", func() bool {
		p, err := h.client.PullRequest(h.Context(), h.name, 6)
		return err == nil && p.State == "merged"
	})
}

// appliedByComment applies by a comment of somebody who may, and not of others.
func (h *hosted) appliedByComment() {
	h.holdfast("pull", "settings", h.name, "--plan", "write", "--apply", "admin")
	one := h.propose(7, false, map[string]string{"shared/main.tf": sharing("two")})
	h.commented(7, one[:12], "planned, `", "1 to change")
	h.says(7, "bob", "holdfast apply")
	h.commented(7, "refused: who comments so needs the permission admin")
	h.says(7, "ana", "holdfast apply")
	h.commented(7, "apply by ana: done")
	if state := string(h.holdfast("state", "pull", h.layerName())); !strings.Contains(state, `"two"`) {
		h.Errorf("what was commented is not applied:\n%s", state)
	}
	if s := h.status(one); s.Description != "applied" {
		h.Errorf("the commit's status is %+v", s)
	}
	h.merge(7)
	h.waits("the merge is planned, and changes nothing", func() bool {
		l, err := h.client.Layer(h.Context(), h.layerName())
		h.must(err)
		return l.State == "Idle" && l.Planned == l.Relevant && l.Branch == h.Git("rev-parse", "main")
	})
}

// leaking says in a warning whether it was given secrets.
const leaking = `
locals {
  variable    = nonsensitive(var.password) == "" ? "kept from it" : "given"
  environment = strcontains(file("/proc/self/environ"), "SECRET_OF_THE_TEST") ? "given" : "kept from it"
}
check "secrets" {
  assert {
    condition     = local.variable == ""
    error_message = "The variable is ${local.variable}. The environment is ${local.environment}."
  }
}
`

// forkElsewhere has a pull request of a fork that is a repository of its own, as Bitbucket has them.
func (h *hosted) forkElsewhere() { h.forkWaits() }

// fork has one of the repository's own given the secrets that one of a fork is kept from.
func (h *hosted) fork() {
	files := h.forkWaits()
	h.propose(9, false, files)
	h.commented(9, "planned, `")
	if text := h.planned(9); !strings.Contains(text, "The variable is given. The environment is given.") {
		h.Errorf("what was not a fork's was kept from secrets:\n%s", text)
	}
}

// forkWaits has a pull request of a fork wait for somebody's word, and kept from secrets then. It returns its files.
func (h *hosted) forkWaits() map[string]string {
	secret := filepath.Join(h.dir, h.name+".secret")
	h.must(os.WriteFile(secret, []byte("a secret of the test"), 0o600))
	h.holdfast("workspace", "set", h.layerName(), "--secret", "password=@"+secret, "--secret-env",
		"SECRET_OF_THE_TEST=@"+secret)
	h.holdfast("pull", "settings", h.name, "--plan", "write")
	files := map[string]string{"envs/prod/leak.tf": leaking}
	one := h.propose(8, true, files)
	h.commented(8, "Nothing is planned", "fork", "holdfast plan "+one[:12])
	h.says(8, "eve", "holdfast plan "+one)
	h.commented(8, "eve", "refused")
	h.holdfast("pull", "allow", h.name, "8", one)
	h.commented(8, "planned, `", "`"+one[:12]+"`")
	if text := h.planned(8); !strings.Contains(text, "The variable is kept from it. The environment is kept from it.") {
		h.Errorf("a fork was given secrets:\n%s", text)
	}
	return files
}

// planned is what the tool said when it planned a pull request.
func (h *hosted) planned(number int64) string {
	h.Helper()
	p, err := h.client.PullRequest(h.Context(), h.name, number)
	h.must(err)
	if len(p.Plans) != 1 {
		h.Fatalf("the pull request has %d plans: %+v", len(p.Plans), p)
	}
	run, err := h.client.Run(h.Context(), p.Plans[0].Run)
	h.must(err)
	return h.log(run, "plan")
}
