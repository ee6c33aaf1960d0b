//go:build e2e

package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/suite"
)

// TestSSH has a layer planned out of a repository behind a real sshd, with a deploy key and the host's pinned key. With
// another key, a host that isn't known or one that shows another key, nothing is fetched, and the repository says
// why; nobody ever tries a password.
func TestSSH(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	s := startSSH(t)
	repo, url := s.repo("infra")
	repo.Write("main.tf", "resource \"terraform_data\" \"made\" { input = \"one\" }\n")
	first := repo.Commit("Begin")
	dir := runDir(t)
	temporary := filepath.Join(dir, "t")
	s.must(os.Mkdir(temporary, 0o700))
	b := newRunBenchIn(t, dir, "HOLDFAST_REPOSITORIES_NETWORKS="+s.address, "TMPDIR="+temporary)
	b.act()
	b.must(os.WriteFile(filepath.Join(dir, "key"), []byte(s.key), 0o600))
	b.must(os.WriteFile(filepath.Join(dir, "known"), []byte(s.known(s.host)), 0o600))
	b.holdfast("repo", "add", "infra", url, "--key-file", "key", "--known-hosts-file", "known")
	b.holdfast("repo", "fetch", "infra")
	b.holdfast("layer", "add", "prod/app", "--repository", "infra", "--path", ".", "--remediation", "propose",
		"--tool", "opentofu", "--version", "1.12.6", "--check-every", "off")
	b.proposed(first)
	repo.Write("README.md", "It is made of one word.\n")
	second := repo.Commit("Say what it is")
	b.holdfast("repo", "fetch", "infra")
	b.layer("aware of the push", func(l api.Layer) bool { return len(l.Commits) > 0 && l.Commits[0].Commit == second })

	stranger, other := newSSHKey(t)
	b.refusedSSH("login_refused", "Permission denied", api.RepositoryChange{Key: &stranger})
	b.refusedSSH("host_key", "none of its known hosts", api.RepositoryChange{KnownHosts: new(s.known(other))})
	b.refusedSSH("host_key", "none of its known hosts",
		api.RepositoryChange{KnownHosts: new(s.known(otherTypeOfKey(t)))})
	_, err := b.client.CreateRepository(t.Context(), api.RepositoryChange{Name: "unpinned", URL: &url,
		Credential: new("deploy_key"), Key: &s.key})
	if err == nil || !strings.Contains(err.Error(), "needs known_hosts") {
		t.Errorf("a repository without known hosts: %v", err)
	}
	said := s.said()
	if !strings.Contains(said, "Failed publickey for git") || strings.Contains(said, "password for git") ||
		strings.Contains(said, "keyboard-interactive") {
		t.Error("who has a wrong key tries something else than the key")
	}
	b.must(b.server.stop())
	if left, err := filepath.Glob(filepath.Join(temporary, "holdfast-ssh-*")); err != nil || len(left) > 0 {
		t.Errorf("fetches have left %v, %v", left, err)
	}
	b.server.environ = append(b.server.environ, "HOLDFAST_REPOSITORIES_NETWORKS=")
	b.must(b.server.start())
	connections := strings.Count(s.said(), "Connection from")
	b.refusedSSH("address_refused", "private", api.RepositoryChange{Key: &s.key, KnownHosts: new(s.known(s.host))})
	if strings.Count(s.said(), "Connection from") != connections {
		t.Error("an address that is refused was connected to")
	}
}

// refusedSSH changes what the repository is fetched with, and wants the fetch refused with a kind and a text that says
// nothing of the key. What was fetched before stays.
func (b *runBench) refusedSSH(kind, says string, change api.RepositoryChange) {
	b.Helper()
	if change.Key != nil {
		change.Credential = new("deploy_key")
	}
	_, err := b.client.ChangeRepository(b.Context(), "infra", change)
	b.must(err)
	if _, err = b.client.FetchRepository(b.Context(), "infra"); err == nil {
		b.Fatalf("it was fetched in spite of %s", kind)
	}
	r, found := b.client.Repository(b.Context(), "infra")
	b.must(found)
	if r.Status.Kind != kind || !strings.Contains(r.Status.Problem, says) || strings.Contains(err.Error(), "PRIVATE") {
		b.Errorf("it is %q: %q, and said %v; wanted %s", r.Status.Kind, r.Status.Problem, err, kind)
	}
	if r.Status.Heads["main"] == "" {
		b.Error("what was fetched before is gone")
	}
}
