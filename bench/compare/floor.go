package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/holdfast/holdfast/bench/floor"
	"github.com/holdfast/holdfast/bench/local"
	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/middleware"
)

// seed of all states and uploads. The fixed floor must know it too.
const seed = 1

// floorOptions are what a floor's process is told.
type floorOptions struct {
	kind string
	size int
}

// startFloor runs this program again, as a floor.
func startFloor(ctx context.Context, dir string, o floorOptions, environ ...string) (*local.Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return local.Start(ctx, dir, environ, program, "-floor", o.kind, "-floor-size", strconv.Itoa(o.size))
}

// serveFloor is a floor, in the folder where it runs, until ctx ends.
func serveFloor(ctx context.Context, o floorOptions) (err error) {
	handler, end, err := openFloorOf(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: withReadiness(handler)}
	if o.kind == openFloor {
		listener = middleware.Listen(listener)
		asServed(server)
	}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	slog.New(slog.NewJSONHandler(os.Stderr, nil)).InfoContext(ctx, "listening", "address", listener.Addr().String())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// withReadiness answers the question whether the floor has started.
func withReadiness(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			handler.ServeHTTP(w, r)
		}
	})
}

func openFloorOf(ctx context.Context, o floorOptions) (handler http.Handler, end func() error, err error) {
	switch o.kind {
	case fixedFloor:
		return floor.NewFixed(sample.NewState(o.size, seed).Bytes()), func() error { return nil }, nil
	case openFloor:
		return newOpen(ctx)
	}
	log, err := floor.OpenLog("floor")
	if err != nil {
		return nil, nil, err
	}
	switch o.kind {
	case durableFloor:
		return floor.NewStates(log), log.Close, nil
	case uploadFloor:
		return floor.NewUploads(log), log.Close, nil
	}
	return nil, nil, errors.Join(fmt.Errorf("there is no floor %q", o.kind), log.Close())
}
