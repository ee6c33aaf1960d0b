//go:build !linux

package server

import (
	"context"
	"log/slog"
)

// leaveNoCore does nothing: who runs the server sets the limit.
func leaveNoCore(context.Context, *slog.Logger) {}
