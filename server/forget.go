package server

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
)

// masterKeys forget organizations, so that the data keys that backups have of one can't be opened any more.
type masterKeys struct{ *parts }

// Shred implements shred.Store. Where the keys are kept by somebody else the log says what is left to do, and the rest
// goes on.
func (m masterKeys) Shred(ctx context.Context, org uuid.UUID, _ int) (int, error) {
	if keepsNothing(m.settings) {
		return 0, nil
	}
	if !m.sealing.TryLock() {
		return 0, errors.New("states are being encrypted, or a new master key is made")
	}
	defer m.sealing.Unlock()
	forgot, err := m.keyring().Forget(ctx, m.settings, org)
	switch {
	case errors.Is(err, fs.ErrNotExist): // nothing is sealed
		return 0, nil
	case errors.Is(err, seal.ErrNoFile), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		m.log.WarnContext(ctx, "the master keys can't be changed here: until `holdfast seal forget` has been run where they are "+
			"kept, and servers have them, what backups have of the organization can still be opened with them",
			"org", org.String(), "error", err)
		return 0, nil
	}
	return forgot, err
}
