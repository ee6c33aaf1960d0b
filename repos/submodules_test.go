package repos_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/repos/hook"
)

// nested is a repository with a submodule, both at the world's server.
func (w *world) nested(wanted bool) (commit, inside string) {
	w.t.Helper()
	module := w.git.Repo(w.t, "acme/module")
	module.Write("m.tf", "module")
	inside = module.Commit("Begin")
	git := w.git.Repo(w.t, "acme/infra")
	git.Write("envs/main.tf", "root")
	git.Submodule("envs/module", "../module.git", inside)
	order := at(w.git.URL("acme/infra"), hook.Plain)
	set := order.Settings
	order.Settings = func(s *repos.Settings) error {
		s.Submodules = wanted
		return set(s)
	}
	_, _, err := w.Create(w.t.Context(), w.caller, "infra", order)
	must(w.t, err)
	return git.Commit("Begin"), inside
}

func (w *world) reads(commit, path string) (string, error) {
	m, err := w.At(w.t.Context(), w.caller.Org, "infra", commit)
	if err != nil {
		return "", err
	}
	text, err := m.ReadFile(w.t.Context(), commit, path, 100)
	return string(text), err
}

// TestSubmodulesBySetting: they are read where the repository wants them, by its own credentials at its own server, and
// fetched once.
func TestSubmodulesBySetting(t *testing.T) {
	w := newWorld(t)
	commit, _ := w.nested(false)
	if _, err := w.reads(commit, "envs/module/m.tf"); gitmirror.KindOf(err) != gitmirror.NotThere {
		t.Errorf("without the setting: %v", err)
	}
	w.git.Require("bot", "tok-5e45")
	_, err := w.Change(t.Context(), w.caller, "infra", repos.Order{Settings: func(s *repos.Settings) error {
		s.Submodules, s.Credential, s.User = true, repos.Token, "bot"
		return nil
	}, Secrets: func(s *repos.Secrets) { s.Token = "tok-5e45" }})
	must(t, err)
	for range 3 {
		if text, err := w.reads(commit, "envs/module/m.tf"); err != nil || text != "module" {
			t.Errorf("it is %q, %v", text, err)
		}
	}
	asked := 0
	for _, request := range w.git.Requests() {
		if strings.Contains(request, "/acme/module.git/info/refs") {
			asked++
		}
	}
	if asked > 2 { // git asks without credentials first
		t.Errorf("the submodule was asked for %d times", asked)
	}
	got, err := w.Fetch(t.Context(), w.caller, "infra")
	must(t, err)
	m, err := w.At(t.Context(), w.caller.Org, "infra", commit)
	must(t, err)
	if bytes, err := m.ModuleBytes(); err != nil || bytes == 0 || got.Status.Bytes <= bytes {
		t.Errorf("the repository takes %d bytes, of which submodules %d, %v", got.Status.Bytes, bytes, err)
	}
}

// TestSubmodulesFail: one that is gone fails what reads the commit, and is not asked for again at once; when it is back
// all goes on.
func TestSubmodulesFail(t *testing.T) {
	w := newWorld(t)
	commit, _ := w.nested(true)
	must(t, errOf(w.Fetch(t.Context(), w.caller, "infra")))
	w.git.Require("bot", "tok-5e45") // which nobody has
	for range 3 {
		_, err := w.At(t.Context(), w.caller.Org, "infra", commit)
		if wantCode(t, err, fault.RepositoryFailed); !strings.Contains(err.Error(), "envs/module") {
			t.Errorf("it says %v", err)
		}
	}
	if n := w.git.Fetches(); n > 1 { // the repository's own
		t.Errorf("fetched %d times", n)
	}
	w.git.Require("", "")
	w.sleep(2 * time.Minute)
	if text, err := w.reads(commit, "envs/module/m.tf"); err != nil || text != "module" {
		t.Errorf("it is %q, %v", text, err)
	}
}

// TestForksBringNoSubmodules: what a stranger's commit says has nothing fetched, and no file of a submodule is there.
func TestForksBringNoSubmodules(t *testing.T) {
	w := newWorld(t)
	commit, _ := w.nested(true)
	must(t, errOf(w.Fetch(t.Context(), w.caller, "infra")))
	must(t, errOf(w.reads(commit, "envs/module/m.tf")))
	secret := w.git.Repo(t, "acme/secret")
	secret.Write("s.tf", "secret")
	hidden := secret.Commit("Begin")
	fork := w.git.Repo(t, "eve/infra")
	fork.Write("envs/main.tf", "root")
	fork.Submodule("envs/secret", "../../acme/secret.git", hidden)
	head := fork.Commit("Attack")
	at := repos.PullHead{Commit: head, Ref: "refs/heads/main", Source: "eve/infra", Number: 7, Fork: true}
	must(t, w.AtPull(t.Context(), w.caller.Org, "infra", at))
	if text, err := w.reads(head, "envs/secret/s.tf"); err == nil {
		t.Errorf("a fork has read %q", text)
	}
	for _, request := range w.git.Requests() {
		if strings.Contains(request, "acme/secret") {
			t.Errorf("the server was asked for %s", request)
		}
	}
	at.Fork = false
	must(t, w.AtPull(t.Context(), w.caller.Org, "infra", at))
	if text, err := w.reads(head, "envs/secret/s.tf"); err != nil || text != "secret" {
		t.Errorf("one of the repository's own has read %q, %v", text, err)
	}
}
