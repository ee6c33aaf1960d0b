package server

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/lastuse"
	"github.com/holdfast/holdfast/auth/verify"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/shred"
)

// keyUses knows when keys were used.
type keyUses interface {
	io.Closer
	shred.Store
	Of(org uuid.UUID, id string) (lastuse.Use, bool)
}

type noUses struct{ io.Closer }

// Shred implements shred.Store.
func (noUses) Shred(context.Context, uuid.UUID, int) (int, error) { return 0, nil }

// Of implements keyUses.
func (noUses) Of(uuid.UUID, string) (lastuse.Use, bool) { return lastuse.Use{}, false }

// usesOf says when a key was used, as handlers ask it.
func usesOf(uses keyUses) handlers.KeyUses {
	return func(org uuid.UUID, id string) (time.Time, string) {
		use, _ := uses.Of(org, id)
		return use.At, use.From
	}
}

// trackUses writes beside the stores whom the verifier lets in, until it is closed. A
// server that keeps nothing writes nothing.
func trackUses(ctx context.Context, verifier *verify.Verifier, settings configs.Settings, shared lastuse.Shared,
	log *slog.Logger) keyUses {
	if keepsNothing(settings) && shared == nil {
		return noUses{io.NopCloser(nil)}
	}
	tracker := lastuse.Open(ctx, lastuse.Config{
		Path: LastUsePath(settings), Shared: shared, Known: verifier.Keyring, Logger: log, Now: time.Now,
	})
	verifier.Tell(tracker.Note)
	return tracker
}

// sharedUses is where nodes write together when keys were used: where they have auth.cfg from. Nil
// where each has a file of its own.
func (p *parts) sharedUses() lastuse.Shared {
	if p.settings.Auth.Source != configs.AuthDatabase {
		return nil
	}
	return p.shared
}

// LastUsePath is where a server with these settings keeps when keys were used.
func LastUsePath(settings configs.Settings) string {
	return filepath.Join(settings.Storage.Path, lastuse.FileName)
}

func keepsNothing(settings configs.Settings) bool {
	return settings.State.Storage == configs.Memory && settings.Storage.Type == configs.Memory
}
