package client

import (
	"context"
	"net/http"

	"github.com/holdfast/holdfast/api"
)

// Which states a list has, by whether they are deleted. The zero value is those that are not.
const (
	OnlyDeleted = "true"
	AnyDeletion = "any"
)

// StatesQuery selects states.
type StatesQuery struct {
	Prefix  string // of their names
	Deleted string // OnlyDeleted, AnyDeletion or empty
	Limit   int    // at most so many; 0 for all
}

// States lists states by name.
func (c *Client) States(q StatesQuery) *List[api.State] {
	return c.states("states", map[string]string{"prefix": q.Prefix, "deleted": q.Deleted}, q.Limit)
}

// Locks lists the states whose lock is held.
func (c *Client) Locks() *List[api.State] { return c.states("locks", nil, 0) }

// Expectations lists the states of which a change is expected.
func (c *Client) Expectations() *List[api.State] { return c.states("expectations", nil, 0) }

func (c *Client) states(path string, query map[string]string, limit int) *List[api.State] {
	return newList(c, get(path, query), "cursor", limit,
		func(p api.States) ([]api.State, string) { return p.States, textOr(p.Next) })
}

// FindState returns what describes a state, also when it is deleted or was only locked; nil
// where there is no such state.
func (c *Client) FindState(ctx context.Context, name string) (*api.State, error) {
	if r := ofState("", name); r.err != nil {
		return nil, r.err
	}
	// Of all names that begin with this one it is the first.
	for found, err := range c.States(StatesQuery{Prefix: name, Deleted: AnyDeletion, Limit: 1}).All(ctx) {
		if err != nil || found.Name != name {
			return nil, err
		}
		return &found, nil
	}
	return nil, nil
}

// Whoami says whom the credentials stand for, and what they may do.
func (c *Client) Whoami(ctx context.Context) (api.Identity, error) {
	who, err := ask[api.Identity](ctx, c, get("whoami", nil))
	if err == nil && who.OrgID == (api.Identity{}).OrgID {
		err = api.ErrForeign
	}
	return who, err
}

// Ready returns how the server would accept a write now, or why it would not.
func (c *Client) Ready(ctx context.Context) (api.Readiness, error) {
	return ask[api.Readiness](ctx, c, request{method: http.MethodGet, path: "/readyz"})
}
