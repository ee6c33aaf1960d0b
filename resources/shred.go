package resources

import (
	"context"

	"github.com/google/uuid"
)

// Shred forgets everything of an organization, in pieces of at most limit resources, and returns how
// many things went. It is for one whose states and uploads are destroyed; when it returns 0, nothing of the
// organization is left in the index.
func (x *Indexer) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	x.looking.Lock() // so that nothing that was read before comes into the index afterwards
	defer x.looking.Unlock()
	err = x.turn.alone(ctx, func() (err error) {
		removed, err = x.Index.Shred(ctx, org, limit)
		return err
	})
	return removed, err
}
