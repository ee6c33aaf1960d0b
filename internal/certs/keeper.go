package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/internal/follow"
)

// Files names PEM files.
type Files struct {
	Cert string // the server's certificate, followed by its intermediates
	Key  string // its private key
	// ClientCA has the authorities whose certificates clients may show; empty asks clients
	// for none.
	ClientCA string
}

// interval is how often the files are looked at, and how long they must stay as they are
// before they are taken.
const interval = time.Second

// maxFileSize bounds a file in bytes: some hundred authorities.
const maxFileSize = 1 << 20

// Keeper has what was good last in the files.
type Keeper struct {
	pair        atomic.Pointer[tls.Certificate]
	authorities atomic.Pointer[x509.CertPool] // nil when clients are asked for nothing
	files       []*follow.Follower            // one for each of these, so that a fault of one keeps back only that
	log         *slog.Logger
	now         func() time.Time
}

// Open reads the files. It fails when one can't be read or makes no sense.
func Open(ctx context.Context, files Files, log *slog.Logger, now func() time.Time) (*Keeper, error) {
	k := &Keeper{log: log, now: now}
	err := k.open(ctx, "the certificate", func(ctx context.Context, texts []follow.File) error {
		return k.loadPair(ctx, files, texts)
	}, files.Cert, files.Key)
	if err == nil && files.ClientCA != "" {
		err = k.open(ctx, "the client authorities", func(ctx context.Context, texts []follow.File) error {
			return k.loadAuthorities(ctx, files.ClientCA, texts[0].Text)
		}, files.ClientCA)
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (k *Keeper) open(ctx context.Context, what string, take func(context.Context, []follow.File) error,
	paths ...string) error {
	f, err := follow.Open(ctx, follow.Config{
		What: what, Name: paths[0], Paths: paths, Limit: maxFileSize,
		Take: take, Logger: k.log, Settle: interval, Poll: interval,
	})
	k.files = append(k.files, f)
	return err
}

// Follow keeps what is in force in step with the files until ctx ends.
func (k *Keeper) Follow(ctx context.Context) {
	for _, f := range k.files {
		f.Start(ctx)
	}
}

// loadPair warns of a certificate that is out of date. It is used all the same: clients
// decide what they trust, and the clock here may be the one that is wrong.
func (k *Keeper) loadPair(ctx context.Context, files Files, texts []follow.File) error {
	pair, err := tls.X509KeyPair(texts[0].Text, texts[1].Text)
	if err != nil {
		return fmt.Errorf("%s and %s are no certificate with its key: %w", files.Cert, files.Key, err)
	}
	k.pair.Store(&pair)
	level, message := slog.LevelInfo, "certificate loaded"
	if k.now().After(pair.Leaf.NotAfter) {
		level, message = slog.LevelWarn, "certificate loaded, but it has expired"
	}
	k.log.LogAttrs(ctx, level, message, slog.String("file", files.Cert), slog.Time("expires", pair.Leaf.NotAfter))
	return nil
}

func (k *Keeper) loadAuthorities(ctx context.Context, path string, text []byte) error {
	pool, err := ParseAuthorities(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if k.authorities.Swap(pool) != nil {
		k.log.InfoContext(ctx, "client authorities loaded", "file", path)
	}
	return nil
}

// Config returns what a server that speaks HTTP/2 and HTTP/1.1 needs. Every connection
// begins with what is in force at that moment, and keeps it.
func (k *Keeper) Config() *tls.Config {
	base := &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		// A session that is resumed would go on with what was in force when it began.
		SessionTicketsDisabled: true,
	}
	if k.authorities.Load() != nil {
		base.ClientAuth = tls.VerifyClientCertIfGiven
	}
	config := base.Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return k.current(base), nil }
	return config
}

func (k *Keeper) current(base *tls.Config) *tls.Config {
	config := base.Clone()
	config.Certificates = []tls.Certificate{*k.pair.Load()}
	config.ClientCAs = k.authorities.Load()
	return config
}
