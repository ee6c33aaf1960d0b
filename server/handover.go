package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

const (
	// drainFor is how long requests have to end before those that may last are told to, and then how
	// long all of them have.
	drainFor = 3 * time.Second
	// retrySoon is what callers are told, in seconds, while nobody answers at the other end.
	retrySoon = "2"
)

// handover stands before all requests. It can have them wait, and then go on here, or elsewhere: what
// this server keeps was moved to other ones meanwhile.
type handover struct {
	log *slog.Logger

	mu     sync.Mutex
	closed chan struct{}              // while requests wait; closed when they no longer do
	going  map[int]context.CancelFunc // requests that have begun
	next   int
	ended  chan struct{} // gets something whenever a request ends
	to     http.Handler  // where requests go; nil for here
}

func newHandover(log *slog.Logger) *handover {
	return &handover{log: log, going: map[int]context.CancelFunc{}, ended: make(chan struct{}, 1)}
}

// before puts it before a handler.
func (h *handover) before(here http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, leave, to, err := h.enter(r.Context())
		if err != nil {
			return // who asked is gone
		}
		if to != nil {
			to.ServeHTTP(w, r)
			return
		}
		defer leave()
		here.ServeHTTP(w, r.WithContext(ctx))
	})
}

// enter waits while requests have to.
func (h *handover) enter(ctx context.Context) (_ context.Context, leave func(), to http.Handler, err error) {
	for {
		h.mu.Lock()
		if h.to != nil {
			defer h.mu.Unlock()
			return ctx, nil, h.to, nil
		}
		closed := h.closed
		if closed == nil {
			break
		}
		h.mu.Unlock()
		select {
		case <-closed:
		case <-ctx.Done():
			return nil, nil, nil, ctx.Err()
		}
	}
	defer h.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	id := h.next
	h.next++
	h.going[id] = cancel
	return ctx, func() { h.left(id) }, nil, nil
}

func (h *handover) left(id int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.going[id]()
	delete(h.going, id)
	select {
	case h.ended <- struct{}{}:
	default:
	}
}

// hold has requests wait that come from now on, and returns when none is under way. Those that last, as
// who follows a log has them, are broken off after a while: their clients ask again.
func (h *handover) hold(ctx context.Context) error {
	h.mu.Lock()
	if h.closed != nil || h.to != nil {
		h.mu.Unlock()
		return errors.New("another move is under way, or was finished")
	}
	h.closed = make(chan struct{})
	h.mu.Unlock()
	if !h.drained(ctx) {
		h.mu.Lock()
		for _, cancel := range h.going {
			cancel()
		}
		h.mu.Unlock()
		if !h.drained(ctx) {
			h.release(nil)
			return errors.New("some requests don't come to an end; nothing was changed")
		}
	}
	return nil
}

// drained reports whether no request is under way, in time.
func (h *handover) drained(ctx context.Context) bool {
	late := time.NewTimer(drainFor)
	defer late.Stop()
	for {
		h.mu.Lock()
		none := len(h.going) == 0
		h.mu.Unlock()
		if none {
			return true
		}
		select {
		case <-h.ended:
		case <-late.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// release lets requests go on: here, or to a handler.
func (h *handover) release(to http.Handler) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.to = to
	if h.closed != nil {
		close(h.closed)
		h.closed = nil
	}
}

// relay sends requests on to a server.
func relay(to *url.URL, log *slog.Logger) http.Handler {
	return &httputil.ReverseProxy{
		FlushInterval: -1, // what is followed comes at once
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
			r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
			r.SetXForwarded()
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			log.WarnContext(r.Context(), "a request can't be sent on to where all was moved", "to", to.Redacted(), "error", err)
			w.Header().Set("Retry-After", retrySoon)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, `{"status":"error","code":"store_unavailable",`+
				`"message":"what this server kept was moved, and nobody answers there; try again"}`)
		},
	}
}

// freezeAll has everything wait that is written, whoever writes it.
func freezeAll(ctx context.Context, stores []sqlitedb.Freezer) (thaw func(), err error) {
	var thaws []func()
	thaw = func() {
		for _, one := range thaws {
			one()
		}
	}
	for _, store := range stores {
		one, err := store.Freeze(ctx)
		if err != nil {
			thaw()
			return nil, err
		}
		thaws = append(thaws, one)
	}
	return thaw, nil
}
