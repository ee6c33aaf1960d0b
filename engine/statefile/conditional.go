package statefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/holdfast/holdfast/engine/diag"
)

// What an object store answers.
var (
	ErrNoObject = errors.New("there is no such object")
	ErrChanged  = errors.New("the object has been changed meanwhile")
)

// Objects is an object store that writes on conditions. A tag stands for one version of an object; the empty
// tag stands for there being none.
//
// Get fails with ErrNoObject where there is none. Put and Delete do nothing, and fail with ErrChanged,
// unless the object is of the version that the tag stands for. They are atomic: of two with one tag, one
// succeeds.
type Objects interface {
	Get(ctx context.Context, key string) (body []byte, tag string, err error)
	Put(ctx context.Context, key string, body []byte, tag string) (now string, err error)
	Delete(ctx context.Context, key, tag string) error
}

// Conditional keeps a state in an object store, with its lock in an object beside it, as Terraform's s3
// backend does with use_lockfile.
type Conditional struct {
	objects Objects
	key     string

	mu  sync.Mutex
	tag string // of the version that was read or written last
}

// NewConditional keeps a state under a key.
func NewConditional(objects Objects, key string) *Conditional {
	return &Conditional{objects: objects, key: key}
}

func (c *Conditional) lockKey() string { return c.key + ".tflock" }

// Read implements Store.
func (c *Conditional) Read(ctx context.Context) (*File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, tag, err := c.objects.Get(ctx, c.key)
	if errors.Is(err, ErrNoObject) {
		c.tag = ""
		return nil, nil
	}
	if err != nil {
		return nil, diag.Stateful(err, "the state can't be fetched")
	}
	f, err := Parse(text)
	if err != nil {
		return nil, diag.Stateful(err, "the state %s is damaged, and nothing is done with it", c.key).
			WithHint("earlier versions of the object may be kept where it is")
	}
	c.tag = tag
	return f, nil
}

// Write implements Store. A state that isn't the one that was read last is left as it is.
func (c *Conditional) Write(ctx context.Context, f *File) error {
	text, err := f.Bytes()
	if err != nil {
		return diag.Stateful(err, "the state can't be written")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	tag, err := c.objects.Put(ctx, c.key, text, c.tag)
	if errors.Is(err, ErrChanged) {
		return &diag.Error{Category: diag.Concurrency, Summary: "somebody else has written the state meanwhile", Err: err,
			Hint: "plan again"}
	}
	if err != nil {
		return diag.Stateful(err, "the state can't be written")
	}
	c.tag = tag
	return nil
}

// Lock implements Store.
func (c *Conditional) Lock(ctx context.Context, info LockInfo) (func(context.Context) error, error) {
	body, err := json.Marshal(info)
	if err != nil {
		return nil, err
	}
	tag, err := c.objects.Put(ctx, c.lockKey(), body, "")
	if errors.Is(err, ErrChanged) {
		holder, _, _ := c.holder(ctx)
		return nil, &diag.Error{Category: diag.Concurrency, Summary: "the state is locked",
			Detail: fmt.Sprintf("%s has held it for %s, ID %s", holder.Who, holder.Operation, holder.ID),
			Hint:   "holdfast engine force-unlock removes the lock if its holder is gone for good"}
	}
	if err != nil {
		return nil, diag.Stateful(err, "the state can't be locked")
	}
	return func(ctx context.Context) error {
		err := c.objects.Delete(ctx, c.lockKey(), tag)
		if errors.Is(err, ErrNoObject) || errors.Is(err, ErrChanged) {
			return &diag.Error{Category: diag.Concurrency, Summary: "the lock was broken by somebody else", Err: err}
		}
		return err
	}, nil
}

func (c *Conditional) holder(ctx context.Context) (info LockInfo, tag string, err error) {
	text, tag, err := c.objects.Get(ctx, c.lockKey())
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	return info, tag, err
}

// ForceUnlock implements Store.
func (c *Conditional) ForceUnlock(ctx context.Context, id string) error {
	info, tag, err := c.holder(ctx)
	switch {
	case errors.Is(err, ErrNoObject):
		return &diag.Error{Category: diag.Concurrency, Summary: "the state isn't locked"}
	case err != nil:
		return diag.Stateful(err, "the lock can't be read")
	case info.ID != id:
		return &diag.Error{Category: diag.Concurrency, Summary: "the state is locked by another ID",
			Detail: fmt.Sprintf("%s has held it for %s, ID %s", info.Who, info.Operation, info.ID)}
	}
	return c.objects.Delete(ctx, c.lockKey(), tag)
}
