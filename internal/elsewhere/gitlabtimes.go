package elsewhere

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const gitlabVersions = `query($path: ID!, $name: String!, $after: String) { project(fullPath: $path) { terraformState(name: $name) {
 versions(first: 100, after: $after) { nodes { serial createdAt } pageInfo { hasNextPage endCursor } } } } }`

// gitlabTimes is a page of the times of a state's versions.
type gitlabTimes struct {
	Errors []struct {
		Message string `json:"message"`
	} `json:"errors"`
	Data struct {
		Project *struct {
			State *struct {
				Versions gitlabTimesPage `json:"versions"`
			} `json:"terraformState"`
		} `json:"project"`
	} `json:"data"`
}

type gitlabTimesPage struct {
	Nodes []struct {
		Serial    uint64    `json:"serial"`
		CreatedAt time.Time `json:"createdAt"`
	} `json:"nodes"`
	PageInfo gitlabPageInfo `json:"pageInfo"`
}

// times returns when a state's versions were written, by their serials, and nothing where the server
// has no list of them, or none for who asks. Any other failure is one: what is imported with a wrong
// time keeps it.
func (g *GitLab) times(ctx context.Context, name string) (map[uint64]time.Time, error) {
	if g.known == nil { // the state was asked for by its name
		var err error
		if g.called, err = g.path(ctx); err != nil {
			return nil, unlessDenied(err)
		}
	}
	been, times := cursors{}, map[uint64]time.Time{}
	for after := ""; ; {
		var answer gitlabTimes
		if err := g.ask(ctx, gitlabVersions, map[string]any{"path": g.called, "name": name, "after": after},
			&answer); err != nil {
			return nil, unlessDenied(err)
		}
		if len(answer.Errors) > 0 {
			return nil, answer.failure()
		}
		if answer.Data.Project == nil || answer.Data.Project.State == nil {
			return nil, nil
		}
		page := answer.Data.Project.State.Versions
		for _, one := range page.Nodes {
			times[one.Serial] = one.CreatedAt
		}
		if !page.PageInfo.HasNextPage {
			return times, nil
		}
		after = page.PageInfo.EndCursor
		if err := been.next(after); err != nil {
			return nil, err
		}
	}
}

// unlessDenied returns nil for an answer that says that there is nothing here for who asks.
func unlessDenied(err error) error {
	if status := statusOf(err); status/100 == 4 && status != http.StatusTooManyRequests {
		return nil
	}
	return err
}

// failure returns nil when all that is wrong is that the server knows no such list.
func (t gitlabTimes) failure() error {
	for _, one := range t.Errors {
		if !strings.Contains(one.Message, "doesn't exist on type") {
			return fmt.Errorf("asking GitLab for the times of versions: %w", errors.New(one.Message))
		}
	}
	return nil
}
