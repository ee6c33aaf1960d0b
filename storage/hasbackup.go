package storage

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/holdfast/holdfast/configs"
)

// HasBackup returns nil where the folder of the settings is all that a server keeps of states and runs, and
// what is in it is what is served.
func HasBackup(ctx context.Context, settings configs.Settings) error {
	switch {
	case settings.State.Storage == configs.Memory:
		return fmt.Errorf("states are kept in memory only (state.storage = memory): there is nothing to back up")
	case settings.State.Storage == configs.MySQL || settings.Runs.Storage == configs.MySQL:
		return fmt.Errorf("states or runs are in the database (state.storage, runs.storage): back that up with its own " +
			"tools, or bring it into a folder first with `holdfast migrate --from mysql --to sqlite`")
	}
	dir, err := filepath.Abs(settings.Storage.Path)
	if err != nil {
		return err
	}
	all, err := folderMarks(dir).all(ctx)
	if err != nil {
		return err
	}
	if gone, some := find(all, markSource); some && gone.Done {
		return fmt.Errorf("%s was moved to %s at %s: what is here is not what is served", dir, gone.Other, shown(gone.At))
	}
	if half, some := find(all, markTarget); some {
		return fmt.Errorf("%s has only a part of what is in %s: a move to it has begun at %s", dir, half.Other, shown(half.At))
	}
	return nil
}
