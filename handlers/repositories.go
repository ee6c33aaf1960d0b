package handlers

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/links"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/repos/hook"
)

// repositories answers what is about repositories.
type repositories struct {
	service *repos.Service
	lists   lists
	site    links.Site
}

const (
	// maxRepositoryBytes is the largest body that describes a repository, with its key and known hosts.
	maxRepositoryBytes = 128 << 10
	// repositoryBytes is the most that a repository takes in a list, with its heads.
	repositoryBytes = 256 << 10
)

func (d Deps) routeRepositories(all section, native gin.HandlerFunc, guard *middleware.Guard) {
	h := repositories{d.Repositories, lists{d.Limits.Memory}, d.Site}
	at := all.under("/api/v1", native, guard.States(nil)).tagged(tagRepositories, fault.SealCorrupt, fault.SealKeyMissing)
	none, body := middleware.Admit(0), middleware.Admit(maxRepositoryBytes)
	at.route("GET", "/repositories",
		op("listRepositories", "The organization's repositories, by name").with(pageOf()...).gives(api.Repositories{}).
			needs(auth.ReadRepository).fails(fault.CursorInvalid), h.list, none)
	at.route("POST", "/repositories",
		op("createRepository", "Register a repository; its webhook secret is told only now").takes(api.RepositoryChange{}).
			givesAs(http.StatusCreated, api.Repository{}).needs(auth.WriteRepository).
			fails(fault.RepositoryInvalid, fault.RepositoryExists, fault.RepositoriesFull), h.create, body)
	one := at.under("/repositories/:repository").tagged(tagRepositories, fault.RepositoryNotFound)
	one.route("GET", "", op("getRepository", "A repository, and how fetching it goes").gives(api.Repository{}).
		needs(auth.ReadRepository), h.get, none)
	one.route("PATCH", "", op("changeRepository", "Change a repository").takes(api.RepositoryChange{}).
		gives(api.Repository{}).needs(auth.WriteRepository).
		fails(fault.RepositoryInvalid, fault.ChangedMeanwhile), h.change, body)
	one.route("DELETE", "", op("removeRepository", "Take a repository away; workspaces keep what they got from it").
		gives(api.Done{}).needs(auth.WriteRepository), h.remove, none)
	one.route("POST", "/fetch", op("fetchRepository", "Fetch a repository now, and wait for it").gives(api.Repository{}).
		needs(auth.WriteRepository).fails(fault.RepositoryFailed), h.fetch, none)
	one.route("POST", "/secret",
		op("renewWebhookSecret", "Give a repository another webhook secret, which is told only now").
			gives(api.Repository{}).needs(auth.WriteRepository).fails(fault.ChangedMeanwhile), h.secret, none)
}

func (h repositories) list(ctx context.Context, r *request) (answer, error) {
	var after string
	r.cursor(func(text string) bool {
		after = text
		return repos.IsName(text)
	})
	limit := r.limit()
	return h.lists.answer(ctx, r, rowsBytes(limit), func() (listing, error) {
		page, next, err := h.service.List(ctx, r.caller, after, limit)
		return listOf(api.Repositories{Repositories: []api.Repository{}, Next: orNull(next)}, "repositories", page,
			repositoryBytes, h.repositoryOf), err
	})
}

// repository reads a repository's name from the path.
func (r *request) repository() string {
	name := r.inPath("repository")
	if !repos.IsName(name) {
		r.invalid("a repository's name has 1 to 64 letters, digits and . _ -")
	}
	return name
}

func (h repositories) get(ctx context.Context, r *request) (answer, error) {
	name := r.repository()
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := h.service.Get(ctx, r.caller, name)
	return tell(h.repositoryOf(found)), err
}

// create registers a repository.
func (h repositories) create(ctx context.Context, r *request) (answer, error) {
	change := objectOr[api.RepositoryChange](r, fault.RepositoryInvalid)
	if err := r.err(); err != nil {
		return nil, err
	}
	made, secret, err := h.service.Create(ctx, r.caller, change.Name, orderOf(change))
	said := h.repositoryOf(made)
	said.WebhookSecret = secret
	return told{status: http.StatusCreated, body: said}, err
}

// change changes what is named.
func (h repositories) change(ctx context.Context, r *request) (answer, error) {
	change := objectOr[api.RepositoryChange](r, fault.RepositoryInvalid)
	name := r.repository()
	if change.Name != "" && change.Name != name {
		r.check(fault.New(fault.RepositoryInvalid, "a repository can't get another name"))
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	made, err := h.service.Change(ctx, r.caller, name, orderOf(change))
	return tell(h.repositoryOf(made)), err
}

func (h repositories) remove(ctx context.Context, r *request) (answer, error) {
	name := r.repository()
	if err := r.err(); err != nil {
		return nil, err
	}
	return done(), h.service.Remove(ctx, r.caller, name)
}

// fetch waits for the fetch, which goes on if the caller leaves.
func (h repositories) fetch(ctx context.Context, r *request) (answer, error) {
	name := r.repository()
	if err := r.err(); err != nil {
		return nil, err
	}
	fetched, err := h.service.Fetch(ctx, r.caller, name)
	return tell(h.repositoryOf(fetched)), err
}

func (h repositories) secret(ctx context.Context, r *request) (answer, error) {
	name := r.repository()
	if err := r.err(); err != nil {
		return nil, err
	}
	changed, secret, err := h.service.NewWebhookSecret(ctx, r.caller, name)
	said := h.repositoryOf(changed)
	said.WebhookSecret = secret
	return tell(said), err
}

func (h repositories) repositoryOf(r repos.Repository) api.Repository {
	s := r.Settings
	said := api.Repository{
		Name: r.Name, URL: s.URL, Branches: s.Branches, Provider: string(s.Provider), API: s.API, Poll: seconds(s.Poll),
		Credential: string(s.Credential), User: s.User, PublicKey: s.PublicKey, APIToken: s.APIToken,
		App: s.App, Installation: s.Installation, Submodules: s.Submodules, LFS: s.LFS,
		Webhook:   h.site.Webhook(string(s.Provider), r.ID.String()),
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, UpdatedBy: api.Actor(r.UpdatedBy),
		Status: api.RepositoryStatus{Failures: r.Status.Failures, Problem: r.Status.Problem, Kind: string(r.Status.Kind),
			Bytes: r.Status.Bytes, Heads: r.Status.Heads},
	}
	if at := r.Status.Fetched; !at.IsZero() {
		said.Status.FetchedAt = &at
	}
	if at := r.Status.Tried; !at.IsZero() {
		said.Status.TriedAt = &at
	}
	for _, key := range s.KnownHosts {
		said.KnownHosts = append(said.KnownHosts, key.String())
	}
	return said
}

// orderOf is what a change wants. A credential that is named replaces all of what there was.
func orderOf(c api.RepositoryChange) repos.Order {
	return repos.Order{
		Settings: func(s *repos.Settings) error { return applySettings(c, s) },
		Secrets: func(s *repos.Secrets) {
			if c.Credential != nil {
				s.Token, s.Key = "", ""
			}
			setTo(&s.Token, c.Token)
			setTo(&s.Key, c.Key)
			setTo(&s.API, c.APIToken)
		},
	}
}

func applySettings(c api.RepositoryChange, s *repos.Settings) error {
	setTo(&s.URL, c.URL)
	setTo(&s.Branches, c.Branches)
	setTo((*string)(&s.Provider), c.Provider)
	setTo(&s.API, c.API)
	setSeconds(&s.Poll, c.Poll)
	if c.Credential != nil {
		s.User, s.App, s.Installation = "", "", 0
		s.Credential = repos.Kind(*c.Credential)
	}
	setTo(&s.User, c.User)
	setTo(&s.App, c.App)
	setTo(&s.Installation, c.Installation)
	setTo(&s.Submodules, c.Submodules)
	setTo(&s.LFS, c.LFS)
	if c.KnownHosts == nil {
		return nil
	}
	remote, err := gitmirror.ParseURL(s.URL, true)
	if err == nil {
		s.KnownHosts, err = gitmirror.ParseKnownHosts(*c.KnownHosts, remote)
	}
	if err != nil {
		return fault.New(fault.RepositoryInvalid, "%v", err)
	}
	return nil
}

// providerNames are those of git servers, for the document.
func providerNames() string {
	var names []string
	for _, p := range hook.Providers() {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}
