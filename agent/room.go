package agent

import (
	"context"
	"errors"
	"syscall"

	"github.com/holdfast/holdfast/internal/pause"
)

// withRoom does what may fail on a full disk, until there is room, the stage is to end, or it has
// waited for as long as for the end of a log: an apply that went well is not to fail because its
// end could not be noted at once.
func (s *stage) withRoom(ctx context.Context, what string, do func() error) error {
	ctx, stop := context.WithTimeout(ctx, s.executor.settings.LogPatience)
	defer stop()
	for wait := firstWait; ; wait = min(2*wait, longestWait/3) {
		err := do()
		if err == nil || !isFull(err) || s.cancels.wanted() {
			return err
		}
		s.log.WarnContext(ctx, "there is no room on the disk; trying again", "what", what, "wait", wait, "error", err)
		if pause.For(ctx, wait) != nil {
			return err
		}
	}
}

// isFull reports whether something may go well once there is room on the disk.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, ErrNeverBegun)
}
