package state_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// contradicting is a damaged store: its heads say that states were deleted, and it still reads their newest version.
type contradicting struct {
	state.Store
	reads int
}

func (c *contradicting) Head(ctx context.Context, ref state.Ref) (state.Head, error) {
	head, err := c.Store.Head(ctx, ref)
	head.Deleted = true
	return head, err
}

func (c *contradicting) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	c.reads++
	return c.Store.Current(ctx, ref)
}

// A store that contradicts itself about a version's size is read twice, and not for ever.
func TestLoadEndsWhereTheStoreContradictsItself(t *testing.T) {
	store := &contradicting{Store: memory.New(1 << 20)}
	memory := budget.New(1<<20, "bytes")
	service := state.NewService(store, state.DefaultPolicies{}, time.Now, slog.New(slog.DiscardHandler)).Within(memory)
	p := auth.Principal{Org: uuid.New(), Grant: auth.Grant{Role: auth.Owner}}
	if _, err := service.Put(t.Context(), p, "x", state.Write{Body: spaced(1, 1000)}); err != nil {
		t.Fatal(err)
	}
	loaded, err := service.Version(t.Context(), p, "x", 0)
	if err != nil && !fault.Is(err, fault.StateNotFound) {
		t.Fatal(err)
	}
	if store.reads > 2 {
		t.Errorf("the store was read %d times", store.reads)
	}
	if err == nil && memory.InUse() < loaded.Size {
		t.Errorf("%d bytes are loaded, and %d are in use", loaded.Size, memory.InUse())
	}
	loaded.Release()
	if n := memory.InUse(); n != 0 {
		t.Errorf("%d bytes stay in use", n)
	}
}
