//go:build !unix

package durable

import (
	"io/fs"
	"os"
)

// keepOwner does nothing where files don't belong to numbered users.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

// syncFolder does nothing where a folder can't be synchronised.
func syncFolder(string) error { return nil }
