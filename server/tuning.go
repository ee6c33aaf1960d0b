package server

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/nocore"
)

// Tune sets the process's memory limit, and when its garbage is collected, by the settings and
// the environment. What the process leaves when it crashes has nothing of its memory.
func Tune(ctx context.Context, settings configs.Server, getenv func(string) string, log *slog.Logger) {
	if limit := memoryLimit(settings, getenv, memlimit.FromCgroup); limit > 0 {
		debug.SetMemoryLimit(limit)
		log.InfoContext(ctx, "the collector works harder beyond the memory limit", "bytes", limit)
	}
	if err := nocore.Set(); err != nil {
		log.WarnContext(ctx, "a crash may leave a core dump with secrets in it", "error", err)
	}
	collectLater(getenv, debug.SetMemoryLimit(-1))
}
