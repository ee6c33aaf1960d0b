package repos_test

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/hook"
)

// TestHeadInAFork: a head that is in another repository of the same server is fetched from there, and moves no branch.
func TestHeadInAFork(t *testing.T) {
	w := newWorld(t)
	main := w.git.Repo(t, "acme/network")
	main.Write("main.tf", "one")
	begin := main.Commit("Begin")
	fork := w.git.Repo(t, "eve/network")
	fork.Write("main.tf", "two")
	head := fork.Commit("Change")
	w.create("infra", w.git.URL("acme/network"), hook.Bitbucket)
	_, err := w.Fetch(t.Context(), w.caller, "infra")
	must(t, err)
	at := repos.PullHead{Commit: head, Ref: "refs/heads/main", Number: 7}
	wantCode(t, w.AtPull(t.Context(), w.caller.Org, "infra", at), fault.CommitNotFound)
	for _, source := range []string{"eve/../acme", "eve/net work", "nobody/network", "", "eve/$(id)"} {
		at.Source = source
		if w.AtPull(t.Context(), w.caller.Org, "infra", at) == nil {
			t.Errorf("it was fetched from %q", source)
		}
	}
	at.Source = "eve/network"
	must(t, w.AtPull(t.Context(), w.caller.Org, "infra", at))
	m, err := w.At(t.Context(), w.caller.Org, "infra", head)
	must(t, err)
	if text, err := m.ReadFile(t.Context(), head, "main.tf", 100); err != nil || string(text) != "two" {
		t.Errorf("it is %q, %v", text, err)
	}
	if branches, err := m.Branches(t.Context()); err != nil || branches["main"] != begin || len(branches) != 1 {
		t.Errorf("the branches are %v, %v", branches, err)
	}
	for _, asked := range w.git.Requests() {
		if strings.Contains(asked, "$") || strings.Contains(asked, "..") {
			t.Errorf("the server was asked for %s", asked)
		}
	}
}
