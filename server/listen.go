package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"syscall"
	"time"

	"github.com/holdfast/holdfast/internal/pause"
)

// A server that crashes while it starts a command leaves its address taken for a moment: the new
// process has all of its descriptors until it has become the command.
const (
	addressPatience = 3 * time.Second
	addressInterval = 50 * time.Millisecond
)

// listen listens on an address. It waits a little for one that is in use.
func listen(ctx context.Context, address string, log *slog.Logger) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return listener, err
	}
	log.WarnContext(ctx, "the address is in use; waiting in case it is by what a crashed server has left", "address",
		address, "at_most", addressPatience.String())
	ctx, stop := context.WithTimeout(ctx, addressPatience)
	defer stop()
	for errors.Is(err, syscall.EADDRINUSE) {
		if pause.For(ctx, addressInterval) != nil {
			return nil, err
		}
		listener, err = net.Listen("tcp", address)
	}
	return listener, err
}
