package inventory

import (
	"context"

	"github.com/holdfast/holdfast/fault"
)

// Status is the store's, with nil for a server that was told to keep no uploads: there is
// nothing wrong with that one.
func (s *Service) Status(ctx context.Context) error {
	err := s.store.Status(ctx)
	if fault.Is(err, fault.UploadsOff) {
		return nil
	}
	return err
}

// Backlog returns how many requests each side of a store with several is owed, by the
// side's name; nil for other stores.
func (s *Service) Backlog() map[string]int64 {
	if sides, ok := s.store.(interface{ Backlog() map[string]int64 }); ok {
		return sides.Backlog()
	}
	return nil
}

// Refused returns how many requests each side of a store with several has refused for good since the start, by the
// side's name; nil for other stores.
func (s *Service) Refused() map[string]int64 {
	if sides, ok := s.store.(interface{ Refused() map[string]int64 }); ok {
		return sides.Refused()
	}
	return nil
}
