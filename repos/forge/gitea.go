package forge

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// gitea is a repository at Gitea or Forgejo, whose API is near GitHub's: what differs is here.
type gitea struct {
	*client
	repo string // /repos/OWNER/NAME
}

// PullRequest implements Forge.
func (g *gitea) PullRequest(ctx context.Context, number int64) (PullRequest, error) {
	var p hubPull
	if _, err := g.get(ctx, g.repo+"/pulls/"+id(number), nil, &p); err != nil {
		return PullRequest{}, err
	}
	return p.pullRequest(g.client)
}

// OpenPullRequests implements Forge.
func (g *gitea) OpenPullRequests(ctx context.Context) ([]PullRequest, error) {
	return hubPulls(ctx, g.client, g.repo, url.Values{"state": {"open"}, "limit": {"50"}})
}

// ChangedFiles implements Forge.
func (g *gitea) ChangedFiles(ctx context.Context, number int64) ([]string, bool, error) {
	files, more, _, err := hubFiles(ctx, g.client, g.repo, number, url.Values{"limit": {"50"}})
	return files, !more, err
}

// SetStatus implements Forge.
func (g *gitea) SetStatus(ctx context.Context, commit string, s Status) error {
	return hubSetStatus(ctx, g.client, g.repo, commit, s.within(g.Limits()))
}

// Comments implements Forge. The list of a pull request has no pages there.
func (g *gitea) Comments(ctx context.Context, number int64, since time.Time) ([]Comment, error) {
	return hubComments(ctx, g.client, g.repo, number, since, url.Values{})
}

// CreateComment implements Forge.
func (g *gitea) CreateComment(ctx context.Context, number int64, body string) (Comment, error) {
	return hubCreateComment(ctx, g.client, g.repo, number, body)
}

// UpdateComment implements Forge.
func (g *gitea) UpdateComment(ctx context.Context, _ int64, comment, body string) error {
	return hubUpdateComment(ctx, g.client, g.repo, comment, body)
}

// RemoveComment implements Forge.
func (g *gitea) RemoveComment(ctx context.Context, _ int64, comment string) error {
	return gone(g.send(ctx, http.MethodDelete, g.repo+"/issues/comments/"+url.PathEscape(comment), nil, nil))
}

// Permission implements Forge.
func (g *gitea) Permission(ctx context.Context, who User) (Permission, error) {
	return hubPermission(ctx, g.client, g.repo, who)
}

// Self implements Forge.
func (g *gitea) Self(ctx context.Context) (User, error) { return hubSelf(ctx, g.client) }

// Limits implements Forge. A comment may be of any size there; it is kept to what people scroll through.
func (g *gitea) Limits() Limits {
	return Limits{Comment: 65535, Description: 255, Context: 255, Folds: true, HTMLHidden: true}
}
