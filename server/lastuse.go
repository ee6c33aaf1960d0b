package server

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/auth/lastuse"
	"github.com/holdfast/holdfast/auth/verify"
	"github.com/holdfast/holdfast/configs"
)

// trackUses writes beside the stores whom the verifier lets in, until it is closed. A
// server that keeps nothing writes nothing.
func trackUses(ctx context.Context, verifier *verify.Verifier, settings configs.Settings, log *slog.Logger) io.Closer {
	if keepsNothing(settings) {
		return io.NopCloser(nil)
	}
	tracker := lastuse.Open(ctx, lastuse.Config{
		Path: LastUsePath(settings), Known: verifier.Keyring, Logger: log, Now: time.Now,
	})
	verifier.Tell(tracker.Note)
	return tracker
}

// LastUsePath is where a server with these settings keeps when keys were used.
func LastUsePath(settings configs.Settings) string {
	return filepath.Join(settings.Storage.Path, lastuse.FileName)
}

func keepsNothing(settings configs.Settings) bool {
	return settings.State.Storage == configs.Memory && settings.Storage.Type == configs.Memory
}
