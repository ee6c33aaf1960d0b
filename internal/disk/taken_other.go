//go:build !unix

package disk

import "io/fs"

// Taken is how much room a file takes.
func Taken(info fs.FileInfo) int64 { return info.Size() }
