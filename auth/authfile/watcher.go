package authfile

import (
	"context"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/internal/follow"
)

// WatchConfig sets up a Watcher. Zero durations mean the defaults.
type WatchConfig struct {
	Path string
	// Revisions is followed instead of Path, where it is set; Path is then what people call it.
	Revisions Revisions
	Use       func(*keyring.Keyring) // puts the credentials of a good file in force
	Logger    *slog.Logger           // slog.Default()

	// Settle is how long the file must be left alone before it is read (500 ms), and Poll how
	// often it is looked at although nothing was reported (30 s). Revisions are complete as they
	// are, and looked at as often as Settle says.
	Settle, Poll time.Duration
}

// Taken is which text a Watcher has in force.
type Taken struct {
	Revision uint64    // 0 for a file
	Digest   string    // SHA-256
	At       time.Time // when it was written: the file's own time, or the database's
}

// Watcher keeps what is in force in step with an auth.cfg. It knows itself what
// organizations say of anything but credentials.
type Watcher struct {
	name    string // of the file, as configured
	use     func(*keyring.Keyring)
	log     *slog.Logger
	inForce atomic.Pointer[orgSettings]
	gone    atomic.Pointer[[]Shredding]
	next    atomic.Pointer[chan struct{}] // closed when another file is in force
	file    followed

	mu      sync.Mutex
	taken   Taken
	receipt func(string) // is told its digest
}

// followed is what tells of new texts.
type followed interface {
	Start(ctx context.Context)
	Reload(ctx context.Context) error
	Close() error
	// trouble says why what is in force may not be the newest; empty when it is.
	trouble() string
	// unconfirmed is for how long nobody has said that what is in force is the newest.
	unconfirmed() time.Duration
}

// followedFile is a file. What is wrong with it the log says: nobody else has a newer one.
type followedFile struct{ *follow.Follower }

func (followedFile) trouble() string { return "" }

// unconfirmed of a file is nothing: nobody else says what counts.
func (followedFile) unconfirmed() time.Duration { return 0 }

// Watch loads the file, puts it in force and follows it until ctx ends or Close. It fails
// when the file can't be read or is refused. Later such a file is only logged, with all its
// faults, and the last good one stays in force.
func Watch(ctx context.Context, c WatchConfig) (*Watcher, error) {
	c = c.withDefaults()
	w := &Watcher{name: c.Path, use: c.Use, log: c.Logger, receipt: func(string) {}}
	w.next.Store(new(make(chan struct{})))
	if err := w.open(ctx, c); err != nil {
		return nil, err
	}
	w.file.Start(ctx)
	return w, nil
}

// open takes what there is now.
func (w *Watcher) open(ctx context.Context, c WatchConfig) error {
	if c.Revisions != nil {
		p := &poll{from: c.Revisions, name: c.Path, take: w.loadRevision, every: c.Settle, log: c.Logger}
		w.file = p
		return p.Reload(ctx)
	}
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return err
	}
	file, err := follow.Open(ctx, follow.Config{
		What: "the auth file", Name: c.Path, Logger: c.Logger,
		Paths: []string{path}, Limit: maxFileSize,
		Take:    w.loadFile,
		Explain: func(err error) error { return explainMissing(c.Path, err) },
		Settle:  c.Settle, Poll: c.Poll, Report: true,
	})
	w.file = followedFile{file}
	return err
}

func (c WatchConfig) withDefaults() WatchConfig {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Settle <= 0 {
		c.Settle = 500 * time.Millisecond
	}
	if c.Poll <= 0 {
		c.Poll = 30 * time.Second
	}
	return c
}

// Replaced returns what is closed when another text of the file has been put in force, from now on:
// who calls it before looking at what is in force misses nothing.
func (w *Watcher) Replaced() <-chan struct{} { return *w.next.Load() }

// Close stops following the file and waits until that is so. What is in force stays.
func (w *Watcher) Close() error { return w.file.Close() }

// Reload reads the file now, whether or not it changed. An error is logged as well, and
// the last good set stays in force.
func (w *Watcher) Reload(ctx context.Context) error { return w.file.Reload(ctx) }

// Trouble says in words why what is in force may not be the newest text of a database; empty for
// a file, whose trouble is in the log.
func (w *Watcher) Trouble() string { return w.file.trouble() }

// Unconfirmed is for how long it is not known whether what is in force is the newest text of a database: since
// the last look at it that was answered began. For a file it is zero.
func (w *Watcher) Unconfirmed() time.Duration { return w.file.unconfirmed() }

func (w *Watcher) loadFile(ctx context.Context, files []follow.File) error {
	f := files[0]
	if err := w.load(ctx, string(f.Text), Taken{Digest: digestOf(f.Text), At: f.Changed}); err != nil {
		return err
	}
	w.warnIfOpen(ctx, f.Mode.Perm())
	return nil
}

func (w *Watcher) loadRevision(ctx context.Context, r Revision) error {
	return w.load(ctx, r.Text, Taken{Revision: r.Number, Digest: digestOf([]byte(r.Text)), At: r.At})
}

// load puts a text in force, or says why not.
func (w *Watcher) load(ctx context.Context, text string, taken Taken) error {
	doc, err := Parse(w.name, text)
	if err != nil {
		return err
	}
	if had := w.inForce.Load(); strings.TrimSpace(text) == "" && had != nil && len(had.orgs) > 0 {
		return refuseWhole(w.name,
			"the file is empty, as if it were only half written; to remove all organizations leave a comment in it")
	}
	w.putInForce(ctx, doc)
	w.noteTaken(taken)
	return nil
}

// Taken says which text is in force.
func (w *Watcher) Taken() Taken {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.taken
}

// Confirm has receipt told the SHA-256 of the text that is in force, and of each that will be.
func (w *Watcher) Confirm(receipt func(digest string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.receipt = receipt
	receipt(w.taken.Digest)
}

func (w *Watcher) noteTaken(taken Taken) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken = taken
	w.receipt(taken.Digest)
}

// putInForce lets a new key in only when what its organization says of states holds too.
func (w *Watcher) putInForce(ctx context.Context, doc *Document) {
	all, ring := settingsOf(doc), doc.Keyring()
	w.inForce.Store(&all)
	w.use(ring)
	w.gone.Store(&doc.gone) // nobody gets in for them any more
	close(*w.next.Swap(new(make(chan struct{}))))
	w.log.InfoContext(ctx, "auth file loaded", slog.String("file", w.name),
		slog.Int("organizations", len(all.orgs)), slog.Int("keys", ring.Keys()))
}

// warnIfOpen logs when people other than the owner may read the file. It isn't refused:
// Kubernetes mounts secrets like that.
func (w *Watcher) warnIfOpen(ctx context.Context, mode fs.FileMode) {
	if mode&0o077 != 0 {
		w.log.WarnContext(ctx, "the auth file is open to others than its owner; `chmod 600` closes it",
			slog.String("file", w.name), slog.String("mode", mode.String()))
	}
}
