package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/middleware"
)

// noting is a verifier that remembers whom it let in, however they proved themselves.
type noting struct {
	middleware.Verifier
	uses *auth.LastUse // nil for a server that keeps nothing
}

// noteUses puts the record of last uses beside the stores.
func noteUses(ctx context.Context, verifier *auth.Verifier, settings configs.Settings, log *slog.Logger) noting {
	n := noting{Verifier: verifier}
	if settings.State.Storage != configs.Memory || settings.Storage.Type != configs.Memory {
		n.uses = auth.OpenLastUse(ctx, auth.LastUseConfig{
			Path: lastUsePath(settings), Known: verifier.Keyring, Logger: log, Now: time.Now,
		})
	}
	return n
}

func lastUsePath(settings configs.Settings) string {
	return filepath.Join(settings.Storage.Path, auth.LastUseFile)
}

func (n noting) Verify(ctx context.Context, credentials auth.Credentials, client auth.Client) (auth.Principal, error) {
	principal, err := n.Verifier.Verify(ctx, credentials, client)
	if err == nil && n.uses != nil {
		n.uses.Note(principal)
	}
	return principal, err
}

func (n noting) Close() error {
	if n.uses == nil {
		return nil
	}
	return n.uses.Close()
}
