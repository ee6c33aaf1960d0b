package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/runs"
)

// Log is the audit log. A state.Store is one.
type Log interface {
	Events(ctx context.Context, org uuid.UUID, q audit.Query) (audit.Page, error)
}

// Off is a Log in which nothing ever happens.
type Off struct{}

// Events implements Log.
func (Off) Events(context.Context, uuid.UUID, audit.Query) (audit.Page, error) {
	return audit.Page{}, nil
}

// Runs is the order in which runs changed. A runs.Store is one.
type Runs interface {
	Changes(ctx context.Context, org uuid.UUID, after int64, limit int) ([]runs.ChangedRun, error)
	LastChange(ctx context.Context, org uuid.UUID) (int64, error)
}

// Deps is what a Hub stands on. Zero numbers are the usual ones.
type Deps struct {
	Log  Log
	Runs Runs // nil where there are none
	Gate *audit.Gate
	// Poll is how often an organization that somebody follows is looked at though nobody has told
	// that there is more: another node may have changed something.
	Poll time.Duration
	// All, Own and Each are how many may follow at once: of all, of one organization, and with one key.
	All, Own, Each int
	Logger         *slog.Logger
}

// Hub has many follow what happens in their organizations. One that nobody follows costs nothing.
type Hub struct {
	Deps
	places *turns.Turns

	mu    sync.Mutex
	feeds map[uuid.UUID]*feed
}

// NewHub returns a hub.
func NewHub(d Deps) *Hub {
	or := func(n *int, usual int) {
		if *n == 0 {
			*n = usual
		}
	}
	or(&d.All, 1000)
	or(&d.Own, 200)
	or(&d.Each, 20)
	if d.Poll == 0 {
		d.Poll = time.Second
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	return &Hub{Deps: d, places: turns.New(d.All, d.Own), feeds: map[uuid.UUID]*feed{}}
}

// Wake says that something has happened in an organization. It is quick.
func (h *Hub) Wake(org uuid.UUID) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.feeds[org]; f != nil {
		select {
		case f.wake <- struct{}{}:
		default: // it is about to look anyway
		}
	}
}

// rights are those of which a caller needs one to be told of anything.
func rights() []auth.Right {
	return []auth.Right{auth.ReadMetadata, auth.ReadWorkspace, auth.ReadRun, auth.ReadAudit}
}

// Follow has a caller follow their organization, from now on or behind the event with the ID that
// is last. The reader must be closed. Faults: RightMissing, ParameterInvalid for an ID that is
// none, TooManyWaiting.
func (h *Hub) Follow(ctx context.Context, p auth.Principal, last string) (*Reader, error) {
	if err := h.authorize(ctx, p); err != nil {
		return nil, err
	}
	at, given := ParsePosition(last)
	if last != "" && !given {
		return nil, fault.New(fault.ParameterInvalid, "the Last-Event-ID is not one that this server gave")
	}
	release, ok := h.places.TryAcquire(p.Org)
	if !ok {
		return nil, errCrowded("as many follow the organization as may, or the server's places are taken")
	}
	f, err := h.join(p)
	if err != nil {
		release()
		return nil, err
	}
	r := &Reader{feed: f, caller: p, key: keyOf(p)}
	r.close = sync.OnceFunc(func() { h.leave(f, r.key); release() })
	if err := r.begin(ctx, at, given); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// authorize refuses those who would never be told anything.
func (h *Hub) authorize(ctx context.Context, p auth.Principal) error {
	for _, right := range rights() {
		if p.May(right) == nil {
			return nil
		}
	}
	return h.Gate.Authorize(ctx, p, auth.ReadMetadata)
}

func keyOf(p auth.Principal) string { return p.KeyID + "\x00" + p.Subject }

func errCrowded(what string) error {
	f := fault.New(fault.TooManyWaiting, "%s; close a page, or come again", what)
	f.RetryAfter = 5 * time.Second
	return f
}

// join counts one more reader of an organization, whose feed begins with the first.
func (h *Hub) join(p auth.Principal) (*feed, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, ok := h.feeds[p.Org]
	if !ok {
		f = newFeed(h, p.Org)
		h.feeds[p.Org] = f
	}
	key := keyOf(p)
	if f.readers[key] >= h.Each {
		return nil, errCrowded("these credentials follow the organization as often as they may")
	}
	f.readers[key]++
	return f, nil
}

func (h *Hub) leave(f *feed, key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.readers[key]--; f.readers[key] == 0 {
		delete(f.readers, key)
	}
	if len(f.readers) == 0 {
		f.stop()
		delete(h.feeds, f.org)
	}
}

// Recorder is a recorder after which those who follow look at once.
func (h *Hub) Recorder(to audit.Recorder) audit.Recorder { return recorder{to, h} }

type recorder struct {
	audit.Recorder
	hub *Hub
}

// Record implements audit.Recorder.
func (r recorder) Record(ctx context.Context, event audit.Event) error {
	err := r.Recorder.Record(ctx, event)
	r.hub.Wake(event.Org)
	return err
}

// unread logs that an organization can't be followed right now.
func (h *Hub) unread(ctx context.Context, org uuid.UUID, err error) {
	if ctx.Err() == nil {
		h.Logger.WarnContext(ctx, "what happens in an organization can't be followed for now", "org", org, "error", err)
	}
}
