package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/lastuse"
	"github.com/holdfast/holdfast/auth/verify"
	"github.com/holdfast/holdfast/configs"
)

// noting is a verifier that remembers whom it let in, however they proved themselves.
type noting struct {
	*verify.Verifier
	uses *lastuse.Tracker // nil for a server that keeps nothing
}

// noteUses puts the record of last uses beside the stores.
func noteUses(ctx context.Context, verifier *verify.Verifier, settings configs.Settings, log *slog.Logger) noting {
	n := noting{Verifier: verifier}
	if settings.State.Storage != configs.Memory || settings.Storage.Type != configs.Memory {
		n.uses = lastuse.Open(ctx, lastuse.Config{
			Path: lastUsePath(settings), Known: verifier.Keyring, Logger: log, Now: time.Now,
		})
	}
	return n
}

func lastUsePath(settings configs.Settings) string {
	return filepath.Join(settings.Storage.Path, lastuse.FileName)
}

func (n noting) Verify(ctx context.Context, credentials auth.Credentials, client auth.Client) (auth.Principal, error) {
	return n.note(n.Verifier.Verify(ctx, credentials, client))
}

func (n noting) VerifyCertificate(ctx context.Context, shown auth.Certificate, client auth.Client) (auth.Principal, error) {
	return n.note(n.Verifier.VerifyCertificate(ctx, shown, client))
}

func (n noting) note(principal auth.Principal, err error) (auth.Principal, error) {
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
