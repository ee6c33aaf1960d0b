// Package hook checks and reads what git servers tell: deliveries of webhooks. It has no effects.
//
// A delivery is verified over the body as it came, before any of it is read. Each provider has its own way; all are
// compared in constant time. What was read is a hint: nobody acts on what it says of a branch without looking
// for himself.
package hook

// Provider is who tells.
type Provider string

// The providers.
const (
	GitHub    Provider = "github"
	GitLab    Provider = "gitlab"
	Gitea     Provider = "gitea"
	Forgejo   Provider = "forgejo"
	Bitbucket Provider = "bitbucket" // Cloud, and Data Center
	Azure     Provider = "azure"
	Plain     Provider = "plain" // a script of one's own
)

// Providers are all of them.
func Providers() []Provider {
	return []Provider{GitHub, GitLab, Gitea, Forgejo, Bitbucket, Azure, Plain}
}

// Header reads a header by its name; empty where there is none. http.Header.Get is one.
type Header func(name string) string
