package local

import (
	"context"
	"errors"
	"io/fs"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage"
)

// MakeFolder makes the data folder with its master key, as a server's first start does; one that is there stays.
func MakeFolder(ctx context.Context, settings configs.Settings) error {
	if err := storage.MakeFolder(settings); err != nil {
		return err
	}
	err := storage.CreateMaster(ctx, settings)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
