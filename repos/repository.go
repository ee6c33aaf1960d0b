package repos

import (
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/repos/hook"
)

// Repository is one that configurations come from.
type Repository struct {
	Org  uuid.UUID
	Name string
	// ID is random. The address of its webhook has it, and the folder of its mirror.
	ID       uuid.UUID
	Settings Settings
	// Sealed are its Secrets, sealed under its ID.
	Sealed    []byte
	Revision  int64 // grows with each change of the settings or secrets
	CreatedAt time.Time
	UpdatedAt time.Time
	UpdatedBy Actor
	Status    Status
}

// Actor is who did something.
type Actor struct {
	KeyID   string `json:"key_id"`
	KeyName string `json:"key_name,omitempty"`
	Subject string `json:"subject,omitempty"`
}

// ActorOf returns who a principal is.
func ActorOf(p auth.Principal) Actor { return Actor{p.KeyID, p.KeyName, p.Subject} }

// Settings say where a repository is. Their JSON is how stores keep them; they have no secret.
type Settings struct {
	URL string `json:"url"`
	// Branches are names, and patterns with one *, that are fetched.
	Branches []string      `json:"branches"`
	Provider hook.Provider `json:"provider"`
	// API is the address of the provider's API where that doesn't follow from the provider.
	API string `json:"api,omitempty"`
	// Poll is how often it is fetched without a reason.
	Poll time.Duration `json:"poll"`
	// Credential says which of the kinds of credentials there is.
	Credential Kind `json:"credential"`
	// KnownHosts are the keys that its ssh host may have.
	KnownHosts []gitmirror.HostKey `json:"known_hosts,omitempty"`
	// PublicKey belongs to the deploy key, for people.
	PublicKey string `json:"public_key,omitempty"`
	// User goes with a token; App and Installation are of a GitHub App.
	User string `json:"user,omitempty"`
	// APIToken says that there is a token of the API's own.
	APIToken     bool   `json:"api_token,omitempty"`
	App          string `json:"app,omitempty"`
	Installation int64  `json:"installation,omitempty"`
	// Submodules has those of each commit fetched and read too.
	Submodules bool `json:"submodules,omitempty"`
	// LFS has files of Git LFS in configurations, and not their pointers.
	LFS bool `json:"lfs,omitempty"`
}

// Kind is what a repository is fetched with.
type Kind string

// The kinds of credentials.
const (
	None      Kind = "none"
	Token     Kind = "token"
	DeployKey Kind = "deploy_key"
	GitHubApp Kind = "github_app"
)

// Secrets are sealed together.
type Secrets struct {
	Token   string `json:"token,omitempty"`
	Key     string `json:"key,omitempty"`     // of ssh, or of a GitHub App, in PEM
	API     string `json:"api,omitempty"`     // token for the provider's API, where that is another one
	Webhook string `json:"webhook,omitempty"` // what deliveries are signed with
}

const (
	maxName     = 64
	maxBranches = 50
	minPoll     = time.Minute
	maxPoll     = 7 * 24 * time.Hour
	// DefaultPoll is how often a repository is fetched that says nothing.
	DefaultPoll = 5 * time.Minute
)

// IsName says whether a text can be the name of a repository.
func IsName(text string) bool {
	return len(text) <= maxName && regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`).MatchString(text)
}

// Check returns what is wrong with the settings and the secrets that belong to them, as a fault.RepositoryInvalid.
func (s Settings) Check(secrets Secrets, allowHTTP bool) error {
	remote, err := gitmirror.ParseURL(s.URL, allowHTTP)
	if err != nil {
		return invalid("%v", err)
	}
	if len(s.Branches) == 0 || len(s.Branches) > maxBranches {
		return invalid("a repository has 1 to %d branches, or patterns of them", maxBranches)
	}
	for _, b := range s.Branches {
		if err := gitmirror.CheckPattern(b); err != nil {
			return invalid("%v", err)
		}
	}
	switch {
	case !slices.Contains(hook.Providers(), s.Provider):
		return invalid("provider is one of github, gitlab, gitea, forgejo, bitbucket, azure and plain")
	case s.Poll < minPoll || s.Poll > maxPoll:
		return invalid("poll is 1 minute to 7 days")
	case len(s.API) > 512 || len(s.User) > 255 || len(s.App) > 64 || s.Installation < 0:
		return invalid("api, user, app or installation is too long, or no number")
	}
	if err := s.checkAPI(allowHTTP); err != nil {
		return err
	}
	return s.checkSecrets(remote, secrets)
}

// checkAPI refuses an address of the API that would show a secret, or to which one would go in the clear.
func (s Settings) checkAPI(allowHTTP bool) error {
	if s.API == "" {
		return nil
	}
	u, err := url.Parse(s.API)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !allowHTTP) {
		return invalid("api is an address such as https://git.example.com/api/v4, with no user, query or fragment")
	}
	return nil
}

// checkSecrets holds each kind of credentials to the protocol that it is for.
func (s Settings) checkSecrets(remote gitmirror.Remote, secrets Secrets) error {
	ssh := remote.Scheme == "ssh"
	switch {
	case ssh && len(s.KnownHosts) == 0:
		return invalid("an ssh URL needs known_hosts: the keys of its host, as ssh-keyscan prints them")
	case ssh && s.Credential != DeployKey:
		return invalid("an ssh URL needs a deploy_key")
	case !ssh && s.Credential == DeployKey:
		return invalid("a deploy_key is for an ssh URL; an https URL is fetched with a token")
	}
	switch s.Credential {
	case None:
		return nil
	case Token:
		if secrets.Token == "" {
			return invalid("the token is missing")
		}
	case DeployKey, GitHubApp:
		if secrets.Key == "" {
			return invalid("the private key is missing")
		}
	default:
		return invalid("credential is one of none, token, deploy_key and github_app")
	}
	if s.Credential == GitHubApp {
		if s.App == "" || s.Provider != hook.GitHub {
			return invalid("a github_app has an ID, and its provider is github")
		}
		return nil
	}
	c := gitmirror.Credentials{User: s.User, Token: secrets.Token, Key: []byte(secrets.Key)}
	if err := c.Check(); err != nil {
		return invalid("%v", err)
	}
	return nil
}

// SameHost says whether two settings lead to the same server, by the same protocol. Secrets never follow to another
// one:
// whoever may change a URL could have them sent to himself.
func (s Settings) SameHost(other Settings) bool {
	a, errA := gitmirror.ParseURL(s.URL, true)
	b, errB := gitmirror.ParseURL(other.URL, true)
	return errA == nil && errB == nil && a.Scheme == b.Scheme && a.Host == b.Host && a.Port == b.Port &&
		s.API == other.API
}

// The audit log's actions. Notes name the repository.
const (
	ActionCreate audit.Action = "repository.create"
	ActionChange audit.Action = "repository.change"
	ActionSecret audit.Action = "repository.secret" // it has another webhook secret
	ActionRemove audit.Action = "repository.remove"
)

func invalid(format string, args ...any) error {
	return fault.New(fault.RepositoryInvalid, format, args...)
}

func notFound(name string) error {
	return fault.New(fault.RepositoryNotFound, "there is no repository %.100q", name)
}
