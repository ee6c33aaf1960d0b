package server

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/auth/keys"
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

// confirmKeys lets commands that change the auth file wait until this server has taken it. Without
// a folder of data there is nothing to write that into, and nobody who would find it.
func confirmKeys(ctx context.Context, watcher *authfile.Watcher, settings configs.Settings, log *slog.Logger) io.Closer {
	if keepsNothing(settings) {
		return io.NopCloser(nil)
	}
	receipt, err := authfile.OpenReceipt(ctx, ReceiptPath(settings))
	if err != nil {
		log.WarnContext(ctx, "commands that change the auth file can't wait for this server", "error", err)
		return io.NopCloser(nil)
	}
	watcher.Confirm(func(digest string) {
		if err := receipt.Write(digest); err != nil {
			log.Warn("commands that change the auth file wait in vain for this server", "error", err)
		}
	})
	return confirmed{watcher, receipt}
}

// confirmed is a watcher that writes a receipt.
type confirmed struct {
	watcher *authfile.Watcher
	receipt *authfile.Receipt
}

// Close ends that. The watcher goes on.
func (c confirmed) Close() error {
	c.watcher.Confirm(func(string) {})
	return c.receipt.Close()
}

// ReceiptPath is where a server with these settings says which auth file it has taken.
func ReceiptPath(settings configs.Settings) string {
	return filepath.Join(settings.Storage.Path, authfile.ReceiptName)
}

// keyEdits edits keys for those who ask the server to.
func (p *parts) keyEdits() *keys.Service {
	path := p.settings.Auth.File
	return keys.NewService(keys.Deps{
		Edit: func(ctx context.Context, change func(*authfile.Document) error) error {
			return authfile.Edit(ctx, path, change)
		},
		Take: p.watcher.Reload, InForce: p.verifier.Keyring, Gate: p.gate, Audit: p.states, Now: time.Now,
	})
}
