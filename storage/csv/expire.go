package csv

import (
	"context"
	"time"

	"github.com/google/uuid"
)

func (s *Store) Expire(ctx context.Context, org uuid.UUID, before time.Time, limit int) (removed int, err error) {
	return 0, nil
}
