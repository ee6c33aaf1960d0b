package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/holdfast/holdfast/internal/logctx/logtest"
)

// The first file of every test says that the key k1 is good.
const (
	keysOld = "k1\n"
	keysNew = "k2\n"
)

// bench is what a follower has taken last, and its log.
type bench struct {
	text  atomic.Value // string
	times atomic.Int64 // how often it has taken something
	taken func()       // called whenever it has; may be nil
	log   logtest.Journal
}

func newBench() *bench { return &bench{} }

func (b *bench) take(_ context.Context, files []File) error {
	text := ""
	for _, f := range files {
		text += string(f.Text)
	}
	if strings.Contains(text, "wrong") {
		return errors.New("it is wrong")
	}
	b.text.Store(text)
	b.times.Add(1)
	if b.taken != nil {
		b.taken()
	}
	return nil
}

// opens reports whether a key is in what was taken last.
func (b *bench) opens(key string) bool {
	return slices.Contains(strings.Fields(b.text.Load().(string)), key)
}

func (b *bench) config(path string) Config {
	return Config{
		What: "the file", Name: path, Paths: []string{path}, Limit: 8 << 20, Take: b.take, Report: true,
		Logger: slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Settle: 500 * time.Millisecond, Poll: 30 * time.Second,
	}
}

// follow follows files until the test ends.
func follow(t *testing.T, c Config) *Follower {
	t.Helper()
	f, err := Open(t.Context(), c)
	must(t, err)
	f.Start(t.Context())
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "auth.cfg")
	put(t, path, text)
	return path
}

// until waits for something that happens in its own time.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !happened() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// noneLeft is a system whose limit of watchers is used up.
func noneLeft() (*fsnotify.Watcher, error) {
	return nil, os.NewSyscallError("inotify_init1", syscall.EMFILE)
}

// followBlind follows files without being told of changes.
func followBlind(t *testing.T, c Config) *Follower {
	t.Helper()
	c.newNotify = noneLeft
	return follow(t, c)
}

// Events that get lost without end don't keep a change from being read.
func TestLostEventsDontPutOffALookForEver(t *testing.T) {
	b := newBench()
	path := write(t, keysOld)
	c := b.config(path)
	c.Settle = 50 * time.Millisecond
	lost := make(chan error)
	c.newNotify = func() (*fsnotify.Watcher, error) {
		w, err := fsnotify.NewWatcher()
		if err == nil {
			w.Errors = lost
		}
		return w, err
	}
	follow(t, c)
	ended, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case lost <- fsnotify.ErrEventOverflow:
				time.Sleep(time.Millisecond)
			case <-stop:
				return
			}
		}
	}()
	put(t, path, "k9\n")
	until(t, "the change is in force", func() bool { return b.opens("k9") })
	close(stop)
	<-ended
}

func TestFollowerDoesWithoutNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		path := write(t, keysOld)
		followBlind(t, b.config(path))
		for n := range 3 {
			put(t, path, strings.Repeat("\n", n)+fmt.Sprint("k", n+2)+"\n")
			time.Sleep(2*time.Second + 501*time.Millisecond) // the poll, and the time to settle
			synctest.Wait()
			if b.opens(fmt.Sprint("k", n+1)) || !b.opens(fmt.Sprint("k", n+2)) {
				t.Errorf("the file isn't in force after change %d", n+1)
			}
		}
		time.Sleep(time.Minute)
		if n := strings.Count(b.log.String(), "the system doesn't report changes"); n != 1 {
			t.Errorf("logged %d times that nothing is reported:\n%s", n, b.log.String())
		}
		for _, want := range []string{"level=WARN", "every=2s", "too many open files"} {
			if !strings.Contains(b.log.String(), want) {
				t.Errorf("%q is not in the log:\n%s", want, b.log.String())
			}
		}
	})
}

func TestFollowerKeepsAQuickerPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		path := write(t, keysOld)
		c := b.config(path)
		c.Poll, c.Settle = 20*time.Millisecond, 10*time.Millisecond
		followBlind(t, c)
		put(t, path, keysNew+"\n")
		time.Sleep(31 * time.Millisecond)
		synctest.Wait()
		if !b.opens("k2") {
			t.Error("the new file isn't in force")
		}
	})
}

func TestWithoutNotificationsItFailsAtTheStart(t *testing.T) {
	c := newBench().config(filepath.Join(t.TempDir(), "auth.cfg"))
	c.newNotify = noneLeft
	if _, err := Open(t.Context(), c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// A folder that can't be watched is warned about once, each time it comes to that, and
// the file is looked at more often as long as it lasts.
func TestUnwatchableFolderIsWarnedAbout(t *testing.T) {
	b := newBench()
	folder := filepath.Join(t.TempDir(), "etc")
	must(t, os.Mkdir(folder, 0o700))
	path := filepath.Join(folder, "auth.cfg")
	put(t, path, keysOld)
	w := idle(t, b, path)
	for round := range 2 {
		must(t, os.RemoveAll(folder))
		until(t, "the watch is gone", func() bool { return len(w.watcher.WatchList()) == 0 })
		for range 3 {
			w.Look(t.Context())
		}
		if n := strings.Count(b.log.String(), "can't watch "+folder); n != round+1 {
			t.Errorf("warned %d times, want %d:\n%s", n, round+1, b.log.String())
		}
		if got := w.interval(); got != 2*time.Second {
			t.Errorf("looked at every %v", got)
		}
		must(t, os.Mkdir(folder, 0o700))
		put(t, path, keysOld)
		w.Look(t.Context())
		if got := w.interval(); got != time.Hour {
			t.Errorf("looked at every %v although all is well", got)
		}
	}
	if strings.Contains(b.log.String(), "level=DEBUG") || !strings.Contains(b.log.String(), "level=WARN") {
		t.Errorf("not a warning:\n%s", b.log.String())
	}
}

// idle follows a file without acting on anything for the time being.
func idle(t *testing.T, b *bench, path string) *Follower {
	t.Helper()
	c := b.config(path)
	c.Settle, c.Poll = time.Hour, time.Hour
	return follow(t, c)
}

// A folder that was removed and made again has lost its watch: the poll renews it.
func TestPollRenewsWatches(t *testing.T) {
	b := newBench()
	folder := filepath.Join(t.TempDir(), "etc")
	must(t, os.Mkdir(folder, 0o700))
	path := filepath.Join(folder, "auth.cfg")
	put(t, path, keysOld)
	w := idle(t, b, path)
	must(t, os.RemoveAll(folder))
	until(t, "the watch is gone", func() bool { return len(w.watcher.WatchList()) == 0 })
	must(t, os.Mkdir(folder, 0o700))
	put(t, path, keysOld)
	w.Look(t.Context())
	if got := w.watcher.WatchList(); !slices.Equal(got, []string{folder}) {
		t.Errorf("watching %q, want %q", got, folder)
	}
}

// A file that never comes to rest must be read all the same: it may lack a revoked key.
func TestRestlessFileIsTaken(t *testing.T) {
	for name, stir := range map[string]func(path string, n int) error{
		"touched": func(path string, n int) error { return os.Chtimes(path, time.Time{}, time.Unix(int64(n), 0)) },
		"written": func(path string, n int) error {
			return os.WriteFile(path, []byte(keysNew+strings.Repeat("\n", n)), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const settle = 100 * time.Millisecond
				b := newBench()
				path := write(t, keysOld)
				// Each look finds the change again, and long before the last one has settled.
				c := b.config(path)
				c.Poll, c.Settle = settle/10, settle
				followBlind(t, c)
				put(t, path, keysNew)
				for n := range 2 * maxSettles * 10 {
					must(t, stir(path, n))
					time.Sleep(settle / 10)
					synctest.Wait()
					if b.opens("k2") && !b.opens("k1") {
						return
					}
				}
				t.Errorf("not taken after %v", 2*maxSettles*settle)
			})
		})
	}
}

// Each report puts the look off, but not for good.
func TestReportsPutALookOffForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newBench().config(write(t, keysOld))
		c.newNotify = noneLeft
		f, err := Open(t.Context(), c)
		must(t, err)
		event := fsnotify.Event{Name: c.Paths[0]}
		for n := range 2 * maxSettles {
			if got := f.noteEvent(event); got != (n < maxSettles) {
				t.Errorf("after %d settling times: put off: %v", n, got)
			}
			time.Sleep(c.Settle)
		}
		if f.noteEvent(fsnotify.Event{Name: c.Paths[0] + "~"}) {
			t.Error("another file puts it off")
		}
	})
}

// A file that is being written when it is looked at is not taken half.
func TestHalfWrittenFileIsNotTaken(t *testing.T) {
	b := newBench()
	path := write(t, keysOld)
	c := b.config(path)
	c.Report = false
	f, err := Open(t.Context(), c)
	must(t, err)
	for n, half := range []string{"k2", "k2 k3", "k2 k3 k4"} {
		put(t, path, half)
		if f.Look(t.Context()) || !b.opens("k1") {
			t.Errorf("look %d: taken", n)
		}
	}
	if !f.Look(t.Context()) || !b.opens("k4") {
		t.Error("not taken when it is whole")
	}
}

// What is wrong is logged once, and again when it is wrong again.
func TestEachProblemIsLoggedOnce(t *testing.T) {
	b := newBench()
	path := write(t, keysOld)
	c := b.config(path)
	c.Report = false
	f, err := Open(t.Context(), c)
	must(t, err)
	for n, change := range []func() error{
		func() error { return os.WriteFile(path, []byte("wrong"), 0o600) },
		func() error { return os.Remove(path) },
		func() error { return os.WriteFile(path, []byte("wrong again"), 0o600) },
		func() error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		must(t, change())
		for range 4 {
			f.Look(t.Context())
		}
		if got := strings.Count(b.log.String(), "level=ERROR"); got != n+1 {
			t.Errorf("problem %d: %d errors logged:\n%s", n, got, b.log.String())
		}
	}
	must(t, os.Remove(path))
	put(t, path, keysOld)
	for range 4 {
		f.Look(t.Context())
	}
	if n := b.times.Load(); n != 2 || !b.opens("k1") {
		t.Errorf("taken %d times, want at the start and at the end", n)
	}
}

// A large file is not read at every look; what changes nothing is never taken.
func TestLargeFileIsReadWhenItHasChanged(t *testing.T) {
	b := newBench()
	path := write(t, keysOld+strings.Repeat("\n", largeFiles))
	c := b.config(path)
	c.Report = false
	f, err := Open(t.Context(), c)
	must(t, err)
	was := &f.infos[0]
	if !f.Look(t.Context()) || &f.infos[0] != was {
		t.Error("read although nothing has changed")
	}
	must(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
	if !f.Look(t.Context()) || &f.infos[0] == was || b.times.Load() != 1 {
		t.Errorf("taken %d times, want once; read again: %v", b.times.Load(), &f.infos[0] != was)
	}
	put(t, path, keysNew+strings.Repeat("\n", largeFiles))
	f.Look(t.Context())
	if f.Look(t.Context()); !b.opens("k2") {
		t.Error("not taken")
	}
}

func TestWriteEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times atomic.Int64
		f := WriteEvery(t.Context(), time.Minute, func(context.Context) { times.Add(1) })
		time.Sleep(3*time.Minute + time.Second)
		must(t, f.Close())
		time.Sleep(time.Hour)
		if n := times.Load(); n != 3 {
			t.Errorf("written %d times, want 3", n)
		}
	})
}

func TestPollWhereNothingIsReported(t *testing.T) {
	b := newBench()
	path := write(t, keysOld)
	c := b.config(path)
	c.Settle, c.Poll = 20*time.Millisecond, 10*time.Millisecond
	w := follow(t, c)
	w.mu.Lock()
	must(t, w.watcher.Remove(filepath.Dir(path)))
	must(t, os.WriteFile(path, []byte(keysNew+"\n"), 0o600))
	w.mu.Unlock()
	until(t, "the new key works", func() bool { return b.opens("k2") })
}

// What the path leads to may change while it is read. Nothing may report that: the folder
// that it leads to now isn't watched yet.
func TestFileThatMovesWhileItIsRead(t *testing.T) {
	b := newBench()
	dir := t.TempDir()
	path := filepath.Join(dir, "auth.cfg")
	for n := 1; n <= 3; n++ {
		must(t, os.Mkdir(filepath.Join(dir, fmt.Sprint(n)), 0o700))
		put(t, filepath.Join(dir, fmt.Sprint(n), "auth.cfg"), fmt.Sprint("k", n)+"\n")
	}
	n := 0
	lead := func() {
		if n++; n > 3 {
			return
		}
		must(t, errors.Join(
			os.Symlink(filepath.Join(fmt.Sprint(n), "auth.cfg"), path+"~"),
			os.Rename(path+"~", path)))
	}
	lead()
	b.taken = lead
	c := b.config(path)
	c.Poll = time.Hour
	followBlind(t, c)
	if b.opens("k1") || b.opens("k2") || !b.opens("k3") {
		t.Error("the file that the path leads to isn't in force")
	}
}
