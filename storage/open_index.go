package storage

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/storage/resourceindex"
)

// OpenIndex opens the index of resources: beside durable states, in whose folder it has its
// file, else in memory. The states have to be open, because they own the folder. The caller
// closes it.
func OpenIndex(ctx context.Context, settings configs.Settings, log *slog.Logger) (resources.Index, error) {
	if settings.State.Storage != configs.SQLite {
		return openedIndex(resourceindex.OpenMemory(ctx, log))
	}
	dir, err := filepath.Abs(settings.Storage.Path)
	if err != nil {
		return nil, err
	}
	return openedIndex(resourceindex.Open(ctx, filepath.Join(dir, "resources.db"), log))
}

// openedIndex keeps a nil pointer from becoming an index that is not nil.
func openedIndex(x *resourceindex.Index, err error) (resources.Index, error) {
	if err != nil {
		return nil, err
	}
	return x, nil
}
