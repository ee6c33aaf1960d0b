package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/bench/local"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/logctx"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
)

// sameCollector is what both sides are told where the server is its own floor: the server
// would choose by itself when to collect garbage, and the floor would not.
const sameCollector = "GOGC=400"

// anybody is a verifier that lets everybody in without a look, as whom they say they are.
type anybody struct{}

func (anybody) Verify(_ context.Context, said auth.Credentials, client auth.Client) (auth.Principal, error) {
	return auth.Principal{Org: said.Org, KeyID: "anybody", Grant: auth.Grant{Role: auth.Owner}, Address: client.Address,
		Request: client.Request}, nil
}

// newOpen returns the server's own routes over its own store, in the folder where it runs,
// with all that a request passes through but the check of its key.
func newOpen(ctx context.Context) (handler http.Handler, end func() error, err error) {
	settings, err := configs.Load(configs.Sources{Environ: []string{"STORAGE_PATH=" + filepath.Join(".", "data")}})
	if err != nil {
		return nil, nil, err
	}
	if err := local.MakeFolder(ctx, settings); err != nil {
		return nil, nil, err
	}
	log := slog.New(logctx.Handler(slog.NewJSONHandler(os.Stderr, nil)))
	store, err := storage.OpenStates(ctx, settings, log)
	if err != nil {
		return nil, nil, err
	}
	const unlimited = 1_000_000_000 // as the server's limits are raised; still counted
	limits, memory := settings.Limits, middleware.NewMemory(settings.Limits.MaxBodyBytes)
	router, err := handlers.NewRouter(handlers.Deps{
		States: state.NewService(store, state.DefaultPolicies{}, time.Now, log).Within(memory), Verifier: anybody{}, Log: log,
		Now:           time.Now,
		MaxStateBytes: settings.State.MaxBytes,
		Limits: middleware.Limits{Requests: unlimited, States: unlimited, InFlight: limits.MaxInFlight, Memory: memory,
			Pace: middleware.Pace{Silence: limits.MaxSilence, MinRate: limits.MinRate, Answer: limits.MaxAnswerTime}},
	})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return router, store.Close, nil
}

// asServed has a server treat its connections as the real one does.
func asServed(server *http.Server, listener net.Listener) net.Listener {
	connections := middleware.NewConnections(middleware.ConnectionLimits{})
	server.ConnContext, server.ConnState = middleware.ConnContext, connections.Track
	server.ReadHeaderTimeout, server.IdleTimeout = 10*time.Second, 2*time.Minute
	return connections.Listen(listener)
}
