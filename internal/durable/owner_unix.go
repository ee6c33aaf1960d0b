//go:build unix

package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and group of the file that it is going to replace. Without
// it an edit by root would take the file away from the account that the server runs as.
func keepOwner(f *os.File, old fs.FileInfo) error {
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	was, ok := old.Sys().(*syscall.Stat_t)
	is, ok2 := mine.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || (was.Uid == is.Uid && was.Gid == is.Gid) {
		return nil
	}
	if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
		return fmt.Errorf("the file belongs to user %d and group %d, and this account can't keep it so: %w", was.Uid, was.Gid,
			err)
	}
	return nil
}

// syncFolder makes a rename in the folder survive a loss of power.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
