// Package lastuse remembers when and from where credentials were last used.
package lastuse

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/internal/follow"
)

// interval is how often what changed is written.
const interval = time.Minute

// Config sets up a Tracker. All of it is needed.
type Config struct {
	Path   string                  // of the file; its folder is made when it is missing
	Known  func() *keyring.Keyring // what is in force, such as Verifier.Keyring; what it lacks is forgotten
	Logger *slog.Logger
	Now    func() time.Time
}

// Tracker remembers when and from where each key, token rule and certificate rule was last
// used. It writes that to a file at most once a minute, never while a request waits, and
// when it is closed. After a crash the last minute is missing. It is safe for concurrent
// use.
type Tracker struct {
	Config
	file *follow.Follower

	mu    sync.Mutex
	fresh Uses // since the last write

	// Of whoever writes: the follower, and Close after it.
	uses    Uses
	pending bool // there is something in uses that the file lacks
}

// Open goes on from what the file says. One that can't be read, or makes no sense,
// is logged, and replaced in time: it is not worth a server that doesn't start.
func Open(ctx context.Context, c Config) *Tracker {
	uses, err := Read(c.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Logger.WarnContext(ctx, "when keys were last used can't be read; it is remembered anew",
			slog.String("file", c.Path), slog.String("error", err.Error()))
	}
	if uses == nil {
		uses = make(Uses)
	}
	u := &Tracker{Config: c, uses: uses, fresh: make(Uses)}
	// Until Close: requests go on after a signal.
	u.file = follow.WriteEvery(context.WithoutCancel(ctx), interval, u.writeRegularly)
	return u
}

// Note remembers that a verified caller came in.
func (u *Tracker) Note(p auth.Principal) {
	use := Use{At: u.Now().UTC().Truncate(time.Second), From: p.Address}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fresh[Credential{p.Org, p.KeyID}] = use
}

// Close writes what is not yet written, and stops.
func (u *Tracker) Close() error {
	return errors.Join(u.file.Close(), u.write())
}

// writeRegularly is write for the follower.
func (u *Tracker) writeRegularly(ctx context.Context) {
	if err := u.write(); err != nil {
		u.Logger.WarnContext(ctx, "when keys were last used can't be written; it is tried again in a minute",
			slog.String("file", u.Path), slog.String("error", err.Error()))
	}
}

// write writes the file if there is anything new. What is no longer in force goes.
func (u *Tracker) write() error {
	u.mu.Lock()
	fresh := u.fresh
	u.fresh = make(Uses)
	u.mu.Unlock()

	if len(fresh) == 0 && !u.pending {
		return nil
	}
	maps.Copy(u.uses, fresh)
	u.uses = u.uses.in(u.Known())
	err := write(u.Path, u.uses)
	u.pending = err != nil
	return err
}
