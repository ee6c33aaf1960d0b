// Package logctx lets a context carry log attributes, so that every line written while
// a request is served has its request ID, organization and state.
package logctx

import (
	"context"
	"log/slog"
	"sync"
)

// Key is the key under which a context has its *Attrs.
type Key struct{}

// Attrs are the attributes of a context's log lines. The zero Attrs has none. It is safe
// for concurrent use: what works for a request on another goroutine may log meanwhile.
type Attrs struct {
	mu    sync.Mutex
	attrs []slog.Attr
	first [usual]slog.Attr // room for what nearly all requests have
}

// usual is how many attributes a request has: its ID, organization and state.
const usual = 3

// Add has every further line carry these too.
func (a *Attrs) Add(attrs ...slog.Attr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.attrs == nil {
		a.attrs = a.first[:0]
	}
	a.attrs = append(a.attrs, attrs...)
}

// get returns what there is now. It never changes: Add writes behind it.
func (a *Attrs) get() []slog.Attr {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.attrs
}

// Handler returns a handler that adds the context's attributes to each record and
// passes it on to next.
func Handler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if attrs, ok := ctx.Value(Key{}).(*Attrs); ok {
		r = r.Clone()
		r.AddAttrs(attrs.get()...)
	}
	return h.Handler.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name)}
}
