package heads

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Sink is where heads go. It has all of them, or an error: then they come again, with newer ones in their place.
type Sink interface {
	Send(ctx context.Context, lines [][]byte) error
}

// Publisher sends the heads of chains that have grown. One caller at a time uses it.
type Publisher struct {
	Log   audit.Chained
	Orgs  func() []uuid.UUID
	Key   ed25519.PrivateKey
	Sinks []Sink
	Now   func() time.Time

	sent []map[uuid.UUID]string // by sink: the heads that it has
}

// Publish sends each sink what it has not had yet. What fails for one organization or sink keeps no other waiting.
func (p *Publisher) Publish(ctx context.Context) error {
	var heads []Head
	var errs []error
	for _, org := range p.Orgs() {
		chain, _, err := p.Log.Chain(ctx, org, 0, 1)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			errs = append(errs, fmt.Errorf("read the end of the audit log of %v: %w", org, err))
		case chain.Place > 0:
			heads = append(heads, Sign(p.Key, org, chain, p.Now()))
		}
	}
	for len(p.sent) < len(p.Sinks) {
		p.sent = append(p.sent, map[uuid.UUID]string{})
	}
	for i, sink := range p.Sinks {
		if err := sendNew(ctx, sink, p.sent[i], heads); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// piece is how many heads are sent at once.
const piece = 500

func sendNew(ctx context.Context, to Sink, sent map[uuid.UUID]string, heads []Head) error {
	var fresh []Head
	for _, h := range heads {
		if sent[h.Org] != h.Head {
			fresh = append(fresh, h)
		}
	}
	for len(fresh) > 0 {
		some := fresh[:min(piece, len(fresh))]
		lines := make([][]byte, len(some))
		for i, h := range some {
			lines[i] = h.Line()
		}
		if err := to.Send(ctx, lines); err != nil {
			return err
		}
		for _, h := range some {
			sent[h.Org] = h.Head
		}
		fresh = fresh[len(some):]
	}
	return nil
}
