package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/oidc"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
	"github.com/spf13/cobra"
)

func newServeCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve states and uploads over HTTP",
		Long: `Serve states and uploads over HTTP until SIGINT or SIGTERM, then finish the requests
that have begun and stop. A second signal stops at once.

Settings come from holdfast.cfg, the environment and flags, in this order; the last one
wins. auth.cfg, and the files of certificates, are read again whenever they change.

Without TLS it listens only where this machine alone reaches it, unless trusted_proxies
names who has TLS in front of it, or allow_plaintext is set.`,
		Example: `  holdfast serve
  holdfast serve --config /etc/holdfast/holdfast.cfg
  HOST=0.0.0.0 ENABLE_TLS=true TLS_CERT_FILE=tls.crt TLS_KEY_FILE=tls.key holdfast serve
  holdfast serve --state-storage memory --port 0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := a.servingSettings(cmd)
			if err != nil {
				return err
			}
			log := newLogger(a.stderr, settings.Log)
			if limit := memoryLimit(settings.Server, a.getenv, memlimit.FromCgroup); limit > 0 {
				debug.SetMemoryLimit(limit)
				log.InfoContext(cmd.Context(), "the collector works harder beyond the memory limit", "bytes", limit)
			}
			collectLater(a.getenv, debug.SetMemoryLimit(-1))
			return serve(cmd.Context(), settings, log)
		},
	}
	addConfigFlag(cmd)
	configs.AddFlags(cmd.Flags())
	return cmd
}

// serve opens what the service stands on, from the bottom up, and closes it again from
// the top down. The address comes first: a start that fails for it leaves nothing behind.
func serve(ctx context.Context, settings configs.Settings, log *slog.Logger) error {
	log.InfoContext(ctx, "starting", "version", version, "settings", settings)
	listener, err := net.Listen("tcp", settings.Server.Addr())
	if err != nil {
		return err
	}
	defer listener.Close()
	tlsConfig, err := openTLS(ctx, settings.Server, log)
	if err != nil {
		return err
	}
	tokens, err := oidc.NewVerifier(oidc.Config{Logger: log})
	if err != nil {
		return err
	}
	defer closing(log, "the token verifier", tokens)
	verifier, watcher, err := openKeys(ctx, settings.Auth, tokens, log)
	if err != nil {
		return err
	}
	defer closing(log, "the auth file's watcher", watcher)
	states, uploads, err := openStores(ctx, settings, log)
	if err != nil {
		return err
	}
	defer closing(log, "the state store", states)
	defer closing(log, "the upload store", uploads)
	memory := middleware.NewMemory(settings.Limits.MaxBodyBytes)
	keeper := newKeeper(settings, watcher, states, uploads, log)
	service := state.NewService(states, watcher, time.Now, log).Within(memory).WithQuota(keeper)
	defer sweepRegularly(ctx, service.Sweep, log)()
	defer notifyRegularly(ctx, states, watcher, settings.Server.ShutdownTimeout, log)()
	defer closing(log, "the record of when keys were used", trackUses(ctx, verifier, settings, log))
	catalogue, err := openCatalogue(ctx, settings, states, uploads, service, memory, log)
	if err != nil {
		return err
	}
	defer closing(log, "the resource index", catalogue)
	inventory := inventory.NewService(uploads).WithGate(audit.NewGate(states, time.Now)).WithClock(time.Now, log).WithQuota(keeper).Within(memory)
	inventory.Tell(catalogue.indexer.Uploaded)
	connections := boundConnections(ctx, settings, log)
	router, err := handlers.NewRouter(handlers.Deps{
		States:         service,
		Resources:      catalogue.service,
		Inventory:      inventory,
		Quota:          keeper,
		Verifier:       verifier,
		Log:            log,
		Now:            time.Now,
		Version:        version,
		MaxStateBytes:  settings.State.MaxBytes,
		TrustedProxies: settings.Server.TrustedProxies,
		Limits:         serverLimits(settings.Limits, connections.Limits(), memory),
		Connections:    connections,
	})
	if err != nil {
		return err
	}
	server := newServer(settings.Server, router, log)
	server.TLSConfig = tlsConfig
	server.ConnState = connections.Track
	return serveUntil(ctx, connections.Listen(listener), server, settings.Server, log)
}

// serverLimits leaves a quarter of the connections to those who come to ask for something.
func serverLimits(settings configs.Limits, connections middleware.ConnectionLimits, memory *budget.Budget) middleware.Limits {
	return middleware.Limits{
		Requests: settings.RateLimit,
		States:   settings.StateRateLimit,
		InFlight: settings.MaxInFlight,
		Begun:    connections.Total * 3 / 4,
		Memory:   memory,
		Pace:     middleware.Pace{Silence: settings.MaxSilence, MinRate: settings.MinRate, Answer: settings.MaxAnswerTime},
	}
}

func openStores(ctx context.Context, settings configs.Settings, log *slog.Logger) (state.Store, inventory.Store, error) {
	states, err := storage.OpenStates(ctx, settings, log)
	if err != nil {
		return nil, nil, err
	}
	uploads, err := storage.OpenUploads(ctx, settings, log)
	if err != nil {
		return nil, nil, errors.Join(err, states.Close())
	}
	return states, uploads, nil
}

func closing(log *slog.Logger, what string, c io.Closer) {
	if err := c.Close(); err != nil {
		log.Error("closing "+what, "error", err)
	}
}

func newServer(settings configs.Server, handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ConnContext:       middleware.ConnContext,
		ReadHeaderTimeout: settings.ReadHeaderTimeout,
		IdleTimeout:       settings.IdleTimeout,
		MaxHeaderBytes:    32 << 10,
		// So that OPTIONS * is answered like everything else.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// serveUntil serves until ctx ends, then lets the requests that have begun finish.
func serveUntil(ctx context.Context, listener net.Listener, server *http.Server, settings configs.Server, log *slog.Logger) error {
	ended := make(chan error, 1)
	go func() { ended <- serveOn(server, listener, settings.EnableTLS) }()
	log.InfoContext(ctx, "listening", "address", listener.Addr().String(), "tls", settings.EnableTLS)

	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	log.Info("stopping: finishing the requests that have begun", "at_most", settings.ShutdownTimeout.String())
	return drain(server, settings.ShutdownTimeout)
}

func serveOn(server *http.Server, listener net.Listener, withTLS bool) error {
	if withTLS {
		return server.ServeTLS(listener, "", "") // the certificate comes from TLSConfig
	}
	return server.Serve(listener)
}

func drain(server *http.Server, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		_ = server.Close()
		return fmt.Errorf("some requests did not finish within %v and were cut off", timeout)
	}
	return err
}
