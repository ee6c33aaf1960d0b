package storage

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/holdfast/holdfast/auth/lastuse"
)

// uses say when credentials were last used. The latest of all that were noted counts, so that they
// need neither marks nor an empty target.
type uses interface {
	readUses(ctx context.Context) (lastuse.Uses, error)
	noteUses(ctx context.Context, u lastuse.Uses) error
}

// folderUses are in the file of a server of its own.
type folderUses string

func (f folderUses) path() string { return filepath.Join(string(f), lastuse.FileName) }

func (f folderUses) readUses(context.Context) (lastuse.Uses, error) {
	u, err := lastuse.Read(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return u, err
}

func (f folderUses) noteUses(ctx context.Context, u lastuse.Uses) error {
	there, err := f.readUses(ctx)
	if err != nil {
		return err
	}
	return lastuse.Write(f.path(), there.With(u))
}

func (p *databasePlace) readUses(ctx context.Context) (lastuse.Uses, error) {
	return p.shared.Uses(ctx)
}

func (p *databasePlace) noteUses(ctx context.Context, u lastuse.Uses) error {
	return p.shared.NoteUses(ctx, u)
}

func (m *Move) copyUses(ctx context.Context) error {
	u, err := m.from.readUses(ctx)
	if err != nil || len(u) == 0 {
		return err
	}
	return m.to.noteUses(ctx, u)
}
