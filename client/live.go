package client

import (
	"context"

	"github.com/holdfast/holdfast/api"
)

// LiveUpdate is what comes of an organization that is followed: that something has changed, or
// that more has than is told, so that everything is to be read anew. Neither is how far the stream
// has come.
type LiveUpdate struct {
	ID     string // to go on behind
	Change *api.LiveChange
	Reset  bool
}

// FollowEvents tells what changes in the organization until ctx ends: from now on, or behind the
// event with this ID. A stream that breaks off is taken up where it was. An error of tell ends it.
func (c *Client) FollowEvents(ctx context.Context, after string, tell func(LiveUpdate) error) error {
	r := get("events", nil)
	r.header = map[string]string{}
	return c.follow(ctx, &following{client: c, request: r, last: after, take: func(e event) error {
		u := LiveUpdate{ID: e.id}
		switch e.name {
		case "change":
			u.Change = new(api.LiveChange)
			return told(e, u.Change, func() error { return tell(u) })
		case "reset":
			u.Reset = true
		case "ready":
		default:
			return nil // of a later server
		}
		return tell(u)
	}})
}
