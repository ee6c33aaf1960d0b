package server

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/heads"
	"github.com/holdfast/holdfast/internal/signingkey"
)

// startHeads has the heads of the audit log signed and sent, where the settings say where to.
func (p *parts) startHeads(ctx context.Context) error {
	sinks, err := p.headSinks()
	if err != nil || len(sinks) == 0 {
		return err
	}
	log, ok := p.states.(audit.Chained)
	if !ok {
		return nil
	}
	key, err := signingkey.Open(p.settings.AuditKeyPath())
	if err != nil {
		return fmt.Errorf("audit.key_file: %w", err)
	}
	p.log.InfoContext(ctx, "heads of the audit log are signed and sent", "every", p.settings.Audit.HeadEvery.String(),
		"signer", signingkey.Fingerprint(key.Public().(ed25519.PublicKey)))
	publisher := &heads.Publisher{Log: log, Orgs: p.watcher.Organizations, Key: key, Sinks: sinks, Now: time.Now}
	p.closers = append(p.closers, repeat(ctx, 0, p.settings.Audit.HeadEvery, publisher.Publish, func(err error) {
		p.log.ErrorContext(ctx, "not all heads of the audit log could be sent; they are next time", "error", err)
	}))
	return nil
}

func (p *parts) headSinks() (all []heads.Sink, err error) {
	s := p.settings.Audit
	if s.HeadFile != "" {
		all = append(all, heads.File(s.HeadFile))
	}
	if s.HeadSyslog != "" {
		to, err := heads.NewSyslog(s.HeadSyslog)
		if err != nil {
			return nil, fmt.Errorf("audit.head_syslog %w", err)
		}
		all = append(all, to)
	}
	if at := s.HeadWebhook.Reveal(); at != "" {
		all = append(all, heads.NewWebhook(at))
	}
	return all, nil
}
