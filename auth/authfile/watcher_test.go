package authfile

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	keysOld = oneOrg + "apikey = $2a$10$xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx0000000001\n"
	keysNew = oneOrg + "apikey = $2a$10$xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx0000000002\n"
)

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

func (b *bench) watch(t *testing.T, path string, poll time.Duration) *Watcher {
	t.Helper()
	w, err := Watch(t.Context(),
		WatchConfig{Path: path, Use: b.use, Logger: b.log.logger(), Settle: 20 * time.Millisecond, Poll: poll})
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

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// replacements are the ways in which a file is replaced. Each lays out a folder, and
// returns the path to watch and how to put a new text there.
var replacements = map[string]func(t *testing.T, dir string) (path string, replace func(text string)){
	"written in place": func(t *testing.T, dir string) (string, func(string)) {
		path := filepath.Join(dir, "auth.cfg")
		put(t, path, keysOld)
		return path, func(text string) { put(t, path, text) }
	},
	"renamed over": func(t *testing.T, dir string) (string, func(string)) {
		path := filepath.Join(dir, "auth.cfg")
		put(t, path, keysOld)
		return path, func(text string) {
			put(t, path+"~", text)
			must(t, os.Rename(path+"~", path))
		}
	},
	"removed and made again": func(t *testing.T, dir string) (string, func(string)) {
		path := filepath.Join(dir, "auth.cfg")
		put(t, path, keysOld)
		return path, func(text string) {
			must(t, os.Remove(path))
			put(t, path, text)
		}
	},
	"as Kubernetes does": func(t *testing.T, dir string) (string, func(string)) {
		n := 0
		replace := func(text string) {
			n++
			folder := "..2026_" + strings.Repeat("x", n)
			must(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
			put(t, filepath.Join(dir, folder, "auth.cfg"), text)
			old, _ := os.Readlink(filepath.Join(dir, "..data"))
			must(t, os.Symlink(folder, filepath.Join(dir, "..data_tmp")))
			must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
			if old != "" {
				must(t, os.RemoveAll(filepath.Join(dir, old)))
			}
		}
		replace(keysOld)
		path := filepath.Join(dir, "auth.cfg")
		must(t, os.Symlink("..data/auth.cfg", path))
		return path, replace
	},
	"behind a link": func(t *testing.T, dir string) (string, func(string)) {
		must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
		target := filepath.Join(dir, "real", "auth.cfg")
		put(t, target, keysOld)
		path := filepath.Join(dir, "link.cfg")
		must(t, os.Symlink(target, path))
		return path, func(text string) { put(t, target, text) }
	},
}

func TestWatcherSeesReplacements(t *testing.T) {
	for name, lay := range replacements {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			path, replace := lay(t, t.TempDir())
			b.watch(t, path, time.Hour)
			if !b.opens("k1") {
				t.Fatal("the first file isn't in force")
			}
			for range 3 { // more than once: the watches must move along
				replace(keysNew)
				until(t, "the new key works and the old one doesn't", func() bool { return b.opens("k2") && !b.opens("k1") })
				replace(keysOld)
				until(t, "the old key works again", func() bool { return b.opens("k1") && !b.opens("k2") })
			}
		})
	}
}

func TestWatcherKeepsTheLastGoodSet(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(path string) error
		want  []string
	}{
		"refused": {func(path string) error { return os.WriteFile(path, []byte(keysNew+"hunter2\nx = y\n"), 0o600) },
			[]string{"auth.cfg:4: not a bcrypt hash", "auth.cfg:5: an unknown setting"}},
		"missing": {os.Remove, []string{"there is no", "holdfast init"}},
		"empty":   {func(path string) error { return os.Truncate(path, 0) }, []string{"the file is empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			path := writeAuth(t, keysOld, 0o600)
			b.watch(t, path, time.Hour)
			must(t, c.spoil(path))
			until(t, "an error is logged", func() bool { return strings.Contains(b.log.String(), "level=ERROR") })
			for _, want := range c.want {
				if !strings.Contains(b.log.String(), want) {
					t.Errorf("%q is not in the log:\n%s", want, b.log.String())
				}
			}
			if strings.Contains(b.log.String(), "hunter2") {
				t.Error("a key is in the log")
			}
			if !b.opens("k1") {
				t.Error("the last good set is gone")
			}
			put(t, path, keysNew)
			until(t, "the mended file is in force", func() bool { return b.opens("k2") })
		})
	}
}

func TestWatcherIgnoresWhatChangesNothing(t *testing.T) {
	b := newBench()
	path := writeAuth(t, keysOld, 0o600)
	b.watch(t, path, time.Hour)
	before := b.used.Load()
	put(t, path, keysOld)
	put(t, filepath.Join(filepath.Dir(path), "other"), "x")
	must(t, os.Chmod(path, 0o400))
	must(t, os.Chmod(path, 0o600))
	time.Sleep(200 * time.Millisecond) // ten settling times: enough to notice a mistake
	if got := b.used.Load(); got != before {
		t.Errorf("reloaded %d times", got-before)
	}
}

func TestReloadReadsNow(t *testing.T) {
	b := newBench()
	path := writeAuth(t, keysOld, 0o600)
	w := b.watch(t, path, time.Hour)
	put(t, path, keysNew)
	must(t, w.Reload(t.Context()))
	if !b.opens("k2") || b.opens("k1") {
		t.Error("the new file isn't in force")
	}
	put(t, path, "secret")
	for range 2 {
		if err := w.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "auth.cfg:1: not a bcrypt hash") {
			t.Errorf("error %v", err)
		}
	}
}

func TestWatchFailsAtTheStart(t *testing.T) {
	b := newBench()
	for _, c := range []struct{ path, want string }{
		{filepath.Join(t.TempDir(), "auth.cfg"), "holdfast init"},
		{writeAuth(t, "secret\nx = y\n", 0o600), ":2: a setting before the first"},
	} {
		_, err := Watch(t.Context(), WatchConfig{Path: c.path, Use: b.use, Logger: b.log.logger()})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want …%s…", err, c.want)
		}
	}
}

func TestOpenFileIsWarnedAbout(t *testing.T) {
	b := newBench()
	b.watch(t, writeAuth(t, keysOld, 0o640), time.Hour)
	if !strings.Contains(b.log.String(), "level=WARN") || !strings.Contains(b.log.String(), "-rw-r-----") {
		t.Errorf("no warning in %s", b.log.String())
	}
}

func TestWatcherLeavesNothingBehind(t *testing.T) {
	b := newBench()
	path := writeAuth(t, keysOld, 0o600)
	before := runtime.NumGoroutine()
	for _, end := range []func(*Watcher, context.CancelFunc){
		func(w *Watcher, _ context.CancelFunc) { must(t, w.Close()) },
		func(_ *Watcher, cancel context.CancelFunc) { cancel() },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		w, err := Watch(ctx, WatchConfig{Path: path, Use: b.use, Logger: b.log.logger()})
		must(t, err)
		end(w, cancel)
		until(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before })
		must(t, w.Close())
		cancel()
	}
}
