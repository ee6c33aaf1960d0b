package elsewhere

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GitLab has the states of one project. Versions are asked for one serial after the other. Their times
// come from GraphQL, of which a newer server tells those of all versions, and an older one that of
// the newest; REST tells none, unless something in front adds Last-Modified.
type GitLab struct {
	Web
	// Address is GitLab's, without a path; Project the project's number or path.
	Address, Project string
	// History is how many serials before the newest are asked for.
	History uint64
	known   map[string]gitlabState
	called  string // the project's path
}

// gitlabState is what GraphQL tells of a state.
type gitlabState struct {
	Name          string    `json:"name"`
	CreatedAt     time.Time `json:"createdAt"`
	LatestVersion *struct {
		Serial    uint64    `json:"serial"`
		CreatedAt time.Time `json:"createdAt"`
	} `json:"latestVersion"`
}

// About implements Source.
func (g *GitLab) About() string {
	return fmt.Sprintf("GitLab's project %s at %s", g.Project, g.Address)
}

func (g *GitLab) project() string {
	return strings.TrimSuffix(g.Address, "/") + "/api/v4/projects/" + url.PathEscape(g.Project)
}

func (g *GitLab) state(name string) string {
	return g.project() + "/terraform/state/" + url.PathEscape(name)
}

// List implements Source. REST has no list of states, so GraphQL is asked, which wants the project's
// path.
func (g *GitLab) List(ctx context.Context) ([]string, error) {
	if err := g.look(ctx); err != nil {
		return nil, err
	}
	var names []string
	for name := range g.known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

const gitlabStates = `query($path: ID!, $after: String) { project(fullPath: $path) { terraformStates(first: 100, after: $after) {
 nodes { name createdAt latestVersion { serial createdAt } } pageInfo { hasNextPage endCursor } } } }`

func (g *GitLab) look(ctx context.Context) error {
	if g.known != nil {
		return nil
	}
	path, err := g.path(ctx)
	if err != nil {
		return err
	}
	been, known := cursors{}, map[string]gitlabState{}
	for after := ""; ; {
		page, err := g.page(ctx, path, after)
		if err != nil {
			return err
		}
		for _, one := range page.Nodes {
			known[one.Name] = one
		}
		if !page.PageInfo.HasNextPage {
			g.known, g.called = known, path
			return nil
		}
		after = page.PageInfo.EndCursor
		if err := been.next(after); err != nil {
			return err
		}
	}
}

// path returns the project's path, of which its number tells nothing.
func (g *GitLab) path(ctx context.Context) (string, error) {
	if _, err := strconv.ParseUint(g.Project, 10, 64); err != nil {
		return g.Project, nil
	}
	body, _, err := g.get(ctx, g.project())
	if err != nil {
		return "", err
	}
	var project struct {
		Path string `json:"path_with_namespace"`
	}
	if err := json.Unmarshal(body, &project); err != nil || project.Path == "" {
		return "", errors.New("GitLab's answer has no path of the project")
	}
	return project.Path, nil
}

type gitlabPage struct {
	Nodes    []gitlabState  `json:"nodes"`
	PageInfo gitlabPageInfo `json:"pageInfo"`
}

type gitlabPageInfo struct {
	HasNextPage bool   `json:"hasNextPage"`
	EndCursor   string `json:"endCursor"`
}

func (g *GitLab) page(ctx context.Context, path, after string) (gitlabPage, error) {
	var answer struct {
		Data struct {
			Project *struct {
				States *gitlabPage `json:"terraformStates"`
			} `json:"project"`
		} `json:"data"`
	}
	if err := g.ask(ctx, gitlabStates, map[string]any{"path": path, "after": after}, &answer); err != nil {
		return gitlabPage{}, err
	}
	if answer.Data.Project == nil || answer.Data.Project.States == nil {
		return gitlabPage{}, fmt.Errorf("GitLab lists no states of the project %s: it is not there, or the token may "+
			"not see them", path)
	}
	return *answer.Data.Project.States, nil
}

// ask asks GraphQL. What is no JSON is an answer without anything.
func (g *GitLab) ask(ctx context.Context, query string, variables map[string]any, answer any) error {
	asked, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(g.Address, "/")+"/api/graphql",
		bytes.NewReader(asked))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := g.do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := readAll(response.Body)
	if err == nil {
		_ = json.Unmarshal(body, answer)
	}
	return err
}

// Versions implements Source. It asks for each serial up to the newest: not every GitLab has a list of
// them.
func (g *GitLab) Versions(ctx context.Context, name string) iter.Seq2[Version, error] {
	newest, header, err := g.get(ctx, g.state(name))
	if statusOf(err) == http.StatusNotFound || err == nil && len(newest) == 0 {
		err = ErrNone
	}
	if err != nil {
		return failed(err)
	}
	var top struct {
		Serial uint64 `json:"serial"`
	}
	if err := json.Unmarshal(newest, &top); err != nil {
		return failed(fmt.Errorf("the state %s is no JSON: %w", name, err))
	}
	times, err := g.times(ctx, name)
	if err != nil {
		return failed(err)
	}
	about := g.known[name]
	last := gitlabVersion(top.Serial, newest, firstTime(times[top.Serial], about.written(top.Serial, header)))
	return func(yield func(Version, error) bool) {
		for serial := top.Serial - min(top.Serial, g.History); serial < top.Serial; serial++ {
			body, header, err := g.get(ctx, g.state(name)+"/versions/"+strconv.FormatUint(serial, 10))
			if statusOf(err) == http.StatusNotFound {
				continue // it was deleted, or there never was one
			}
			if !yield(gitlabVersion(serial, body, firstTime(times[serial], modified(header), about.CreatedAt)), err) ||
				err != nil {
				return
			}
		}
		yield(last, nil)
	}
}

// written returns when the newest version was.
func (s gitlabState) written(serial uint64, header http.Header) time.Time {
	if s.LatestVersion != nil && s.LatestVersion.Serial == serial {
		return firstTime(s.LatestVersion.CreatedAt, modified(header))
	}
	return modified(header)
}

func gitlabVersion(serial uint64, body []byte, at time.Time) Version {
	return Version{At: at, Label: "serial " + strconv.FormatUint(serial, 10), Body: body}
}

// firstTime returns the first that is one.
func firstTime(times ...time.Time) time.Time {
	for _, at := range times {
		if !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}
