package server

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/holdfast/holdfast/configs"
)

// Tune sets the process's memory limit, and when its garbage is collected, by the settings and
// the environment. What the process leaves when it crashes has nothing of its memory.
func Tune(ctx context.Context, settings configs.Server, getenv func(string) string, log *slog.Logger) {
	if limit := memoryLimit(settings, getenv, memlimit.FromCgroup); limit > 0 {
		debug.SetMemoryLimit(limit)
		log.InfoContext(ctx, "the collector works harder beyond the memory limit", "bytes", limit)
	}
	leaveNoCore(ctx, log)
	collectLater(getenv, debug.SetMemoryLimit(-1))
}
