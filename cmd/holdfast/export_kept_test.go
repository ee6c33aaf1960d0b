package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast/holdfast/internal/elsewhere"
	"github.com/holdfast/holdfast/state"
)

const exportedVersions = 6

// exporting is a server with a state of some versions, which counts how often one is asked for, and may never answer.
type exporting struct {
	*shell
	file    string
	fetched atomic.Int64
	answers func(n int64) bool
}

func anything(int64) bool { return true }

func newExporting(t *testing.T) *exporting {
	e := &exporting{shell: newShell(t), file: filepath.Join(t.TempDir(), "acme.zip"), answers: anything}
	server := e.keeping(state.DefaultPolicy())
	e.setenv("HOME", t.TempDir())
	for serial := range exportedVersions {
		e.push("prod/net", importedState(serial+1, strings.Repeat("ab", serial*1000)))
	}
	inner := server.Config.Handler
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("version") != "" {
			if !e.answers(e.fetched.Add(1)) {
				<-r.Context().Done()
				return
			}
		}
		inner.ServeHTTP(w, r)
	})
	return e
}

// broken exports until the nth version of those that are fetched is asked for.
func (e *exporting) broken(n int64) {
	e.t.Helper()
	ctx, stop := context.WithCancel(e.t.Context())
	e.fetched.Store(0)
	e.answers = func(now int64) bool {
		if now == n {
			stop()
		}
		return now < n
	}
	var said strings.Builder
	code := run(ctx, []string{"export", acme.String(), "-o", e.file}, e.app(io.Discard, &said))
	if code != exitFailed || !strings.Contains(said.String(), "run the same command again") ||
		!strings.Contains(said.String(), "is kept beside") {
		e.t.Fatalf("exit %d: %s", code, &said)
	}
	if _, err := os.Stat(e.file); err == nil {
		e.t.Fatal("a part of it is there")
	}
}

// whole exports to the end, and wants so many versions fetched.
func (e *exporting) whole(fetched int64) {
	e.t.Helper()
	e.fetched.Store(0)
	e.answers = anything
	e.must("export", acme.String(), "-o", e.file)
	if got := e.fetched.Load(); got != fetched {
		e.t.Errorf("%d versions were fetched, want %d", got, fetched)
	}
	all := opened(e.t, e.file)
	for serial := range exportedVersions {
		path := "states/prod/net/" + string(rune('1'+serial)) + ".tfstate"
		if all[path] != importedState(serial+1, strings.Repeat("ab", serial*1000)) {
			e.t.Errorf("%s is %.80q", path, all[path])
		}
	}
	if all[elsewhere.ExportManifest] == "" {
		e.t.Error("it has no manifest")
	}
	e.must("import", "export", e.file, "--into", "x", "--dry-run")
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(e.file), ".*")); err != nil || len(left) > 0 {
		e.t.Errorf("left behind: %v, %v", left, err)
	}
	if err := os.Remove(e.file); err != nil {
		e.t.Fatal(err)
	}
}

// TestExportGoesOn: an export that is broken off, again and again, goes on where it was.
func TestExportGoesOn(t *testing.T) {
	e := newExporting(t)
	e.broken(3)
	if info, err := os.Stat(filepath.Join(filepath.Dir(e.file), ".acme.zip.partial")); err != nil ||
		info.Mode().Perm() != 0o600 {
		t.Errorf("what is kept: %v, %v", info, err)
	}
	e.broken(3) // which are the fifth by then
	e.whole(2)
	e.whole(exportedVersions)
}

// TestExportGoesOnFromAnyEnd: however much a killed export has written, and whatever became of that, all that is in
// the next one is what the server has.
func TestExportGoesOnFromAnyEnd(t *testing.T) {
	e := newExporting(t)
	e.broken(exportedVersions)
	partial := filepath.Join(filepath.Dir(e.file), ".acme.zip.partial")
	text, err := os.ReadFile(partial)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		some := text[:len(text)*i/12]
		if i%3 == 2 {
			some = append([]byte(nil), text...)
			some[len(text)*i/12] ^= 1
		}
		if err := os.WriteFile(partial, some, 0o600); err != nil {
			t.Fatal(err)
		}
		e.fetched.Store(0)
		e.answers = anything
		e.must("export", acme.String(), "-o", e.file, "--overwrite")
		if got := e.fetched.Load(); got < 1 || got > exportedVersions {
			t.Errorf("with %d bytes of %d, %d versions were fetched", len(some), len(text), got)
		}
		e.must("import", "export", e.file, "--into", "x", "--dry-run")
	}
	if err := os.Remove(e.file); err != nil {
		t.Fatal(err)
	}
	e.whole(exportedVersions)
}

// TestOneExportToAFile: of two at once to one file, the second is refused.
func TestOneExportToAFile(t *testing.T) {
	e := newExporting(t)
	kept, err := openKept(e.file)
	if err != nil {
		t.Fatal(err)
	}
	e.fails("in use", "export", acme.String(), "-o", e.file)
	if err := kept.clear(); err != nil {
		t.Fatal(err)
	}
	e.whole(exportedVersions)
}
