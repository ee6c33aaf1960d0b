package server

import (
	"context"
	"log/slog"

	"golang.org/x/sys/unix"
)

// coreLimit is too small for any core file, and not 0: to a program that cores are piped to, Linux
// sends them whatever the limit is, unless it is 1.
const coreLimit = 1

// leaveNoCore keeps what is in memory, which is keys and states, out of core dumps.
func leaveNoCore(ctx context.Context, log *slog.Logger) {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: coreLimit, Max: coreLimit}); err != nil {
		log.WarnContext(ctx, "a crash may leave a core dump with secrets in it", "error", err)
	}
}
