package repos_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/repos/hook"
)

// sshKeys returns a deploy key, and the known hosts of git.example.com.
func sshKeys(t *testing.T) (key string, hosts []gitmirror.HostKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	must(t, err)
	host, err := ssh.NewPublicKey(public)
	must(t, err)
	hosts, err = gitmirror.ParseKnownHosts("git.example.com "+string(ssh.MarshalAuthorizedKey(host)),
		gitmirror.Remote{Scheme: "ssh", Host: "git.example.com"})
	must(t, err)
	return string(pem.EncodeToMemory(block)), hosts
}

// TestTokenOfAPIStaysWithItsProvider: another provider's API, which is at another server, never gets the token that was
// given for that of the first one. The deploy key, which only the repository's host sees, stays.
func TestTokenOfAPIStaysWithItsProvider(t *testing.T) {
	w := newWorld(t)
	key, hosts := sshKeys(t)
	_, _, err := w.Create(t.Context(), w.caller, "infra", repos.Order{Settings: func(s *repos.Settings) error {
		s.URL, s.Provider, s.Credential, s.KnownHosts = "ssh://git@git.example.com/a/b", hook.Plain, repos.DeployKey, hosts
		return nil
	}, Secrets: func(s *repos.Secrets) { s.Key, s.API = key, "tok" }})
	must(t, err)
	provider := func(p hook.Provider, token string) (sent string) {
		change := repos.Order{Settings: func(s *repos.Settings) error { s.Provider = p; return nil }}
		if token != "" {
			change.Secrets = func(s *repos.Secrets) { s.API = token }
		}
		r, err := w.Change(t.Context(), w.caller, "infra", change)
		must(t, err)
		if r.Settings.Credential != repos.DeployKey || r.Settings.PublicKey == "" {
			t.Error("the deploy key is gone")
		}
		got, err := w.Credential(t.Context(), w.caller.Org, "infra")
		must(t, err)
		if got.Forge.CAFile != w.git.CAFile {
			t.Errorf("the API is asked with the authorities of %q", got.Forge.CAFile)
		}
		if r.Settings.APIToken != (got.Forge.Token != "") {
			t.Errorf("that there is a token is said to be %v", r.Settings.APIToken)
		}
		return got.Forge.Token
	}
	if got := provider(hook.GitHub, ""); got != "" {
		t.Errorf("GitHub's own API gets %q", got)
	}
	if got := provider(hook.GitLab, "lab"); got != "lab" {
		t.Errorf("GitLab's own API gets %q, though it was given one", got)
	}
	if got := provider(hook.GitLab, ""); got != "lab" {
		t.Errorf("the same API as before gets %q", got)
	}
	if got := provider(hook.GitHub, ""); got != "" {
		t.Errorf("GitHub's own API gets %q", got)
	}
}
