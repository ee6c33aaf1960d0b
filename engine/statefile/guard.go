package statefile

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// How long to wait for who changes a lock file, which takes milliseconds, and how often to look.
const (
	guardWait  = 5 * time.Second
	guardEvery = 5 * time.Millisecond
)

// guarded calls f while nobody else on this machine looks who holds the lock and acts on it: between the look and the
// act of one, another could put a lock of their own in its place, which the act would then hit. What guards is the
// folder itself, so that nothing is left behind. It is false, and f isn't called, if somebody else doesn't let go;
// where folders can't be guarded f is called all the same.
func (l *Local) guarded(f func()) bool {
	ctx, cancel := context.WithTimeout(context.Background(), guardWait)
	defer cancel()
	guard := flock.New(filepath.Dir(l.path), flock.SetFlag(os.O_RDONLY))
	defer func() { _ = guard.Close() }()
	if _, err := guard.TryLockContext(ctx, guardEvery); err != nil && ctx.Err() != nil {
		return false
	}
	f()
	return true
}
