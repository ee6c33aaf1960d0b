package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/holdfast/holdfast/api"
)

func ofPull(method, repository string, number int64, below string) request {
	return ofRepository(method, repository, "/pulls/"+strconv.FormatInt(number, 10)+below)
}

// PullRequests lists the pull requests that are known, the highest numbers first; of a repository, or of all for the
// empty one. A limit of 0 is the server's.
func (c *Client) PullRequests(ctx context.Context, repository string, limit int) ([]api.Pull, error) {
	query := map[string]string{}
	if repository != "" {
		query["repository"] = repository
	}
	if limit > 0 {
		query["limit"] = strconv.Itoa(limit)
	}
	found, err := ask[api.Pulls](ctx, c, get("pulls", query))
	return found.Pulls, err
}

// PullRequest describes one.
func (c *Client) PullRequest(ctx context.Context, repository string, number int64) (api.Pull, error) {
	return ask[api.Pull](ctx, c, ofPull(http.MethodGet, repository, number, ""))
}

// LookAtPull has one looked at now, as a webhook does.
func (c *Client) LookAtPull(ctx context.Context, repository string, number int64) error {
	_, err := ask[api.Done](ctx, c, ofPull(http.MethodPost, repository, number, "/look"))
	return err
}

// AllowPull lets a commit of a fork be planned.
func (c *Client) AllowPull(ctx context.Context, repository string, number int64, commit string) (api.Pull, error) {
	return ask[api.Pull](ctx, c, ofPull(http.MethodPost, repository, number,
		"/allow").with(api.PullCommit{Commit: commit}))
}

// PullSettings says what a repository wants of pull requests.
func (c *Client) PullSettings(ctx context.Context, repository string) (api.PullSettings, error) {
	return ask[api.PullSettings](ctx, c, ofRepository(http.MethodGet, repository, "/pull-settings"))
}

// SetPullSettings changes that.
func (c *Client) SetPullSettings(ctx context.Context, repository string,
	settings api.PullSettings) (api.PullSettings, error) {
	return ask[api.PullSettings](ctx, c, ofRepository(http.MethodPut, repository, "/pull-settings").with(settings))
}
