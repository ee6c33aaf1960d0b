package authfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxFileSize bounds an auth.cfg in bytes: some 400,000 organizations with a key each.
const maxFileSize = 64 << 20

// Load reads and parses the auth.cfg at path. The error is a *FileError when the file
// was read and refused; it wraps fs.ErrNotExist when there is none.
func Load(path string) (*Document, error) {
	text, _, err := ReadFile(path)
	if err != nil {
		return nil, explainMissing(path, err)
	}
	return Parse(path, text)
}

// ReadFile returns the text of a regular file of bounded size, and what the open file
// was, so that a later look can tell whether it was replaced.
func ReadFile(path string) (string, fs.FileInfo, error) {
	// Looked at before it is opened: opening a pipe would wait for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, err
	}
	if !info.Mode().IsRegular() {
		return "", nil, refuseWhole(path, "not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return "", nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return "", nil, err
	}
	if len(text) > maxFileSize {
		return "", nil, refuseWhole(path, "larger than %d MiB", maxFileSize>>20)
	}
	return string(text), info, nil
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
