package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/links"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/web"
)

// Program is what the server is part of.
type Program struct {
	Version string
	// Shims says that the program has the commands of shims, and so may start itself for the
	// commands of runs; one that hasn't executes none.
	Shims bool
	// MakeMissing has databases that the data folder had, and that are missing, made anew.
	MakeMissing bool
	// Engine is how this program is called as the tool of runs that is the engine; empty where it hasn't one.
	Engine []string
}

// Run opens what the service stands on, from the bottom up, serves until ctx ends, and closes
// it again from the top down. The address comes first: a start that fails for it leaves nothing
// behind.
func Run(ctx context.Context, settings configs.Settings, program Program, log *slog.Logger) error {
	log.InfoContext(ctx, "starting", "version", program.Version, "settings", settings.Chosen())
	log.DebugContext(ctx, "settings in force", "settings", settings)
	listener, err := listen(ctx, settings.Server.Addr(), log)
	if err != nil {
		return err
	}
	defer listener.Close()
	p := &parts{settings: settings, program: program, log: log, node: uuid.New(), runTokens: &runTokens{now: time.Now},
		doors: middleware.NewDoors()}
	defer p.close()
	p.moves = &mover{handover: newHandover(log), parts: p, stop: ctx}
	if err := p.open(ctx); err != nil {
		return err
	}
	p.closeLater("a move", p.moves)
	connections := boundConnections(ctx, settings, log)
	router, err := handlers.NewRouter(handlers.Deps{
		States:         p.service,
		Resources:      p.catalogue.service,
		Inventory:      p.inventory,
		Workspaces:     p.workspaces,
		Gate:           p.gate,
		Tools:          p.toolVersions,
		Repositories:   p.repositories,
		Layers:         p.layers,
		Pulls:          p.pulls,
		Runs:           p.runs,
		Insights:       p.insights,
		Policies:       p.policies,
		Live:           p.live,
		Quota:          p.keeper,
		Databases:      p.databases(),
		Standing:       countStanding(p.database, time.Now),
		Upkeep:         upkeepOf(settings),
		Traces:         p.traces,
		Verifier:       p.verifier,
		Site:           links.Site(settings.Server.PublicURL),
		Sessions:       p.sessions,
		Issuer:         p.issuer,
		KeyEdits:       p.keyEdits(),
		KeyUses:        usesOf(p.uses),
		Dialects:       settings.State.Dialects,
		Aliases:        p.watcher,
		Keys:           p.watcher,
		AuthStale:      p.authStale,
		Nobody:         func() bool { return len(p.watcher.Organizations()) == 0 },
		Log:            log,
		Now:            time.Now,
		Version:        program.Version,
		Page:           web.Page(),
		PageFolder:     settings.Page.Folder(),
		MaxStateBytes:  settings.State.MaxBytes,
		TrustedProxies: settings.Server.TrustedProxies,
		Limits:         limitsOf(settings, connections.Limits(), p.memory),
		Connections:    connections,
		Notices:        noticeCounts(p.notifier),
		Doors:          p.doors,
		Stopping:       ctx.Done(),
	})
	if err != nil {
		return err
	}
	server := newServer(settings.Server, p.moves.before(router), log)
	server.TLSConfig = p.tls
	server.ConnState = connections.Track
	if err := p.startExecutor(ctx, listener.Addr()); err != nil {
		return err
	}
	return serveUntil(ctx, connections.Listen(listener), server, settings.Server, log)
}

// executorRequests is how many times as much those may ask for who execute an organization's runs:
// they send what tools print as it comes.
const executorRequests = 20

// limitsOf leaves a quarter of the connections to those who come to ask for something.
func limitsOf(all configs.Settings, connections middleware.ConnectionLimits, memory *budget.Budget) middleware.Limits {
	settings := all.Limits
	return middleware.Limits{
		Requests:  settings.RateLimit,
		States:    settings.StateRateLimit,
		Saved:     settings.StateRateSaved,
		Executors: executorRequests * settings.StateRateLimit,
		Nodes:     all.Nodes.Count,
		Patience:  settings.RateWait,
		InFlight:  settings.MaxInFlight,
		Begun:     connections.Total * 3 / 4,
		Memory:    memory,
		Pace:      middleware.Pace{Silence: settings.MaxSilence, MinRate: settings.MinRate, Answer: settings.MaxAnswerTime},
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
func serveUntil(ctx context.Context, listener net.Listener, server *http.Server, settings configs.Server,
	log *slog.Logger) error {
	ended := make(chan error, 1)
	go func() { ended <- serveOn(server, listener, settings.EnableTLS) }()
	sayListening(ctx, listener.Addr(), settings.EnableTLS, log)
	tellManager(daemon.SdNotifyReady, log)

	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	tellManager(daemon.SdNotifyStopping, log)
	log.Info("stopping: finishing the requests that have begun", "at_most", settings.ShutdownTimeout.String())
	return drain(server, settings.ShutdownTimeout)
}

func sayListening(ctx context.Context, listening net.Addr, withTLS bool, log *slog.Logger) {
	at, err := ownAddress(listening)
	if err != nil { // a socket that has no port
		log.InfoContext(ctx, "listening", "address", listening.String())
		return
	}
	log.InfoContext(ctx, "listening", "address", listening.String(), "url", urlOf(at, withTLS))
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
