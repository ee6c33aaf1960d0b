package server

import (
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/resources"
)

// uploadRetention removes records of uploads as the organizations' sections say, and has that in their audit logs.
func uploadRetention(uploads inventory.Store, index *resources.Indexer, log audit.Recorder,
	watcher *authfile.Watcher, clock func() time.Time, logger *slog.Logger) *inventory.Retention {
	return &inventory.Retention{Store: uploads, Index: index, Audit: log, Orgs: watcher.Organizations,
		Keep: watcher.UploadsKept, Now: clock, Log: logger}
}
