package authfile

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/holdfast/holdfast/internal/follow"
)

// maxFileSize bounds an auth.cfg in bytes: some 400,000 organizations with a key each.
const maxFileSize = 64 << 20

// Load reads and parses the auth.cfg at path. The error is a *FileError when the text was
// read and refused; it wraps fs.ErrNotExist when there is no file.
func Load(path string) (*Document, error) {
	text, _, err := follow.ReadFile(path, maxFileSize)
	if err != nil {
		return nil, explainMissing(path, err)
	}
	return Parse(path, string(text))
}

// explainMissing adds the way out to the error of a file that isn't there, in the place of
// the system call and the path that failed.
func explainMissing(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if call, ok := errors.AsType[*fs.PathError](err); ok {
		err = call.Err
	}
	return fmt.Errorf("there is no %s; `holdfast init` makes one: %w", path, err)
}
