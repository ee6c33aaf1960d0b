// Package disk measures how much room there is on the disks of folders.
package disk

import (
	"errors"
	"fmt"
	"math"
)

// Free returns how many bytes this process may still write to the disk that has the least
// room of those that the folders are on. Empty names are passed over.
func Free(folders ...string) (int64, error) {
	least := int64(math.MaxInt64)
	for _, folder := range folders {
		if folder == "" {
			continue
		}
		bytes, err := free(folder)
		if err != nil {
			return 0, fmt.Errorf("measure the disk of %s: %w", folder, err)
		}
		least = min(least, bytes)
	}
	if least == math.MaxInt64 {
		return 0, errors.New("there is no disk to measure")
	}
	return least, nil
}
