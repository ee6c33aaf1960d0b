package main

import (
	"context"
	"log/slog"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/configs"
)

// openKeys reads the auth file and follows its changes until the watcher is closed.
func openKeys(ctx context.Context, settings configs.Auth, tokens auth.TokenVerifier, log *slog.Logger) (*auth.Verifier, *auth.Watcher, error) {
	verifier, err := auth.NewVerifier(auth.VerifierConfig{
		Logger:            log,
		Remember:          settings.CacheTTL,
		RememberKeys:      settings.CacheEntries,
		FailuresPerMinute: settings.FailuresPerMinute,
		Tokens:            tokens,
	})
	if err != nil {
		return nil, nil, err
	}
	watcher, err := auth.Watch(ctx, auth.WatchConfig{Path: settings.File, Verifier: verifier, Logger: log})
	return verifier, watcher, err
}
