package forge

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// gitHub is a repository at GitHub, or at a GitHub Enterprise server.
type gitHub struct {
	*client
	repo string // /repos/OWNER/NAME
}

// hubUser is a user, as GitHub and Gitea show one.
type hubUser struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
}

func (u hubUser) user() User {
	if u.ID == 0 {
		return User{}
	}
	return User{ID: id(u.ID), Login: u.Login}
}

// hubSide is one side of a pull request at GitHub and Gitea.
type hubSide struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *struct {
		ID int64 `json:"id"`
	} `json:"repo"` // null where the repository is gone
}

// hubPull is a pull request, as GitHub and Gitea show one.
type hubPull struct {
	Number         int64   `json:"number"`
	Title          string  `json:"title"`
	HTMLURL        string  `json:"html_url"`
	State          string  `json:"state"` // open or closed
	Draft          bool    `json:"draft"`
	Merged         bool    `json:"merged"`
	MergedAt       *string `json:"merged_at"` // lists have no merged
	MergeCommitSHA string  `json:"merge_commit_sha"`
	User           hubUser `json:"user"`
	Head           hubSide `json:"head"`
	Base           hubSide `json:"base"`
}

func (p hubPull) pullRequest(c *client) (PullRequest, error) {
	if p.Number <= 0 || !isCommit(p.Head.SHA) {
		return PullRequest{}, c.unlike("a pull request has no number or no commit")
	}
	found := PullRequest{
		Number: p.Number, Title: p.Title, Link: webLink(p.HTMLURL), Author: p.User.user(), State: Closed, Draft: p.Draft,
		Head: p.Head.SHA, HeadRef: p.Head.Ref, Base: p.Base.SHA, BaseRef: p.Base.Ref,
		Fork: p.Head.Repo == nil || p.Base.Repo == nil || p.Head.Repo.ID != p.Base.Repo.ID,
	}
	switch {
	case p.State == "open":
		found.State = Open
	case p.Merged || p.MergedAt != nil:
		found.State, found.Merge = Merged, p.MergeCommitSHA
	}
	return found, nil
}

// PullRequest implements Forge.
func (g *gitHub) PullRequest(ctx context.Context, number int64) (PullRequest, error) {
	var p hubPull
	if _, err := g.get(ctx, g.repo+"/pulls/"+id(number), nil, &p); err != nil {
		return PullRequest{}, err
	}
	return p.pullRequest(g.client)
}

// OpenPullRequests implements Forge.
func (g *gitHub) OpenPullRequests(ctx context.Context) ([]PullRequest, error) {
	return hubPulls(ctx, g.client, g.repo, url.Values{"state": {"open"}, "sort": {"created"}, "direction": {"desc"},
		"per_page": {"100"}})
}

func hubPulls(ctx context.Context, c *client, repo string, query url.Values) (all []PullRequest, err error) {
	var bad error
	_, err = pages(ctx, c, repo+"/pulls", query, linked[[]hubPull], func(page []hubPull) {
		for _, p := range page {
			one, err := p.pullRequest(c)
			if err != nil {
				bad = err
			}
			all = append(all, one)
		}
	})
	if err == nil {
		err = bad
	}
	return all, err
}

// hubFile is a file that a pull request changes, as GitHub and Gitea list it.
type hubFile struct {
	Filename         string `json:"filename"`
	PreviousFilename string `json:"previous_filename"`
}

// maxHubFiles is how many files GitHub lists of a pull request.
const maxHubFiles = 3000

// ChangedFiles implements Forge.
func (g *gitHub) ChangedFiles(ctx context.Context, number int64) ([]string, bool, error) {
	files, more, n, err := hubFiles(ctx, g.client, g.repo, number, url.Values{"per_page": {"100"}})
	return files, !more && n < maxHubFiles, err
}

func hubFiles(ctx context.Context, c *client, repo string, number int64, query url.Values) (paths []string, more bool,
	n int, err error) {
	more, err = pages(ctx, c, repo+"/pulls/"+id(number)+"/files", query, linked[[]hubFile], func(page []hubFile) {
		n += len(page)
		for _, f := range page {
			paths = append(paths, f.Filename)
			if f.PreviousFilename != "" {
				paths = append(paths, f.PreviousFilename)
			}
		}
	})
	return paths, more, n, err
}

// hubStatus is a commit's status, as GitHub and Gitea take it.
type hubStatus struct {
	State       string `json:"state"`
	TargetURL   string `json:"target_url,omitempty"`
	Description string `json:"description"`
	Context     string `json:"context"`
}

// SetStatus implements Forge.
func (g *gitHub) SetStatus(ctx context.Context, commit string, s Status) error {
	return hubSetStatus(ctx, g.client, g.repo, commit, s.within(g.Limits()))
}

func hubSetStatus(ctx context.Context, c *client, repo, commit string, s Status) error {
	return c.send(ctx, http.MethodPost, repo+"/statuses/"+url.PathEscape(commit),
		hubStatus{string(s.State), s.Link, s.Description, s.Context}, nil)
}

// hubComment is a comment, as GitHub and Gitea show it.
type hubComment struct {
	ID        int64     `json:"id"`
	Body      string    `json:"body"`
	User      hubUser   `json:"user"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func (c hubComment) comment() Comment {
	return Comment{ID: id(c.ID), Author: c.User.user(), Body: c.Body, Created: c.CreatedAt,
		Edited: edited(c.CreatedAt, c.UpdatedAt)}
}

// edited reports whether a comment was changed after it was made. Some forges store it in two steps.
func edited(created, updated time.Time) bool { return updated.Sub(created) > time.Second }

// Comments implements Forge.
func (g *gitHub) Comments(ctx context.Context, number int64, since time.Time) ([]Comment, error) {
	return hubComments(ctx, g.client, g.repo, number, since, url.Values{"per_page": {"100"}})
}

func hubComments(ctx context.Context, c *client, repo string, number int64, since time.Time,
	query url.Values) (all []Comment, err error) {
	if !since.IsZero() {
		query.Set("since", since.UTC().Format(time.RFC3339))
	}
	_, err = pages(ctx, c, repo+"/issues/"+id(number)+"/comments", query, linked[[]hubComment], func(page []hubComment) {
		for _, one := range page {
			all = append(all, one.comment())
		}
	})
	return all, err
}

type hubText struct {
	Body string `json:"body"`
}

// CreateComment implements Forge.
func (g *gitHub) CreateComment(ctx context.Context, number int64, body string) (Comment, error) {
	return hubCreateComment(ctx, g.client, g.repo, number, body)
}

func hubCreateComment(ctx context.Context, c *client, repo string, number int64, body string) (Comment, error) {
	var made hubComment
	err := c.send(ctx, http.MethodPost, repo+"/issues/"+id(number)+"/comments", hubText{body}, &made)
	return made.comment(), err
}

// UpdateComment implements Forge.
func (g *gitHub) UpdateComment(ctx context.Context, _ int64, comment, body string) error {
	return hubUpdateComment(ctx, g.client, g.repo, comment, body)
}

func hubUpdateComment(ctx context.Context, c *client, repo, comment, body string) error {
	return c.send(ctx, http.MethodPatch, repo+"/issues/comments/"+url.PathEscape(comment), hubText{body}, nil)
}

// RemoveComment implements Forge.
func (g *gitHub) RemoveComment(ctx context.Context, _ int64, comment string) error {
	return gone(g.send(ctx, http.MethodDelete, g.repo+"/issues/comments/"+url.PathEscape(comment), nil, nil))
}

// gone takes what is missing for removed.
func gone(err error) error {
	if Is(err, Missing) {
		return nil
	}
	return err
}

// Permission implements Forge.
func (g *gitHub) Permission(ctx context.Context, who User) (Permission, error) {
	return hubPermission(ctx, g.client, g.repo, who)
}

// hubPermission asks by login, and believes only an answer about the same user.
func hubPermission(ctx context.Context, c *client, repo string, who User) (Permission, error) {
	if who.ID == "" || who.Login == "" {
		return None, nil
	}
	var answer struct {
		Permission string  `json:"permission"`
		User       hubUser `json:"user"`
	}
	_, err := c.get(ctx, repo+"/collaborators/"+url.PathEscape(who.Login)+"/permission", nil, &answer)
	if Is(err, Missing) {
		return None, nil
	}
	if err != nil {
		return None, err
	}
	if !answer.User.user().Is(who) {
		return None, nil // the login is somebody else's by now
	}
	return map[string]Permission{"read": Read, "write": Write, "admin": Admin, "owner": Admin}[answer.Permission], nil
}

// Self implements Forge.
func (g *gitHub) Self(ctx context.Context) (User, error) {
	if app, ok := g.credentials.(*installation); ok {
		return app.self(ctx)
	}
	return hubSelf(ctx, g.client)
}

// hubSelf asks whose token it is. Some tokens may not ask.
func hubSelf(ctx context.Context, c *client) (User, error) {
	var u hubUser
	_, err := c.get(ctx, "/user", nil, &u)
	if Is(err, Forbidden) || Is(err, Missing) {
		return User{}, nil
	}
	return u.user(), err
}

// Limits implements Forge.
func (g *gitHub) Limits() Limits {
	return Limits{Comment: 65536, Description: 140, Context: 255, Folds: true, HTMLHidden: true}
}
