//go:build !unix

package disk

import "io/fs"

// HasOtherNames reports whether a file is known by other names too, where the system tells that.
func HasOtherNames(fs.FileInfo) bool { return false }
