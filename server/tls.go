package server

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/certs"
)

// openTLS returns what a server with TLS needs; nil without TLS. Its certificate and its
// client authorities follow their files until ctx ends.
func openTLS(ctx context.Context, settings configs.Server, log *slog.Logger) (*tls.Config, error) {
	if !settings.EnableTLS {
		if settings.AllowPlaintext {
			log.WarnContext(ctx, "serving without TLS, because allow_plaintext is set: whoever is on the way can read "+
				"keys and states")
		}
		return nil, nil
	}
	files := certs.Files{Cert: settings.TLSCertFile, Key: settings.TLSKeyFile, ClientCA: settings.ClientCAFile}
	keeper, err := certs.Open(ctx, files, log, time.Now)
	if err != nil {
		return nil, err
	}
	keeper.Follow(ctx)
	return keeper.Config(), nil
}
