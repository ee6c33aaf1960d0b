// Package follow keeps what a program holds in memory in step with its files.
package follow

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Config sets up a Follower.
type Config struct {
	What   string // what the files are, for the log: "the auth file"
	Name   string // of the first file, for the log
	Logger *slog.Logger

	// Paths are the files, which make sense only together; absolute if Report is set.
	Paths []string
	Limit int64 // of each file in bytes; whole MiB
	// Take puts in force what the files say, or says why it can't. It is never called twice
	// at once, nor twice in a row with the same texts unless Reload asks for it.
	Take func(ctx context.Context, files []File) error
	// Explain adds to the error of a file that can't be read; nil adds nothing.
	Explain func(error) error

	// Settle is for how long files must be left alone before they are taken: whoever writes
	// in place, or replaces two files, does so in several steps.
	Settle time.Duration
	// Poll is how often the files are looked at although nothing was reported.
	Poll time.Duration
	// Report asks the system to report changes. Where it can't, that is logged, and the
	// files are looked at every two seconds at least.
	Report bool

	newNotify func() (*fsnotify.Watcher, error) // fsnotify.NewWatcher
}

// File is what was found in one file.
type File struct {
	Text    []byte
	Mode    fs.FileMode
	Changed time.Time
}

// Follower takes what its files say whenever that has changed: when they are written in
// place, renamed over, or replaced through any symbolic link on their paths. What can't be
// taken is logged, once for each reason, and what was in force before stays.
//
// Files are settled when the system has reported changes, and then none for Config.Settle,
// or when two looks so far apart have found the same. Files that never settle are taken all
// the same after a while: they may lack a key that was revoked.
type Follower struct {
	Config
	write   func(context.Context) // of WriteEvery; nil for files that are read
	watcher *fsnotify.Watcher     // nil when there are no reports
	stop    context.CancelFunc
	done    chan struct{} // nil until Start

	mu       sync.Mutex
	entries  []string // whose change may change the files
	blind    string   // why the system doesn't report all changes; empty when it does
	infos    []fs.FileInfo
	seen     [sha256.Size]byte // of what was read last
	taken    [sha256.Size]byte // of what was given to Take last
	verdict  error             // of Take on that
	logged   string            // the problem that was logged last
	reported bool              // there was a report since the last look
	restless time.Time         // since when there is something new that hasn't settled
}

const (
	// maxSettles bounds, in settling times, how long files that change all the time can put
	// off being taken.
	maxSettles = 10
	// maxMoves is how often one look starts over because a path leads elsewhere meanwhile.
	maxMoves = 3
	// largeFiles are read only when their times or sizes have changed. Smaller ones are read
	// at each look: so it doesn't matter what the file system says of them.
	largeFiles = 1 << 20
)

// Open takes what the files say now. It fails when that can't be read or taken.
func Open(ctx context.Context, c Config) (*Follower, error) {
	f := &Follower{Config: c}
	f.openNotify(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.look(ctx, true); err != nil {
		_ = f.closeNotify() // err says what is wrong
		return nil, err
	}
	return f, nil
}

// WriteEvery follows a file the other way round, one that this program alone writes: it
// calls write regularly until ctx ends or Close.
func WriteEvery(ctx context.Context, interval time.Duration, write func(context.Context)) *Follower {
	f := &Follower{Config: Config{Poll: interval}, write: write}
	f.Start(ctx)
	return f
}

// Start follows the files until ctx ends or Close.
func (f *Follower) Start(ctx context.Context) {
	ctx, f.stop = context.WithCancel(ctx)
	f.done = make(chan struct{})
	go f.run(ctx)
}

// Close stops following and waits until that is so. What is in force stays.
func (f *Follower) Close() error {
	if f.done != nil {
		f.stop()
		<-f.done
	}
	return f.closeNotify()
}

// Reload takes what the files say now, whether or not they changed. An error is logged as
// well.
func (f *Follower) Reload(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken, f.logged = [sha256.Size]byte{}, ""
	_, err := f.look(ctx, true)
	f.log(ctx, err)
	return err
}

// Look takes what the files say if it is new and has settled. It returns false when there
// is something new that has not.
func (f *Follower) Look(ctx context.Context) (settled bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	settled, err := f.look(ctx, false)
	if settled {
		f.log(ctx, err)
	}
	return settled
}

// run has one timer for the poll and for settling.
func (f *Follower) run(ctx context.Context) {
	defer close(f.done)
	defer f.closeNotify()
	events, lost := f.reports()
	timer := time.NewTimer(f.interval())
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			if f.noteEvent(e) {
				timer.Reset(f.Settle)
			}
		case err := <-lost:
			// Events may have been lost, so the files are read to be sure.
			f.Logger.WarnContext(ctx, "watching "+f.What, "error", err)
			if f.noteLost() {
				timer.Reset(f.Settle)
			}
		case <-timer.C:
			timer.Reset(f.wake(ctx))
		}
	}
}

// wake does what is due and returns when to do it again.
func (f *Follower) wake(ctx context.Context) time.Duration {
	if f.write != nil {
		f.write(ctx)
		return f.Poll
	}
	if !f.Look(ctx) {
		return f.Settle
	}
	return f.interval()
}

// interval returns how long to wait before the files are looked at again.
func (f *Follower) interval() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blind != "" {
		return min(f.Poll, pollBlind)
	}
	return f.Poll
}

// look watches the folders before the files are read, and again after, until nothing has
// moved: a change is either read or reported.
func (f *Follower) look(ctx context.Context, now bool) (settled bool, err error) {
	for range maxMoves {
		before := f.watchChains(ctx)
		if settled, err = f.lookOnce(ctx, now); slices.Equal(before, chains(f.Paths)) {
			break
		}
	}
	f.reported = false
	if settled {
		f.restless = time.Time{}
	} else if f.restless.IsZero() {
		f.restless = time.Now()
	}
	return settled, err
}

func (f *Follower) lookOnce(ctx context.Context, now bool) (settled bool, err error) {
	if !now && !f.reported && f.seen == f.taken && f.large() && f.sameInfos() {
		return true, f.verdict
	}
	files, digest, err := f.read()
	settled = now || f.reported || digest == f.seen || f.isOverdue()
	f.seen = digest
	switch {
	case err != nil:
		return settled, err
	case digest == f.taken:
		return true, f.verdict
	case settled:
		f.taken, f.verdict = digest, f.Take(ctx, files)
	}
	return settled, f.verdict
}

func (f *Follower) isOverdue() bool {
	return !f.restless.IsZero() && time.Since(f.restless) >= maxSettles*f.Settle
}

// read returns the files, and a digest of all that was found: a file that can't be read is
// a finding like any other.
func (f *Follower) read() (files []File, digest [sha256.Size]byte, err error) {
	hash := sha256.New()
	f.infos = nil
	for _, path := range f.Paths {
		text, info, err := ReadFile(path, f.Limit)
		if err != nil {
			if f.Explain != nil {
				err = f.Explain(err)
			}
			fmt.Fprint(hash, err)
			return nil, [sha256.Size]byte(hash.Sum(nil)), err
		}
		fmt.Fprintln(hash, len(text)) // where one ends and the next begins
		hash.Write(text)
		files = append(files, File{text, info.Mode(), info.ModTime()})
		f.infos = append(f.infos, info)
	}
	return files, [sha256.Size]byte(hash.Sum(nil)), nil
}

func (f *Follower) large() bool {
	var size int64
	for _, info := range f.infos {
		size += info.Size()
	}
	return size > largeFiles
}

// sameInfos reports whether the files are still those that were read last.
func (f *Follower) sameInfos() bool {
	for i, was := range f.infos {
		is, err := os.Stat(f.Paths[i])
		if err != nil || !os.SameFile(is, was) || is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime()) {
			return false
		}
	}
	return true
}

// log logs why the files can't be used, once for each reason.
func (f *Follower) log(ctx context.Context, err error) {
	had := f.logged
	if f.logged = ""; err != nil {
		f.logged = err.Error()
	}
	if f.logged != had && err != nil {
		f.Logger.ErrorContext(ctx, f.What+" can't be used; what was in force before stays",
			slog.String("file", f.Name), slog.String("error", f.logged))
	}
}
