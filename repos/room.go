package repos

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/repos/gitmirror"
)

// checkRoom refuses a fetch while the organization's other mirrors fill what they may have together: the disk is
// everybody's.
func (s *Service) checkRoom(ctx context.Context, r Repository) error {
	all, err := s.Store.Repositories(ctx, r.Org, "", s.Limits.Repositories)
	if err != nil {
		return err
	}
	var others int64
	for _, one := range all {
		if one.ID != r.ID {
			others += one.Status.Bytes
		}
	}
	if others >= s.Limits.Mirrors {
		return &gitmirror.Error{Kind: gitmirror.TooLarge, Text: fmt.Sprintf(
			"the organization's other repositories have %d MiB together, and there may be %d", others>>20,
			s.Limits.Mirrors>>20)}
	}
	return nil
}
