package server

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/seal"
)

// masterKeys forget organizations, so that the data keys that backups have of one can't be opened any more.
type masterKeys struct{ *parts }

// Shred implements shred.Store. Where the keys are kept by somebody else, or are those of older files, the log says
// what is left to do, and the rest goes on.
func (m masterKeys) Shred(ctx context.Context, org uuid.UUID, _ int) (int, error) {
	if ownMaster(m.settings) || keepsNothing(m.settings) {
		return 0, nil
	}
	if !m.sealing.TryLock() {
		return 0, errors.New("a new master key is made")
	}
	defer m.sealing.Unlock()
	done, err := m.keyring().Forget(ctx, m.settings, org)
	switch {
	case errors.Is(err, seal.ErrUnchangeable):
		m.log.WarnContext(ctx, "the master keys can't be changed by this server: what backups have of the organization can be "+
			"opened with them, until `holdfast seal forget` was run where they are kept, and the servers that have them were "+
			"started again", "org", org.String(), "error", err)
		return 0, nil
	case done.Older > 0:
		m.log.WarnContext(ctx, "some master keys are of an older file and forget nobody: what backups from before `holdfast "+
			"seal rotate` have of the organization can be opened as long as these keys are in the file", "org", org.String(),
			"keys", done.Older)
	}
	return done.Keys, err
}

// ownMaster reports whether a server with these settings has a master key of its own, which is gone with it.
func ownMaster(settings configs.Settings) bool {
	return settings.State.Storage == configs.Memory && settings.Runs.Storage == configs.SQLite
}
