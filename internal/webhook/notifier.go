// Package webhook tells organizations, at an address of their own, what happened to their
// states that a person should look at: findings of guards, writes that were held, locks
// that were taken over or forced open, and that they have most of what they may have stored;
// or whatever else of the audit log they ask for.
//
// It follows the audit log, which has each event in the transaction of the change that it tells
// of, and keeps in an [Outbox] how far it has read and what waits. So what happened is told at
// least once, though the process dies at any moment or the receiver is away for days; a notice has
// an ID to tell doubles by. What waits is bounded in number, bytes and age: what is dropped is
// counted, and stands in the log and in the audit log. Nothing waits for a notice. What a
// [Notifier] costs grows with the notices that wait, not with the number of organizations.
package webhook

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/netip"
	"time"

	"github.com/holdfast/holdfast/audit"
)

// Source is the audit log of all organizations. state.Store is one.
type Source interface {
	Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error)
	Record(ctx context.Context, event audit.Event) error
}

// Config is what a Notifier needs to know.
type Config struct {
	Source    Source
	Outbox    Outbox
	Turn      Turn // nil where no other node has the outbox
	Receivers Receivers
	// Public is the address at which people reach the server, for links; may be empty.
	Public string
	// Networks are those of this machine, or private ones, that notices may go to; others are refused.
	Networks []netip.Prefix
	// Roots are the authorities that receivers' certificates are signed by; nil for the system's.
	Roots *x509.CertPool
	Log   *slog.Logger
}

// Notifier turns events into notices. Follow alone uses what is in it, counts apart.
type Notifier struct {
	source    Source
	outbox    Outbox
	turn      Turn
	resting   bool // it is another node's turn
	receivers Receivers
	sender    *sender
	log       *slog.Logger
	last      uint64 // the event that was read last
	saved     uint64 // the position that the outbox has
	begun     bool   // last is known

	backlog *backlog
	ended   chan attempt // has room for all that may be under way
	orders  chan *shredding
	counts  counts
}

const (
	// page is how many events are read at once.
	page = 200
	// saveEvery is how many events may have to be read again after a crash, though none was told.
	saveEvery = 10_000
)

// New returns a follower that has not begun.
func New(c Config) *Notifier {
	return &Notifier{
		source: c.Source, outbox: c.Outbox, turn: c.Turn, receivers: c.Receivers, log: c.Log,
		sender: newSender(c.Receivers, c.Public, c.Networks, c.Roots), backlog: newBacklog(),
		ended: make(chan attempt, posting), orders: make(chan *shredding),
	}
}

// Follow sends notices until ctx ends. It looks for events at once and then at each tick.
// When ctx ends it looks a last time, gives what waits one more try for as long as grace says
// then, and returns: what was not delivered stays in the outbox.
func (f *Notifier) Follow(ctx context.Context, ticks <-chan time.Time, grace func() time.Duration) {
	trying, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	timer := time.NewTimer(0)
	defer timer.Stop()
	f.read(ctx)
	for ctx.Err() == nil {
		timer.Reset(f.start(trying))
		select {
		case <-ctx.Done():
		case <-ticks:
			f.read(ctx)
		case a := <-f.ended:
			f.end(a)
		case order := <-f.orders:
			f.shred(order)
		case <-timer.C:
		}
	}
	over := time.AfterFunc(grace(), giveUp)
	defer over.Stop()
	f.read(trying)
	f.finish(trying)
	f.save(context.WithoutCancel(ctx))
	f.leave(context.WithoutCancel(ctx))
}

// read is step with a line in the log for its error.
func (f *Notifier) read(ctx context.Context) {
	if err := f.step(ctx); err != nil && ctx.Err() == nil {
		f.log.WarnContext(ctx, "the audit log can't be followed for notices; trying again", "error", err)
	}
	f.count()
}

// Begin takes up what waits, and where the audit log was read to: to its end for an outbox that
// is new, as what happened before is no news. Follow does it too, but only when it runs.
func (f *Notifier) Begin(ctx context.Context) error {
	if mine, err := f.isMine(ctx); !mine || err != nil {
		return err
	}
	return f.begin(ctx)
}

func (f *Notifier) begin(ctx context.Context) error {
	position, known, waiting, err := f.outbox.Load(ctx)
	if err != nil {
		return err
	}
	end, err := endOf(ctx, f.source)
	if err != nil {
		return err
	}
	if !known || position > end { // of a log that was restored from a backup, which is shorter
		position = end
	}
	if err := f.outbox.Keep(ctx, position, nil); err != nil {
		return err
	}
	for _, event := range waiting {
		f.backlog.add(event)
	}
	f.last, f.saved, f.begun = position, position, true
	return nil
}

// step reads what is new.
func (f *Notifier) step(ctx context.Context) error {
	if mine, err := f.isMine(ctx); !mine || err != nil {
		return err
	}
	if !f.begun {
		return f.begin(ctx)
	}
	for {
		events, err := f.source.Feed(ctx, f.last, page)
		if err != nil || len(events) == 0 {
			return err
		}
		if err := f.take(ctx, events); err != nil {
			return err // and read the same again
		}
		if len(events) < page {
			return nil
		}
	}
}

// take has the outbox keep what is to be told of a page of events, and then goes on behind them.
func (f *Notifier) take(ctx context.Context, events []audit.Event) error {
	var kept, refused []audit.Event
	room := f.backlog.room()
	for _, event := range events {
		receiver, some := f.receivers.Receiver(event.Org)
		switch {
		case !some || !receiver.Wants.Wants(event):
		case room.take(event):
			kept = append(kept, event)
		default:
			refused = append(refused, event)
		}
	}
	last := events[len(events)-1].Sequence
	if len(kept)+len(refused) > 0 || last-f.saved >= saveEvery {
		if err := f.outbox.Keep(ctx, last, kept); err != nil {
			return err
		}
		f.saved = last
	}
	f.last = last
	for _, event := range kept {
		f.backlog.add(event)
	}
	for _, event := range refused {
		f.backlog.lose(event)
	}
	return nil
}

// save keeps the position at a stop, so that the next start need not read again what was no news.
func (f *Notifier) save(ctx context.Context) {
	if !f.begun || f.last == f.saved {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	if err := f.outbox.Keep(ctx, f.last, nil); err != nil {
		f.log.WarnContext(ctx, "how far notices have come was not kept; the next start looks again", "error", err)
	}
}

// endOf returns the Sequence of the newest event, which the source does not tell: it is found
// by asking whether there are any above a number, some twice as often as that has digits.
func endOf(ctx context.Context, source Source) (uint64, error) {
	above := func(n uint64) (bool, error) {
		events, err := source.Feed(ctx, n, 1)
		return len(events) > 0, err
	}
	low, high := uint64(0), uint64(0) // there are events above low, unless it is 0
	for {
		more, err := above(high)
		if err != nil {
			return 0, err
		}
		if !more {
			break
		}
		low, high = high, high*2+1
	}
	for high > low+1 {
		middle := low + (high-low)/2
		more, err := above(middle)
		if err != nil {
			return 0, err
		}
		if more {
			low = middle
		} else {
			high = middle
		}
	}
	return high, nil
}
