package authfile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// askPatience bounds each look at the database.
const askPatience = 5 * time.Second

// poll follows the revisions of a database. What can't be taken is logged, once for each reason,
// and what was in force before stays; so it does while the database is away.
type poll struct {
	from  Revisions
	name  string
	take  func(context.Context, Revision) error
	every time.Duration
	log   *slog.Logger

	stop context.CancelFunc
	done chan struct{} // nil until Start

	looking sync.Mutex
	seen    uint64 // the newest revision that was given to take
	digest  string // of its text
	verdict error  // of take on that

	mu    sync.Mutex
	said  string    // the trouble there is
	asked time.Time // when the last look began that the database has answered
}

// Start follows them until ctx ends or Close.
func (p *poll) Start(ctx context.Context) {
	ctx, p.stop = context.WithCancel(ctx)
	p.done = make(chan struct{})
	go p.run(ctx)
}

func (p *poll) run(ctx context.Context) {
	defer close(p.done)
	ticker := time.NewTicker(p.every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.note(ctx, p.look(ctx, false))
		}
	}
}

// Close stops following and waits until that is so. What is in force stays.
func (p *poll) Close() error {
	if p.done != nil {
		p.stop()
		<-p.done
	}
	return nil
}

// Reload takes the newest revision, whether or not it is a new one. An error is logged as well.
func (p *poll) Reload(ctx context.Context) error {
	err := p.look(ctx, true)
	p.note(ctx, err)
	return err
}

func (p *poll) look(ctx context.Context, again bool) error {
	p.looking.Lock()
	defer p.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	began := time.Now()
	if !again {
		number, digest, err := p.from.Tip(ctx)
		if err != nil {
			return fmt.Errorf("%s can't be asked for a newer auth.cfg: %w", p.name, err)
		}
		if number == p.seen && digest == p.digest {
			p.answered(began)
			return p.verdict
		}
	}
	newest, err := p.from.Newest(ctx)
	switch {
	case errors.Is(err, ErrUnproven):
		p.answered(began) // what was in force is the newest that anybody may believe
		return err
	case err != nil:
		return fmt.Errorf("%s can't be asked for a newer auth.cfg: %w", p.name, err)
	case newest.Number == 0:
		return ErrNoRevision
	}
	defer p.answered(began) // once it is in force
	digest := digestOf([]byte(newest.Text))
	if newest.Number < p.seen || newest.Number == p.seen && digest != p.digest {
		// A database that was restored, or a replica that lacked the last writes. All nodes
		// have to agree, so what it says counts; keys that were revoked may be back by that.
		p.log.ErrorContext(ctx, "the database has lost revisions of auth.cfg that were in force here; edits since then "+
			"have to be made again",
			slog.Uint64("had", p.seen), slog.String("digest", p.digest), slog.Uint64("has", newest.Number),
			slog.String("its_digest", digest))
	}
	p.seen, p.digest, p.verdict = newest.Number, digest, p.take(ctx, newest)
	if p.verdict != nil {
		p.verdict = fmt.Errorf("revision %d of auth.cfg can't be used: %w", newest.Number, p.verdict)
	}
	return p.verdict
}

// answered notes that the database has said what counts, at a moment after began.
func (p *poll) answered(began time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = began
}

// unconfirmed implements followed, by both clocks: one stands still while the machine sleeps.
func (p *poll) unconfirmed() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	return max(now.Sub(p.asked), now.Round(0).Sub(p.asked.Round(0)))
}

// note logs why the newest revision may not be in force, once for each reason.
func (p *poll) note(ctx context.Context, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	had := p.said
	if p.said = ""; err != nil && ctx.Err() == nil {
		p.said = err.Error()
	}
	if p.said != had && p.said != "" {
		p.log.ErrorContext(ctx, "the newest auth.cfg can't be used; what was in force before stays",
			slog.String("from", p.name), slog.String("error", p.said))
	}
	if p.said == "" && had != "" {
		p.log.InfoContext(ctx, "the newest auth.cfg is in force again", slog.String("from", p.name))
	}
}

// trouble tells whoever asks for a probe that there is some: what it is, the log says.
func (p *poll) trouble() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.said == "" {
		return ""
	}
	return "the newest auth.cfg can't be read or used here, the log says why; what was in force before stays"
}
