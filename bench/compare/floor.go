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
	"time"

	"github.com/holdfast/holdfast/bench/floor"
	"github.com/holdfast/holdfast/bench/local"
	"github.com/holdfast/holdfast/bench/sample"
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
	handler, log, end, err := openFloorOf(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: withReadiness(handler, log)}
	if o.kind == openFloor {
		listener = asServed(server, listener)
	}
	stopped := make(chan struct{})
	context.AfterFunc(ctx, func() { shutDown(server); close(stopped) })
	slog.New(slog.NewJSONHandler(os.Stderr, nil)).InfoContext(ctx, "listening", "address", listener.Addr().String())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-stopped
	return nil
}

// shutDown waits for requests under way, a little: the log behind them must outlive them.
func shutDown(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = server.Shutdown(ctx) // who is slower than that loses an answer that nobody waits for
}

// withReadiness answers the question whether the floor has started: with the number of its
// fsyncs so far, where it has a log.
func withReadiness(handler http.Handler, log *floor.Log) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != readyPath:
			handler.ServeHTTP(w, r)
		case log != nil:
			_, _ = fmt.Fprint(w, log.Syncs())
		}
	})
}

const readyPath = "/readyz"

// openFloorOf returns a floor, with its log if it has one.
func openFloorOf(ctx context.Context,
	o floorOptions) (handler http.Handler, log *floor.Log, end func() error, err error) {
	switch o.kind {
	case fixedFloor:
		return floor.NewFixed(sample.NewState(o.size, seed).Bytes()), nil, func() error { return nil }, nil
	case openFloor:
		handler, end, err = newOpen(ctx)
		return handler, nil, end, err
	}
	if log, err = floor.OpenLog("floor"); err != nil {
		return nil, nil, nil, err
	}
	switch o.kind {
	case durableFloor:
		return floor.NewStates(log), log, log.Close, nil
	case uploadFloor:
		return floor.NewUploads(log), log, log.Close, nil
	}
	return nil, nil, nil, errors.Join(fmt.Errorf("there is no floor %q", o.kind), log.Close())
}
