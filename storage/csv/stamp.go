package csv

import (
	"errors"
	"io/fs"
	"os"

	"github.com/holdfast/holdfast/storage/csv/index"
)

// stamp is how a file looks from outside. The zero stamp is that of no file.
type stamp struct {
	exists bool
	plain  bool // a regular file
	size   int64
	seal   index.Seal
}

// lookAt returns the stamp of the file at path.
func lookAt(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{}, nil
	}
	if err != nil {
		return stamp{}, fileError(err)
	}
	return stamp{exists: true, plain: info.Mode().IsRegular(), size: info.Size(), seal: sealOf(info)}, nil
}
