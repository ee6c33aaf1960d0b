package storage

import (
	"context"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/storage/resourceindex"
)

// OpenIndex opens the index of resources, which is in memory: what is sealed in the database of states is not to be
// read in another file. The caller closes it.
func OpenIndex(ctx context.Context) (resources.Index, error) {
	index, err := resourceindex.Open(ctx)
	if err != nil {
		return nil, err // a nil *resourceindex.Index would be no nil resources.Index
	}
	return index, nil
}
