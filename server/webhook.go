package server

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/outbound"
	"github.com/holdfast/holdfast/internal/webhook"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/notices"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

const (
	// lookForNotices is how often the audit log is looked at for what to tell.
	lookForNotices = time.Second
	// leastGrace is how long what waits may be tried at a stop, whatever the requests left.
	leastGrace = time.Second
)

// notified are the receivers of notices that the auth file names.
type notified struct{ watcher *authfile.Watcher }

// Receiver implements webhook.Receivers.
func (n notified) Receiver(org uuid.UUID) (webhook.Receiver, bool) {
	to, name, some := n.watcher.Notify(org)
	return webhook.Receiver{
		URL: to.URL, Secret: to.Secret, HeaderName: to.HeaderName, HeaderValue: to.HeaderValue, Wants: to.Wants, Name: name,
	}, some
}

// startNotices sends notices in the background until the parts are closed. What waits is kept
// beside the states, or in memory where they are.
func (p *parts) startNotices(ctx context.Context) error {
	box, err := p.openNotices(ctx)
	if err != nil {
		return err
	}
	roots, err := outbound.Roots(p.settings.Repositories.CAFile)
	if err != nil {
		return err
	}
	p.notifier = webhook.New(webhook.Config{
		Source: p.states, Outbox: box, Turn: p.noticeTurn(), Receivers: notified{p.watcher},
		Public: p.settings.Server.PublicURL, Networks: p.settings.Server.NoticeNetworks, Roots: roots,
		Log: p.log,
	})
	p.closers = append(p.closers, notifyRegularly(ctx, p.notifier, p.settings.Server.ShutdownTimeout, p.log))
	return nil
}

// openNotices opens the outbox. A disk that is full keeps nobody from reading states: then the outbox
// is opened when there is room, and what happens until then is told from then on.
func (p *parts) openNotices(ctx context.Context) (webhook.Outbox, error) {
	switch p.settings.State.Storage {
	case configs.Memory:
		return webhook.NewMemoryOutbox(), nil
	case configs.MySQL, configs.Postgres:
		return p.turns, nil
	}
	box := &lateOutbox{open: func(ctx context.Context) (*notices.Folder, error) {
		return storage.OpenNotices(ctx, p.settings, p.log)
	}}
	if err := box.opened(ctx); err != nil && sqlitedb.TroubleOf(err) != sqlitedb.Full {
		return nil, err
	}
	p.closeLater("the outbox of notices", box)
	p.freezers = append(p.freezers, box)
	return box, nil
}

// noticeTurn is whose turn it is among nodes that have one audit log: each event is told by one. Nil
// where this server has its own.
func (p *parts) noticeTurn() webhook.Turn {
	if !configs.OnServer(p.settings.State.Storage) {
		return nil
	}
	return p.turns
}

// lateOutbox is an outbox that is opened when it is first loaded or shredded from, at the latest.
type lateOutbox struct {
	open func(context.Context) (*notices.Folder, error)
	mu   sync.Mutex // while it is opened
	*notices.Folder
}

func (o *lateOutbox) opened(ctx context.Context) (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Folder == nil {
		o.Folder, err = o.open(ctx)
	}
	return err
}

// Load implements webhook.Outbox. A Notifier does nothing with its outbox before it has succeeded.
func (o *lateOutbox) Load(ctx context.Context) (uint64, bool, []audit.Event, error) {
	if err := o.opened(ctx); err != nil {
		return 0, false, nil, err
	}
	return o.Folder.Load(ctx)
}

// Shred implements webhook.Outbox. It may come before Load has succeeded.
func (o *lateOutbox) Shred(ctx context.Context, org uuid.UUID, limit int) (int, error) {
	if err := o.opened(ctx); err != nil {
		return 0, err
	}
	return o.Folder.Shred(ctx, org, limit)
}

// Freeze has what is written to the outbox wait.
func (o *lateOutbox) Freeze(ctx context.Context) (thaw func(), err error) {
	if err := o.opened(ctx); err != nil {
		return nil, err
	}
	return o.Folder.Freeze(ctx)
}

// Close implements io.Closer.
func (o *lateOutbox) Close() error {
	if o.Folder == nil {
		return nil
	}
	return o.Folder.Close()
}

// notifyRegularly sends notices in the background until stop is called: when the requests
// are done, since they too bring some. Then what waits has until shutdown is over, which
// begins when ctx ends, to be delivered, and stays in the outbox else.
func notifyRegularly(ctx context.Context, follower *webhook.Notifier, shutdown time.Duration,
	log *slog.Logger) (stop func()) {
	following, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if err := follower.Begin(ctx); err != nil { // before anything is served; Follow tries again
		log.WarnContext(ctx, "notices can't begin yet; trying again", "error", err)
	}
	var over atomic.Pointer[time.Time]
	forget := context.AfterFunc(ctx, func() { over.Store(new(time.Now().Add(shutdown))) })
	grace := func() time.Duration {
		if at := over.Load(); at != nil {
			return max(time.Until(*at), leastGrace)
		}
		return shutdown
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(lookForNotices)
		defer ticker.Stop()
		follower.Follow(following, ticker.C, grace)
	}()
	return func() {
		forget()
		cancel()
		<-ended
	}
}

// noticeCounts are what the metrics say of notices.
func noticeCounts(n *webhook.Notifier) func() handlers.NoticeCounts {
	return func() handlers.NoticeCounts {
		s := n.Stats()
		return handlers.NoticeCounts{Delivered: s.Delivered, Failed: s.Failed, Dropped: s.Dropped, Waiting: s.Waiting,
			Oldest: s.Oldest}
	}
}
