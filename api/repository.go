package api

import "time"

// Repositories is a page of the list of repositories, by name.
type Repositories struct {
	Next         *string      `json:"next"` // the next page's cursor; null at the end
	Repositories []Repository `json:"repositories"`
}

// Repository is a git repository that configurations come from. Its credentials are never told.
type Repository struct {
	Name     string   `json:"name"`
	URL      string   `json:"url"`
	Branches []string `json:"branches"` // names, and patterns with one *
	Provider string   `json:"provider" enum:"RepositoryProvider"`
	API      string   `json:"api,omitempty"` // where the provider's API is, where that doesn't follow
	Poll     int64    `json:"poll"`          // seconds between two fetches that nobody asks for
	// Credential is what it is fetched with: none, token, deploy_key or github_app.
	Credential string `json:"credential" enum:"none|token|deploy_key|github_app"`
	User       string `json:"user,omitempty"`       // that goes with the token
	PublicKey  string `json:"public_key,omitempty"` // of the deploy key
	App        string `json:"app,omitempty"`        // the GitHub App's ID
	APIToken   bool   `json:"api_token,omitempty"`  // that the provider's API has a token of its own
	// Installation is the GitHub App's; absent for the one that the repository is in.
	Installation int64    `json:"installation,omitempty"`
	KnownHosts   []string `json:"known_hosts,omitempty"` // keys that its ssh host may have
	Submodules   bool     `json:"submodules,omitempty"`  // that those of its commits are fetched and read too
	LFS          bool     `json:"lfs,omitempty"`         // that configurations have files of Git LFS
	// Webhook is the address to which the provider sends deliveries; its path where the server has no public_url.
	Webhook string `json:"webhook"`
	// WebhookSecret is what deliveries are signed with; only in the answer that made it.
	WebhookSecret string           `json:"webhook_secret,omitempty"`
	Status        RepositoryStatus `json:"status"`
	CreatedAt     time.Time        `json:"created_at"`
	UpdatedAt     time.Time        `json:"updated_at"`
	UpdatedBy     Actor            `json:"updated_by"`
}

// RepositoryStatus is how fetching a repository goes.
type RepositoryStatus struct {
	FetchedAt *time.Time `json:"fetched_at,omitempty"` // when it was last fetched well
	TriedAt   *time.Time `json:"tried_at,omitempty"`   // when that was last tried
	Failures  int        `json:"failures,omitempty"`   // since then
	Problem   string     `json:"problem,omitempty"`    // why the last one failed
	Kind      string     `json:"kind,omitempty"`       // the same in one word
	Bytes     int64      `json:"bytes,omitempty"`      // that its mirror takes
	// Heads are the newest commits of the branches that were fetched.
	Heads map[string]string `json:"heads,omitempty"`
}

// RepositoryChange registers or changes a repository. What is absent stays as it is, or has its default in a new one.
type RepositoryChange struct {
	Name string `json:"name,omitempty"` // of a new one

	URL      *string   `json:"url,omitempty"`
	Branches *[]string `json:"branches,omitempty"`
	Provider *string   `json:"provider,omitempty" enum:"RepositoryProvider"`
	API      *string   `json:"api,omitempty"`
	Poll     *int64    `json:"poll,omitempty"`
	// KnownHosts are lines as ssh-keyscan prints them.
	KnownHosts *string `json:"known_hosts,omitempty"`
	// Submodules has those of its commits fetched and read too. By default they are left out.
	Submodules *bool `json:"submodules,omitempty"`
	// LFS has configurations have files of Git LFS. By default they have the pointers.
	LFS *bool `json:"lfs,omitempty"`

	// Credential replaces all that it was fetched with. It is needed again when the URL gets another host.
	Credential *string `json:"credential,omitempty" enum:"none|token|deploy_key|github_app"`
	User       *string `json:"user,omitempty"`
	Token      *string `json:"token,omitempty"`
	Key        *string `json:"key,omitempty"` // private, in PEM: of ssh, or of a GitHub App
	App        *string `json:"app,omitempty"`
	// APIToken is what the provider's API is asked with, where Token is not good for that, or there is none; empty for
	// none.
	APIToken     *string `json:"api_token,omitempty"`
	Installation *int64  `json:"installation,omitempty"`
}

// WebhookReceipt is what became of a delivery.
type WebhookReceipt struct {
	Status string `json:"status" enum:"accepted|repeated|ignored"`
	Kind   string `json:"kind"` // what it was about: push, pull_request or comment; empty for nothing that matters here
}
