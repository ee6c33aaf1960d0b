package forge

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast/holdfast/internal/outbound"
)

// Provider is a kind of forge.
type Provider string

// The providers.
const (
	GitHub    Provider = "github"
	GitLab    Provider = "gitlab"
	Gitea     Provider = "gitea"
	Forgejo   Provider = "forgejo"
	Bitbucket Provider = "bitbucket"
)

// Providers are all of them.
func Providers() []Provider { return []Provider{GitHub, GitLab, Gitea, Forgejo, Bitbucket} }

// Config says which repository it is, and by which credentials.
type Config struct {
	Provider Provider
	// API is the address of the API; empty for the provider's own. A server of one's own has it at
	// https://HOST/api/v3 (GitHub), https://HOST/api/v4 (GitLab), https://HOST/api/v1 (Gitea, Forgejo).
	API string
	// Repository is its path at the forge, such as acme/network.
	Repository string
	Token      string
	// User goes with the token, where that is a password of an application at Bitbucket.
	User string
	// App is a GitHub App, in the place of a token.
	App *App
	// Allowed are the private networks that the forge may be in.
	Allowed []netip.Prefix
	// CAFile has authorities that are trusted beside the system's.
	CAFile string
	// Transport is for tests; nil for one that connects to nothing private but Allowed.
	Transport http.RoundTripper
	Now       func() time.Time
}

// New returns a repository at a forge. It asks nothing yet.
func New(c Config) (Forge, error) {
	base, err := apiOf(c)
	if err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Transport == nil {
		roots, err := outbound.Roots(c.CAFile)
		if err != nil {
			return nil, err
		}
		c.Transport = outbound.Transport(c.Allowed, roots)
	}
	cl := &client{provider: c.Provider, base: base, http: newHTTP(c.Transport), now: c.Now, accept: "application/json"}
	owner, name, ok := strings.Cut(c.Repository, "/")
	if !ok || !isPath(c.Repository, c.Provider == GitLab) {
		return nil, fmt.Errorf("%.100q is not the path of a repository, such as acme/network", c.Repository)
	}
	cl.credentials = header{"Authorization", "Bearer " + c.Token, c.Token}
	repo := "/repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name)
	switch c.Provider {
	case GitHub:
		cl.accept = "application/vnd.github+json"
		if c.App != nil {
			if cl.credentials, err = newInstallation(*c.App, cl, repo); err != nil {
				return nil, err
			}
		}
		return &gitHub{client: cl, repo: repo}, nil
	case GitLab:
		cl.credentials = header{"Private-Token", c.Token, c.Token}
		return &gitLab{client: cl, repo: "/projects/" + url.PathEscape(c.Repository)}, nil
	case Gitea, Forgejo:
		cl.credentials = header{"Authorization", "token " + c.Token, c.Token}
		return &gitea{client: cl, repo: repo}, nil
	}
	if c.User != "" {
		pair := base64.StdEncoding.EncodeToString([]byte(c.User + ":" + c.Token))
		cl.credentials = header{"Authorization", "Basic " + pair, c.Token}
	}
	return &bitbucket{client: cl, workspace: url.PathEscape(owner), slug: url.PathEscape(name)}, nil
}

// apiOf is the address of the API.
func apiOf(c Config) (*url.URL, error) {
	usual, ok := map[Provider]string{GitHub: "https://api.github.com", GitLab: "https://gitlab.com/api/v4", Gitea: "",
		Forgejo: "https://codeberg.org/api/v1", Bitbucket: "https://api.bitbucket.org/2.0"}[c.Provider]
	if !ok {
		return nil, fmt.Errorf("%.40q is no provider: github, gitlab, gitea, forgejo or bitbucket", c.Provider)
	}
	address := c.API
	if address == "" {
		address = usual
	}
	if address == "" {
		return nil, errors.New("there is no server that Gitea is at: say where the API is, such as https://HOST/api/v1")
	}
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, errors.New("the API's address is one of http or https, with no user, query or fragment")
	}
	return u, nil
}

// isPath reports whether a text is the path of a repository: two names, or more at GitLab.
func isPath(text string, deeper bool) bool {
	parts := strings.Split(text, "/")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." || strings.ContainsFunc(part, func(r rune) bool {
			return r <= ' ' || r > '~' || strings.ContainsRune(`\?#%"<>`, r)
		}) {
			return false
		}
	}
	return len(text) <= 512 && (len(parts) == 2 || deeper && len(parts) > 2 && len(parts) <= 22)
}

// header is a token that a header has.
type header struct{ name, value, secret string }

func (h header) sign(_ context.Context, to *http.Request) error {
	if h.secret != "" {
		to.Header.Set(h.name, h.value)
	}
	return nil
}

func (h header) secrets() []string {
	if h.secret == "" {
		return nil
	}
	_, coded, _ := strings.Cut(h.value, " ")
	if coded == "" {
		return []string{h.secret}
	}
	return []string{coded, h.secret}
}

func (h header) refused() {}
