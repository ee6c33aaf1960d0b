package client

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/holdfast/holdfast/api"
)

// ofProject returns a request for what belongs to a project, which is called by its name or its ID.
func ofProject(method, project string, below ...string) request {
	if project == "" || project == "." || project == ".." {
		return request{err: fmt.Errorf("%q is no project", project)}
	}
	path := base + "infra/" + pathSegment(project)
	for _, segment := range below {
		path += "/" + pathSegment(segment)
	}
	return request{method: method, path: path}
}

// ProjectFiles returns a project's files with their contents.
func (c *Client) ProjectFiles(ctx context.Context, project string) (api.ProjectFiles, error) {
	return ask[api.ProjectFiles](ctx, c, ofProject(http.MethodGet, project, "files"))
}

// ProjectChecksums returns the SHA-256 of each of a project's files.
func (c *Client) ProjectChecksums(ctx context.Context, project string) (api.ProjectChecksums, error) {
	return ask[api.ProjectChecksums](ctx, c, ofProject(http.MethodGet, project, "files", "checksums"))
}

// PullProject returns the contents of a project's files, for a folder.
func (c *Client) PullProject(ctx context.Context, project string) (api.ProjectPull, error) {
	return ask[api.ProjectPull](ctx, c, ofProject(http.MethodPost, project, "files", "pull"))
}

// PutProjectFile creates a file of a project, or replaces it.
func (c *Client) PutProjectFile(ctx context.Context, project string, f api.ProjectFileOrder) (api.ProjectFileDone,
	error) {
	return ask[api.ProjectFileDone](ctx, c, ofProject(http.MethodPost, project, "files").with(f))
}

// DeleteProjectFile removes a file from a project.
func (c *Client) DeleteProjectFile(ctx context.Context, project, name string) (api.ProjectFileDone, error) {
	return ask[api.ProjectFileDone](ctx, c, ofProject(http.MethodDelete, project, "files", name))
}

// RunProject plans or applies, and returns once the run has ended or waits for approval. The key is
// as that of CreateRun.
func (c *Client) RunProject(ctx context.Context, project string, o api.ProjectRunOrder, key string) (api.ProjectRun,
	error) {
	return ask[api.ProjectRun](ctx, c, ofProject(http.MethodPost, project, "run").with(o).keyed(key))
}

// ProjectRuns returns at most limit of a project's runs, all that fit into a page for 0: the newest
// first, without so many of them as offset says.
func (c *Client) ProjectRuns(ctx context.Context, project string, limit, offset int) (api.ProjectRuns, error) {
	r := ofProject(http.MethodGet, project, "runs")
	r.query = map[string]string{"offset": strconv.Itoa(offset)}
	if limit > 0 {
		r.query["limit"] = strconv.Itoa(limit)
	}
	return ask[api.ProjectRuns](ctx, c, r)
}

// ProjectRun returns a run of a project with all that is known of it.
func (c *Client) ProjectRun(ctx context.Context, project, id string) (api.ProjectRun, error) {
	return ask[api.ProjectRun](ctx, c, ofProject(http.MethodGet, project, "runs", id))
}

// ApproveProjectRun says yes to the plan with the decision's digest.
func (c *Client) ApproveProjectRun(ctx context.Context, project, id string, d api.ProjectDecision) (api.ProjectRun,
	error) {
	return ask[api.ProjectRun](ctx, c, ofProject(http.MethodPost, project, "runs", id, "approve").with(d))
}

// DenyProjectRun says no to the plan with the decision's digest, which ends the run.
func (c *Client) DenyProjectRun(ctx context.Context, project, id string, d api.ProjectDecision) (api.ProjectRun,
	error) {
	return ask[api.ProjectRun](ctx, c, ofProject(http.MethodPost, project, "runs", id, "deny").with(d))
}
