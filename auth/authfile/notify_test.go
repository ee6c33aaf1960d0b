package authfile

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// noneLeft is a system whose limit of watchers is used up.
func noneLeft() (*fsnotify.Watcher, error) {
	return nil, os.NewSyscallError("inotify_init1", syscall.EMFILE)
}

// watchBlind follows a file without being told of changes.
func (b *bench) watchBlind(t *testing.T, c WatchConfig) *Watcher {
	t.Helper()
	c.Use, c.newNotify = b.use, noneLeft
	if c.Logger == nil {
		c.Logger = b.log.logger()
	}
	w, err := Watch(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func TestWatcherDoesWithoutNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		path := writeAuth(t, keysOld, 0o600)
		b.watchBlind(t, WatchConfig{Path: path})
		for n := range 3 {
			put(t, path, oneOrg+strings.Repeat("\n", n)+fakeHash(n+2)+"\n")
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

func TestWatcherKeepsAQuickerPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		path := writeAuth(t, keysOld, 0o600)
		b.watchBlind(t, WatchConfig{Path: path, Poll: 20 * time.Millisecond, Settle: 10 * time.Millisecond})
		put(t, path, keysNew+"\n")
		time.Sleep(31 * time.Millisecond)
		synctest.Wait()
		if !b.opens("k2") {
			t.Error("the new file isn't in force")
		}
	})
}

func TestWatcherWithoutNotificationsFailsAtTheStart(t *testing.T) {
	b := newBench()
	_, err := Watch(t.Context(), WatchConfig{Path: filepath.Join(t.TempDir(), "auth.cfg"), Use: b.use, newNotify: noneLeft})
	if err == nil || !strings.Contains(err.Error(), "holdfast init") {
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
		until(t, "the watch is gone", func() bool { return len(w.notify.WatchList()) == 0 })
		for range 3 {
			w.looksChanged(t.Context())
		}
		if n := strings.Count(b.log.String(), "can't watch "+folder); n != round+1 {
			t.Errorf("warned %d times, want %d:\n%s", n, round+1, b.log.String())
		}
		if got := w.interval(); got != 2*time.Second {
			t.Errorf("looked at every %v", got)
		}
		must(t, os.Mkdir(folder, 0o700))
		put(t, path, keysOld)
		w.looksChanged(t.Context())
		if got := w.interval(); got != time.Hour {
			t.Errorf("looked at every %v although all is well", got)
		}
	}
	if strings.Contains(b.log.String(), "level=DEBUG") || !strings.Contains(b.log.String(), "level=WARN") {
		t.Errorf("not a warning:\n%s", b.log.String())
	}
}

// idle watches a file without acting on anything for the time being.
func idle(t *testing.T, b *bench, path string) *Watcher {
	t.Helper()
	w, err := Watch(t.Context(), WatchConfig{Path: path, Use: b.use, Logger: b.log.logger(), Settle: time.Hour, Poll: time.Hour})
	must(t, err)
	t.Cleanup(func() { must(t, w.Close()) })
	return w
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
	until(t, "the watch is gone", func() bool { return len(w.notify.WatchList()) == 0 })
	must(t, os.Mkdir(folder, 0o700))
	put(t, path, keysOld)
	w.looksChanged(t.Context())
	if got := w.notify.WatchList(); !slices.Equal(got, []string{folder}) {
		t.Errorf("watching %q, want %q", got, folder)
	}
}

// A file that never comes to rest must be read all the same: it may lack a revoked key.
func TestRestlessFileIsLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const settle = 100 * time.Millisecond
		b := newBench()
		path := writeAuth(t, keysOld, 0o600)
		// Each look finds the change again, and long before the last one has settled.
		b.watchBlind(t, WatchConfig{Path: path, Poll: settle / 10, Settle: settle})
		put(t, path, keysNew)
		for n := range 2 * maxSettles * 10 {
			must(t, os.Chtimes(path, time.Time{}, time.Unix(int64(n), 0)))
			time.Sleep(settle / 10)
			synctest.Wait()
			if b.opens("k2") && !b.opens("k1") {
				return
			}
		}
		t.Errorf("not loaded after %v", 2*maxSettles*settle)
	})
}

// loads calls do whenever a file has been put in force, before the watcher goes on.
type loads struct{ do func() }

func (l loads) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("auth file loaded")) {
		l.do()
	}
	return len(line), nil
}

// What the path leads to may change while it is read. Nothing may report that: the folder
// that it leads to now isn't watched yet.
func TestFileThatMovesWhileItIsRead(t *testing.T) {
	b := newBench()
	dir := t.TempDir()
	path := filepath.Join(dir, "auth.cfg")
	for n := 1; n <= 3; n++ {
		must(t, os.Mkdir(filepath.Join(dir, fmt.Sprint(n)), 0o700))
		put(t, filepath.Join(dir, fmt.Sprint(n), "auth.cfg"), oneOrg+fakeHash(n)+"\n")
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
	b.watchBlind(t, WatchConfig{Path: path, Poll: time.Hour, Logger: slog.New(slog.NewTextHandler(loads{lead}, nil))})
	if b.opens("k1") || b.opens("k2") || !b.opens("k3") {
		t.Error("the file that the path leads to isn't in force")
	}
}
