package storage

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/storage/resourceindex"
)

// OpenIndex opens the index of resources: beside durable states, in whose folder it has its
// file, else in memory. So it does where it is to be on no disk: then a file of before is
// removed. The states have to be open, because they own the folder. All in it is derived, so
// that a file that can't be opened keeps nobody from serving the rest: searches say why until
// Recover succeeds. The caller closes it.
func OpenIndex(ctx context.Context, settings configs.Settings, log *slog.Logger) (resources.Index, error) {
	if settings.Seal.IndexInMemory && settings.State.Storage == configs.SQLite {
		if err := removeIndex(settings); err != nil {
			return nil, err
		}
	}
	if settings.State.Storage != configs.SQLite || settings.Seal.IndexInMemory {
		index, err := resourceindex.OpenMemory(ctx, log)
		if err != nil {
			return nil, err // a nil *resourceindex.Index would be no nil resources.Index
		}
		return index, nil
	}
	path, err := indexPath(settings)
	if err != nil {
		return nil, err
	}
	index := resourceindex.New(path, log)
	if err := index.Recover(ctx); err != nil {
		log.ErrorContext(ctx, "the resource index can't be opened; it is tried again while the rest is served", "path", path,
			"error", errors.Unwrap(err))
	}
	return index, nil
}

func indexPath(settings configs.Settings) (string, error) {
	dir, err := filepath.Abs(settings.Storage.Path)
	return filepath.Join(dir, "resources.db"), err
}

// removeIndex removes the index's file. Where the server has none there is no error.
func removeIndex(settings configs.Settings) error {
	path, err := indexPath(settings)
	if err != nil {
		return err
	}
	return resourceindex.Remove(path)
}
