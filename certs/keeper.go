package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"time"
)

// Files names PEM files.
type Files struct {
	Cert string // the server's certificate, followed by its intermediates
	Key  string // its private key
	// ClientCA has the authorities whose certificates clients may show; empty asks clients
	// for none.
	ClientCA string
}

// Keeper has what was good last in the files.
type Keeper struct {
	pair        *followed[tls.Certificate]
	authorities *followed[x509.CertPool] // nil when clients are asked for nothing
	log         *slog.Logger
	now         func() time.Time
}

// Open reads the files. It fails when one can't be read or makes no sense.
func Open(ctx context.Context, files Files, log *slog.Logger, now func() time.Time) (*Keeper, error) {
	k := &Keeper{
		pair: &followed[tls.Certificate]{paths: []string{files.Cert, files.Key}, parse: parsePair},
		log:  log, now: now,
	}
	if err := k.pair.open(); err != nil {
		return nil, err
	}
	if files.ClientCA != "" {
		k.authorities = &followed[x509.CertPool]{paths: []string{files.ClientCA}, parse: parseAuthorities}
		if err := k.authorities.open(); err != nil {
			return nil, err
		}
	}
	k.logPair(ctx)
	return k, nil
}

// Follow looks at the files at each tick until ctx ends. It takes two looks to take what
// has changed.
func (k *Keeper) Follow(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			k.look(ctx)
		}
	}
}

// look has a fault of one kind of files not keep the other from being renewed.
func (k *Keeper) look(ctx context.Context) {
	switch changed, err := k.pair.look(); {
	case err != nil:
		k.log.ErrorContext(ctx, "the certificate can't be used; what was in force before stays", "error", err.Error())
	case changed:
		k.logPair(ctx)
	}
	if k.authorities == nil {
		return
	}
	switch changed, err := k.authorities.look(); {
	case err != nil:
		k.log.ErrorContext(ctx, "the client authorities can't be used; what was in force before stays", "error", err.Error())
	case changed:
		k.log.InfoContext(ctx, "client authorities loaded", "file", k.authorities.paths[0])
	}
}

// logPair warns of a certificate that is out of date. It is used all the same: clients
// decide what they trust, and the clock here may be the one that is wrong.
func (k *Keeper) logPair(ctx context.Context) {
	expires := k.pair.value.Load().Leaf.NotAfter
	level, message := slog.LevelInfo, "certificate loaded"
	if k.now().After(expires) {
		level, message = slog.LevelWarn, "certificate loaded, but it has expired"
	}
	k.log.LogAttrs(ctx, level, message, slog.String("file", k.pair.paths[0]), slog.Time("expires", expires))
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
	if k.authorities != nil {
		base.ClientAuth = tls.VerifyClientCertIfGiven
	}
	config := base.Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return k.current(base), nil }
	return config
}

func (k *Keeper) current(base *tls.Config) *tls.Config {
	config := base.Clone()
	config.Certificates = []tls.Certificate{*k.pair.value.Load()}
	if k.authorities != nil {
		config.ClientCAs = k.authorities.value.Load()
	}
	return config
}
