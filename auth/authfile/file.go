package authfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/internal/durable"
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

// How long an edit waits for another one, and how often it is looked whether a receipt is there.
const (
	lockPatience = 10 * time.Second
	lockInterval = 20 * time.Millisecond
)

// Edit lets change work on the auth.cfg at path and puts the result in its place,
// atomically: whoever reads the file, at any time and after any crash, sees it whole as
// it was or whole as it is now. Edits exclude one another across processes, so none is
// lost. When change fails, or the file is refused as it stands, nothing is written.
//
// A symbolic link at path stays, and the file that it leads to is replaced. Once Edit has
// returned nil the edit is on disk.
func Edit(ctx context.Context, path string, change func(*Document) error) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return explainMissing(path, err)
	}
	return locked(ctx, target, func() error {
		text, info, err := follow.ReadFile(target, maxFileSize)
		if err != nil {
			return explainMissing(path, err)
		}
		doc, err := Parse(path, string(text))
		if err != nil {
			return err
		}
		if err := change(doc); err != nil {
			return err
		}
		return durable.Replace(target, doc.String(), info)
	})
}

// Create makes a new auth.cfg at path, mode 0600, of what change does to an empty
// document. It fails with fs.ErrExist, and changes nothing, when something is there.
func Create(ctx context.Context, path string, change func(*Document) error) error {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return err
	}
	target := filepath.Join(dir, filepath.Base(path))
	return locked(ctx, target, func() error {
		if _, err := os.Lstat(target); err == nil {
			return fmt.Errorf("%s: %w", path, fs.ErrExist)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		doc := &Document{file: path}
		if err := change(doc); err != nil {
			return err
		}
		return durable.Create(target, doc.String())
	})
}

// locked runs work while this process alone holds the file's lock.
func locked(ctx context.Context, target string, work func() error) error {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	return durable.Locked(ctx, target, work)
}
