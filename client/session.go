package client

import (
	"context"
	"net/http"

	"github.com/holdfast/holdfast/api"
)

// Sessions returns the browsers that are signed in to the page with the client's key.
func (c *Client) Sessions(ctx context.Context) ([]api.Session, error) {
	all, err := ask[api.Sessions](ctx, c, get("sessions", nil))
	if err == nil && all.Sessions == nil {
		err = api.ErrForeign
	}
	return all.Sessions, err
}

// EndSession signs one of them out, by its ID.
func (c *Client) EndSession(ctx context.Context, id string) error {
	_, err := ask[api.SignedOut](ctx, c, request{method: http.MethodDelete, path: base + "sessions/" + pathSegment(id)})
	return err
}

// EndSessions signs all of them out, and returns how many those were.
func (c *Client) EndSessions(ctx context.Context) (int, error) {
	done, err := ask[api.SignedOut](ctx, c, request{method: http.MethodDelete, path: base + "sessions"})
	return done.Ended, err
}
