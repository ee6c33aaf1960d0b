package server

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// frozen counts what waits for it.
type frozen struct{ now atomic.Int32 }

func (f *frozen) Freeze(context.Context) (func(), error) {
	f.now.Add(1)
	return func() { f.now.Store(0) }, nil
}

// moverOf is one before a handler, for a folder of the test's own.
func moverOf(t *testing.T, here http.Handler) (*mover, *frozen, http.Handler) {
	store := &frozen{}
	log := slog.New(slog.DiscardHandler)
	p := &parts{log: log, freezers: []sqlitedb.Freezer{store}, settings: configs.Settings{
		Storage: configs.Storage{Path: t.TempDir()}, State: configs.State{Storage: configs.SQLite}}}
	m := &mover{handover: newHandover(log), parts: p, stop: t.Context()}
	return m, store, m.before(here)
}

func saying(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
}

func answerOf(h http.Handler) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/api/v1/state/a", strings.NewReader("{}")))
	return w.Body.String()
}

// TestHandover: requests wait while a move holds them. They go on here when it ends without an end, as
// when its command is killed, and elsewhere, with all that is written kept waiting, when it is finished.
func TestHandover(t *testing.T) {
	there := httptest.NewServer(saying("there"))
	t.Cleanup(there.Close)
	to, err := url.Parse(there.URL)
	if err != nil {
		t.Fatal(err)
	}
	m, store, all := moverOf(t, saying("here"))
	waiting := func() chan string {
		answer := make(chan string, 1)
		go func() { answer <- answerOf(all) }()
		select {
		case got := <-answer:
			t.Errorf("a request is answered by %q while requests wait", got)
		case <-time.After(20 * time.Millisecond):
		}
		return answer
	}
	if err := m.finish(t.Context(), "elsewhere"); err == nil {
		t.Error("a server that holds nothing is handed over")
	}
	for range 2 {
		if got := answerOf(all); got != "here" {
			t.Errorf("answered by %q before a move", got)
		}
		if err := m.begin(t.Context(), to); err != nil || store.now.Load() != 1 {
			t.Fatal(err, store.now.Load())
		}
		if err := m.begin(t.Context(), to); err == nil {
			t.Error("two moves hold a server")
		}
		answer := waiting()
		m.end()
		if got := <-answer; got != "here" || store.now.Load() != 0 {
			t.Errorf("answered by %q after a move that was given up", got)
		}
		if err := m.finish(t.Context(), "elsewhere"); err == nil {
			t.Error("a server that goes on is handed over")
		}
	}
	if err := m.begin(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	answer := waiting()
	if err := m.finish(t.Context(), "elsewhere"); err != nil {
		t.Fatal(err)
	}
	m.end() // the command leaves
	if got := <-answer; got != "there" || store.now.Load() != 1 {
		t.Errorf("answered by %q after a move", got)
	}
	if got := answerOf(all); got != "there" {
		t.Errorf("answered by %q after a move", got)
	}
	if err := m.begin(t.Context(), to); err == nil {
		t.Error("what was moved is moved again")
	}
	there.Close()
	if got := answerOf(all); !strings.Contains(got, "store_unavailable") {
		t.Errorf("answered by %q when nobody is there", got)
	}
	if err := m.Close(); err != nil || store.now.Load() != 0 {
		t.Error(err, "writes wait for ever")
	}
	if err := storage.AwaitMove(t.Context(), m.parts.settings, m.parts.log); err == nil {
		t.Error("the folder is served again")
	}
}

// TestHandoverWaitsForRequests: what has begun ends first. What lasts is broken off; what does not heed
// that has the move given up.
func TestHandoverWaitsForRequests(t *testing.T) {
	for name, heeds := range map[string]bool{"ends when told to": true, "never ends": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				over := make(chan struct{})
				m, _, all := moverOf(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					if heeds {
						<-r.Context().Done()
					} else {
						<-over
					}
				}))
				m.parts.settings.Storage.Path = dir
				go answerOf(all)
				synctest.Wait()
				if err := m.begin(t.Context(), &url.URL{}); (err == nil) != heeds {
					t.Error(err)
				}
				close(over)
				m.end()
				if m.closed != nil {
					t.Error("requests wait for ever")
				}
			})
		})
	}
}
