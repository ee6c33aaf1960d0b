package server

import (
	"context"
	"log/slog"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/auth/verify"
	"github.com/holdfast/holdfast/configs"
)

// openKeys reads the auth file and follows its changes until the watcher is closed.
func openKeys(ctx context.Context, settings configs.Auth, tokens keyring.TokenVerifier, runs verify.RunVerifier, log *slog.Logger) (*verify.Verifier, *authfile.Watcher, error) {
	verifier, err := verify.New(verify.Config{
		Logger:            log,
		Remember:          settings.CacheTTL,
		RememberKeys:      settings.CacheEntries,
		FailuresPerMinute: settings.FailuresPerMinute,
		Tokens:            tokens,
		Runs:              runs,
	})
	if err != nil {
		return nil, nil, err
	}
	watcher, err := authfile.Watch(ctx, authfile.WatchConfig{Path: settings.File, Use: verifier.Use, Logger: log})
	return verifier, watcher, err
}
