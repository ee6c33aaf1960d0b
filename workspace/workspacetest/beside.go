package workspacetest

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/workspace"
)

// beside: what lies beside the row is none of it, and needs its contents all the same.
func beside(ctx context.Context, s workspace.Store, _ *Clock) error {
	r := ref(uuid.New(), "w")
	if _, err := put(ctx, s, r, nil); err != nil {
		return err
	}
	newest, err := push(ctx, s, r, nil, "one")
	if err != nil {
		return err
	}
	var made []workspace.Entry
	for _, content := range []string{"two", "three", "two"} {
		if _, _, err := s.PutContent(ctx, r.Org, strings.NewReader(content), 1<<20); err != nil {
			return err
		}
		e, err := s.AddBeside(ctx, r, snapshotOf(content), workspace.Entry{Message: content, CreatedAt: at(5)}, nil)
		if err != nil {
			return err
		}
		made = append(made, e)
	}
	w, err := s.Workspace(ctx, r)
	if err := errors.Join(err, want("newest", w.Newest.Number, newest.Number), want("numbers", made[1].Number, int64(-2)),
		want("the same again", made[2].Number, made[0].Number)); err != nil {
		return err
	}
	row, err := s.Entries(ctx, r, 0, 10)
	if err := errors.Join(err, want("row", len(row), 1)); err != nil {
		return err
	}
	found, err := s.Beside(ctx, r, 10)
	if err := errors.Join(err, want("beside", len(found), 2), want("last", found[0].ID, made[1].ID)); err != nil {
		return err
	}
	_, err = s.Entry(ctx, r, 0, made[0].ID)
	if err := wantCode("by its ID", err, fault.SnapshotNotFound); err != nil {
		return err
	}
	if err := s.RemoveEntry(ctx, r, made[1].Number); err != nil {
		return err
	}
	found, err = s.Beside(ctx, r, 10)
	return errors.Join(err, want("left", len(found), 1))
}
