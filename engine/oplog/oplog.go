// Package oplog gives each operation of the engine an ID, which stands in every line of its log and in what it asks
// others.
package oplog

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
)

// The names of the attributes that lines have of their operation and of the part of the engine that writes them.
const (
	IDKey     = "correlation_id"
	LoggerKey = "logger"
)

// idLength is how many characters an ID has.
const idLength = 8

type key struct{}

// operation is what a context has of its operation.
type operation struct {
	id  string
	log *slog.Logger
}

// Begin returns a context for an operation, with an ID of its own and the log of its lines; nil is none. A context
// that belongs to an operation already stays in it.
func Begin(ctx context.Context, log *slog.Logger) context.Context {
	if ID(ctx) != "" {
		return ctx
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	id := strings.ToLower(rand.Text()[:idLength])
	return context.WithValue(ctx, key{}, &operation{id: id, log: log.With(IDKey, id)})
}

// ID is the context's operation's, empty if it belongs to none.
func ID(ctx context.Context) string {
	if o, ok := ctx.Value(key{}).(*operation); ok {
		return o.id
	}
	return ""
}

// From is the log of the context's operation for a part of the engine. Nothing comes of it without an operation.
func From(ctx context.Context, part string) *slog.Logger {
	o, ok := ctx.Value(key{}).(*operation)
	if !ok {
		return slog.New(slog.DiscardHandler)
	}
	return o.log.With(LoggerKey, "engine."+part)
}
