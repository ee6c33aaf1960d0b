//go:build !linux

package tools

import "io/fs"

func changeTime(fs.FileInfo) int64 { return 0 }
