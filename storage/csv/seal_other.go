//go:build !linux

package csv

import (
	"io/fs"

	"github.com/holdfast/holdfast/storage/csv/index"
)

func sealOf(info fs.FileInfo) index.Seal {
	return index.Seal{Changed: info.ModTime().UnixNano()}
}
