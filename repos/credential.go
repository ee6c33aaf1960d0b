package repos

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/repos/gitmirror"
)

// appTokens gives tokens of a GitHub App's installation, as a revision of the repository has it: another process may
// have changed the App since, or where it is.
type appTokens struct {
	revision int64
	token    func(context.Context) (string, error)
}

// Credential is what the server speaks to a repository's provider with. It must not be shown.
type Credential struct {
	Repository Repository
	// Forge says where the API is, and has the token or the App; its Token is empty where there is neither.
	Forge forge.Config
}

// Credential returns what speaks to the provider of a repository, for the server itself. Fault: RepositoryNotFound.
func (s *Service) Credential(ctx context.Context, org uuid.UUID, name string) (Credential, error) {
	r, err := s.find(ctx, org, name)
	if err != nil {
		return Credential{}, err
	}
	secrets, err := s.open(ctx, r)
	if err != nil {
		return Credential{}, err
	}
	return Credential{r, s.forgeConfig(r, secrets)}, nil
}

func (s *Service) forgeConfig(r Repository, secrets Secrets) forge.Config {
	c := forge.Config{Provider: forge.Provider(r.Settings.Provider), API: apiOf(r.Settings), Allowed: s.Allowed,
		CAFile: s.CAFile, Now: s.Now}
	if remote, err := gitmirror.ParseURL(r.Settings.URL, true); err == nil {
		c.Repository = strings.TrimSuffix(strings.Trim(remote.Path, "/"), ".git")
	}
	switch r.Settings.Credential {
	case Token:
		c.Token, c.User = secrets.Token, r.Settings.User
	case GitHubApp:
		c.App = &forge.App{ID: r.Settings.App, Installation: r.Settings.Installation, Key: secrets.Key}
	}
	if secrets.API != "" {
		c.Token, c.User, c.App = secrets.API, "", nil
	}
	return c
}

// apiOf is where the API of a provider is: what the settings say, or else at the host of the URL unless that is the
// provider's own; empty for where that one's is. A token of another host's never goes there.
func apiOf(s Settings) string {
	remote, err := gitmirror.ParseURL(s.URL, true)
	if s.API != "" || err != nil {
		return s.API
	}
	path, ok := map[forge.Provider]string{forge.GitHub: "/api/v3", forge.GitLab: "/api/v4", forge.Gitea: "/api/v1",
		forge.Forgejo: "/api/v1", forge.Bitbucket: "/2.0"}[forge.Provider(s.Provider)]
	own := map[forge.Provider]string{forge.GitHub: "github.com", forge.GitLab: "gitlab.com",
		forge.Forgejo: "codeberg.org", forge.Bitbucket: "bitbucket.org"}[forge.Provider(s.Provider)]
	if !ok || remote.Scheme == "ssh" || remote.Host == own {
		return ""
	}
	remote.Path = path
	return remote.String()
}

// sameAPI says whether the token of the API may go along from these settings to others of the same host: of an https
// URL the API is at that host, or its provider's own; of an ssh URL each provider has another.
func (s Settings) sameAPI(other Settings) bool {
	remote, err := gitmirror.ParseURL(other.URL, true)
	return err == nil && (remote.Scheme != "ssh" || other.API != "" || s.Provider == other.Provider)
}

// gitCredentials are what git fetches with.
func (s *Service) gitCredentials(ctx context.Context, r Repository) (gitmirror.Credentials, error) {
	secrets, err := s.open(ctx, r)
	if err != nil {
		return gitmirror.Credentials{}, err
	}
	c := gitmirror.Credentials{KnownHosts: r.Settings.KnownHosts}
	switch r.Settings.Credential {
	case Token:
		c.User, c.Token = r.Settings.User, secrets.Token
	case DeployKey:
		c.Key = []byte(secrets.Key)
	case GitHubApp:
		c.Token, err = s.appToken(ctx, r, secrets)
	}
	return c, err
}

// appToken returns a token of the App's installation, which lasts for some minutes at least.
func (s *Service) appToken(ctx context.Context, r Repository, secrets Secrets) (string, error) {
	s.mu.Lock()
	source := s.tokens[r.ID]
	s.mu.Unlock()
	if source.revision != r.Revision {
		made, err := forge.TokenSource(s.forgeConfig(r, Secrets{Key: secrets.Key}))
		if err != nil {
			return "", &gitmirror.Error{Kind: gitmirror.AddressInvalid, Text: "the GitHub App can't be used: " + err.Error()}
		}
		source = appTokens{r.Revision, made}
		s.mu.Lock()
		s.tokens[r.ID] = source
		s.mu.Unlock()
	}
	token, err := source.token(ctx)
	if err != nil {
		return "", &gitmirror.Error{Kind: gitmirror.LoginRefused, Text: "GitHub gave no token for the App: " + err.Error()}
	}
	return token, nil
}
