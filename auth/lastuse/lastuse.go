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

	"github.com/google/uuid"

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

	// Of whoever writes.
	writing sync.Mutex
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

// Of returns when something was last used, whether or not that is written yet; false where it is not
// known.
func (u *Tracker) Of(org uuid.UUID, id string) (Use, bool) {
	of := Credential{org, id}
	u.mu.Lock()
	use, ok := u.fresh[of]
	u.mu.Unlock()
	if ok {
		return use, true
	}
	u.writing.Lock()
	defer u.writing.Unlock()
	use, ok = u.uses[of]
	return use, ok
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
	u.writing.Lock()
	defer u.writing.Unlock()
	return u.writeFresh()
}

// Shred forgets an organization, and returns how many uses it knew: when that is 0, the file has
// none either. What else is known by then is written with it.
func (u *Tracker) Shred(_ context.Context, org uuid.UUID, _ int) (removed int, err error) {
	u.writing.Lock()
	defer u.writing.Unlock()
	isTheirs := func(c Credential, _ Use) bool { return c.Org == org }
	u.mu.Lock()
	removed = len(u.fresh)
	maps.DeleteFunc(u.fresh, isTheirs)
	removed -= len(u.fresh)
	u.mu.Unlock()
	known := len(u.uses)
	maps.DeleteFunc(u.uses, isTheirs)
	if removed += known - len(u.uses); removed == 0 && !u.pending {
		return 0, nil
	}
	u.pending = true
	return removed, u.writeFresh()
}

// writeFresh needs the lock of who writes.
func (u *Tracker) writeFresh() error {
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
