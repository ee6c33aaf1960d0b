package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast/holdfast/storage/stateengine"
)

// Rewinds lists the states that were something else at a time; see stateengine.Rewinds.
func (s *Store) Rewinds(ctx context.Context, at time.Time) (all []stateengine.Rewind, err error) {
	db, err := databaseFile(s.path).OpenReader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return stateengine.Rewinds(ctx, db, "states", "versions", "n.id = s.newest", at)
}
