// Package logctx lets a context carry log attributes, so that every line written while
// a request is served has its request ID, organization and state.
package logctx

import (
	"context"
	"log/slog"
	"slices"
)

type key struct{}

// With returns a context whose log lines also carry attrs.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	have, _ := ctx.Value(key{}).([]slog.Attr)
	return context.WithValue(ctx, key{}, append(slices.Clip(have), attrs...))
}

// Handler returns a handler that adds the context's attributes to each record and
// passes it on to next.
func Handler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if attrs, ok := ctx.Value(key{}).([]slog.Attr); ok {
		r = r.Clone()
		r.AddAttrs(attrs...)
	}
	return h.Handler.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name)}
}
