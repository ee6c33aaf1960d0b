package storage

import (
	"context"
	"log/slog"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage/notices"
)

// OpenNotices opens the outbox of notices, beside the audit log that they come from: for a server
// that doesn't keep that in memory. The caller closes it.
func OpenNotices(ctx context.Context, settings configs.Settings, log *slog.Logger) (*notices.Folder, error) {
	return notices.Open(ctx, settings.Storage.Path, log)
}
