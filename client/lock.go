package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast/holdfast/api"
)

// lockPatience is how long it may take to acquire or to release a lock.
const lockPatience = 30 * time.Second

// Lock acquires a state's lock for what the info says; its ID must be a new one.
func (c *Client) Lock(ctx context.Context, name string, info api.LockInfo) error {
	_, err := ask[api.LockInfo](ctx, c, ofState("LOCK", name).with(info))
	return err
}

// Unlock releases the lock that the info's ID holds.
func (c *Client) Unlock(ctx context.Context, name string, info api.LockInfo) error {
	_, err := ask[api.Done](ctx, c, ofState("UNLOCK", name).with(info))
	return err
}

// Holder returns what the holder of a state's lock said of itself; without an ID when nobody
// holds it.
func (c *Client) Holder(ctx context.Context, name string) (api.LockInfo, error) {
	return ask[api.LockInfo](ctx, c, ofState(http.MethodGet, name, "lock"))
}

// ReleaseLock releases somebody else's lock, for the order's reason; with its LockID, only if
// the lock has that ID.
func (c *Client) ReleaseLock(ctx context.Context, name string, o api.Order) (api.Released, error) {
	return ask[api.Released](ctx, c, ofState(http.MethodPost, name, "lock", "release").with(o))
}

// WithLock runs do while it holds a state's lock. The lock is released whatever becomes of do,
// also when ctx ends: somebody would have to force it open.
func (c *Client) WithLock(ctx context.Context, name string, info api.LockInfo, do func() error) (err error) {
	if err := c.acquire(ctx, name, info); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.release(ctx, name, info)) }()
	if err := ctx.Err(); err != nil {
		return err
	}
	return do()
}

// acquire is Lock, but not interrupted: a lock that was granted in an answer that nobody read
// would stay. When Holdfast does not answer, a proxy may do, it is released, if it was granted.
func (c *Client) acquire(ctx context.Context, name string, info api.LockInfo) error {
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockPatience)
	defer cancel()
	err := c.Lock(patient, name, info)
	if e, answered := errors.AsType[*Error](err); err != nil && (!answered || e.Code == "") {
		_ = c.release(ctx, name, info) // mostly there is nothing to release
	}
	return err
}

func (c *Client) release(ctx context.Context, name string, info api.LockInfo) error {
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockPatience)
	defer cancel()
	if err := c.Unlock(patient, name, info); err != nil {
		return fmt.Errorf("the lock was not released: %w", err)
	}
	return nil
}
