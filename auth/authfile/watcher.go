package authfile

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/holdfast/holdfast/auth/keyring"
)

// WatchConfig sets up a Watcher. Zero durations mean the defaults.
type WatchConfig struct {
	Path   string
	Use    func(*keyring.Keyring) // puts the credentials of a good file in force
	Logger *slog.Logger           // slog.Default()

	// Settle is how long the file must be left alone before it is read (500 ms): who
	// writes in place does so in several steps.
	Settle time.Duration
	// Poll is how often the file is looked at although nothing was reported (30 s), for
	// file systems that report nothing. Where the system says that it can't report, it is
	// every two seconds at least.
	Poll time.Duration

	newNotify func() (*fsnotify.Watcher, error) // fsnotify.NewWatcher
}

// pollBlind is the longest interval of the poll while the system reports no changes.
const pollBlind = 2 * time.Second

// Watcher keeps what is in force in step with an auth.cfg. It knows itself what
// organizations say of anything but credentials.
type Watcher struct {
	path   string // absolute
	name   string // as configured, for messages
	use    func(*keyring.Keyring)
	log    *slog.Logger
	settle time.Duration
	poll   time.Duration
	notify *fsnotify.Watcher // nil when the system has none left
	stop   context.CancelFunc
	done   chan struct{}

	inForce atomic.Pointer[orgSettings]

	mu      sync.Mutex
	entries []string    // whose change may change the file
	info    fs.FileInfo // of what was read last; nil when that failed
	digest  [32]byte    // of what was read last, good or bad
	verdict error       // on what has this digest
	logged  string      // the problem that was logged last
	blind   string      // why the system doesn't report all changes; empty when it does
}

// Watch loads the file, puts it in force and follows it until ctx ends or Close: when it
// is written in place, renamed over, or replaced through any symbolic link on its path.
// Where the system can't report changes, that is logged and the poll finds them. Watch
// fails when the file can't be read or is refused. Later such a file is only logged, with
// all its faults, and the last good one stays in force.
func Watch(ctx context.Context, c WatchConfig) (*Watcher, error) {
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return nil, err
	}
	w := &Watcher{
		path: path, name: c.Path, use: c.Use, log: c.Logger,
		settle: c.Settle, poll: c.Poll, done: make(chan struct{}),
	}
	w.applyDefaults()
	w.openNotify(ctx, c.newNotify)
	if err := w.reload(ctx); err != nil {
		return nil, errors.Join(err, w.closeNotify())
	}
	ctx, w.stop = context.WithCancel(ctx)
	go w.follow(ctx)
	return w, nil
}

func (w *Watcher) applyDefaults() {
	if w.log == nil {
		w.log = slog.Default()
	}
	if w.settle <= 0 {
		w.settle = 500 * time.Millisecond
	}
	if w.poll <= 0 {
		w.poll = 30 * time.Second
	}
}

// Close stops following the file and waits until that is so. The keyring stays in force.
func (w *Watcher) Close() error {
	w.stop()
	<-w.done
	return w.closeNotify()
}

// Reload reads the file now, whether or not it changed. An error is logged as well, and
// the last good set stays in force.
func (w *Watcher) Reload(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.digest, w.logged = [32]byte{}, ""
	return w.refresh(ctx)
}

// refresh reloads the file and logs why it can't be used, once for each reason.
func (w *Watcher) refresh(ctx context.Context) error {
	err := w.reload(ctx)
	if err == nil {
		w.logged = ""
		return nil
	}
	if w.logged != err.Error() {
		w.logged = err.Error()
		w.log.ErrorContext(ctx, "the auth file can't be used; what was in force before stays",
			slog.String("file", w.name), slog.String("error", w.logged))
	}
	return err
}

// reload puts the file in force if it is not the one that was read last. The folders are
// watched before the file is read, and again after, until nothing has moved: a change
// is either read or reported.
func (w *Watcher) reload(ctx context.Context) error {
	var err error
	for range 3 {
		before := w.watchChain(ctx)
		err = w.load(ctx)
		if slices.Equal(before, chain(w.path)) {
			break
		}
	}
	return err
}

func (w *Watcher) load(ctx context.Context) error {
	text, info, err := ReadFile(w.path)
	w.info = info
	if err != nil {
		return explainMissing(w.name, err)
	}
	if digest := sha256.Sum256([]byte(text)); digest != w.digest {
		w.verdict = w.read(ctx, text, info)
		w.digest = digest
	}
	return w.verdict
}

// read puts the text of a file in force, or says why not.
func (w *Watcher) read(ctx context.Context, text string, info fs.FileInfo) error {
	doc, err := Parse(w.name, text)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" && w.inForce.Load() != nil && len(*w.inForce.Load()) > 0 {
		return refuseWhole(w.name, "the file is empty, as if it were only half written; to remove all organizations leave a comment in it")
	}
	warnIfOpen(ctx, w.log, w.name, info)
	w.putInForce(ctx, doc)
	return nil
}

// putInForce lets a new key in only when what its organization says of states holds too.
func (w *Watcher) putInForce(ctx context.Context, doc *Document) {
	all, ring := settingsOf(doc), doc.Keyring()
	w.inForce.Store(&all)
	w.use(ring)
	w.log.InfoContext(ctx, "auth file loaded", slog.String("file", w.name),
		slog.Int("organizations", len(all)), slog.Int("keys", ring.Keys()))
}

// warnIfOpen logs when people other than the owner may read the file. It isn't refused:
// Kubernetes mounts secrets like that.
func warnIfOpen(ctx context.Context, log *slog.Logger, path string, info fs.FileInfo) {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		log.WarnContext(ctx, "the auth file is open to others than its owner; `chmod 600` closes it",
			slog.String("file", path), slog.String("mode", mode.String()))
	}
}
