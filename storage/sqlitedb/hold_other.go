//go:build !linux

package sqlitedb

import "os"

// hold leaves it to the lock file: flock here may keep SQLite out as well.
func hold(*os.File) error { return nil }
