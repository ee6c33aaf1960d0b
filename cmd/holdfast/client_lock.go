package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// lockPatience is how long taking or releasing a lock may take.
const lockPatience = 30 * time.Second

// underLock runs do with the ID of a lock that it holds meanwhile. The lock is released
// whatever becomes of do, also when ctx ends: somebody would have to force it open.
func (c *client) underLock(ctx context.Context, name, operation string, now time.Time, do func(lockID string) error) error {
	path, err := ofState(name)
	if err != nil {
		return err
	}
	info := newLockInfo(operation, now)
	body, err := json.Marshal(info)
	if err != nil {
		return err
	}
	if err := c.lock(ctx, path, body); err != nil {
		return err
	}
	err = ctx.Err()
	if err == nil {
		err = do(info.ID)
	}
	return errors.Join(err, c.unlock(ctx, path, body))
}

// lock takes the lock. It is not interrupted: a lock that was granted in an answer that
// nobody read would stay. When there is no answer, it is released, if it was granted.
func (c *client) lock(ctx context.Context, path string, body []byte) error {
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockPatience)
	defer cancel()
	_, err := c.object(patient, ask{method: "LOCK", path: path, body: body}, nil)
	if _, answered := errors.AsType[*refusal](err); err != nil && !answered {
		_ = c.unlock(ctx, path, body) // mostly there is nothing to release
	}
	return err
}

func (c *client) unlock(ctx context.Context, path string, body []byte) error {
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockPatience)
	defer cancel()
	if _, err := c.object(patient, ask{method: "UNLOCK", path: path, body: body}, nil); err != nil {
		return fmt.Errorf("the lock was not released: %w", err)
	}
	return nil
}

// newLockInfo says who we are, as the clients say it of themselves.
func newLockInfo(operation string, now time.Time) state.LockInfo {
	who := "unknown"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	host, _ := os.Hostname()
	return state.LockInfo{
		ID: uuid.NewString(), Operation: operation, Who: who + "@" + host, Version: version,
		Created: now.UTC().Format(time.RFC3339Nano), Info: "holdfast " + operation,
	}
}
