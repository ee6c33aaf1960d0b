package storage

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/resourceindex"
)

// OpenIndex opens the index of resources: beside durable states that are plain, in whose folder it
// has its file, else in memory. What is sealed in one file is not to be read in another: beside
// sealed states a file of before is removed, unless the settings say that there is to be one.
// The states have to be open, because they own the folder. All in it is derived, so
// that a file that can't be opened keeps nobody from serving the rest: searches say why until
// Recover succeeds. The caller closes it.
func OpenIndex(ctx context.Context, settings configs.Settings, states state.Store,
	log *slog.Logger) (resources.Index, error) {
	inMemory := settings.State.Storage != configs.SQLite
	if !inMemory && !settings.Seal.PlainIndex && sealsStates(states) {
		inMemory = true
		if err := removeIndex(settings); err != nil {
			return nil, err
		}
	}
	if inMemory {
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

// sealsStates reports whether a store's states are sealed, or are on their way there.
func sealsStates(states state.Store) bool {
	s, ok := SealingOf(states)
	return ok && s.SealMode() != Unsealed
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
