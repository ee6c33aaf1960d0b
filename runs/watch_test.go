package runs_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/runs"
)

// counting counts what is read of a store.
type counting struct {
	runs.Store
	reads, logs atomic.Int64
}

func (c *counting) Run(ctx context.Context, ref runs.Ref) (runs.Run, error) {
	c.reads.Add(1)
	return c.Store.Run(ctx, ref)
}

func (c *counting) LogsOf(ctx context.Context, ref runs.Ref) ([]runs.LogInfo, error) {
	c.reads.Add(1)
	return c.Store.LogsOf(ctx, ref)
}

func (c *counting) LogEnd(ctx context.Context, log runs.LogRef) (int64, error) {
	c.reads.Add(1)
	return c.Store.LogEnd(ctx, log)
}

func (c *counting) ReadLog(ctx context.Context, log runs.LogRef, offset, limit int64) ([]runs.LogPiece, error) {
	c.reads.Add(1)
	c.logs.Add(1)
	return c.Store.ReadLog(ctx, log, offset, limit)
}

func (c *counting) Lines(ctx context.Context, org uuid.UUID, of []string) (map[string]runs.Line, error) {
	c.reads.Add(1)
	return c.Store.Lines(ctx, org, of)
}

func (c *counting) Pools(ctx context.Context, org uuid.UUID) ([]runs.Pool, error) {
	c.reads.Add(1)
	return c.Store.Pools(ctx, org)
}

// reader follows a log to its end.
type reader struct {
	mu    sync.Mutex
	text  strings.Builder
	looks int
	done  chan struct{}
}

func (r *reader) follow(t *testing.T, w *runs.Watch, stream runs.Stream) {
	defer close(r.done)
	defer w.Close()
	for offset := int64(0); ; {
		more := w.Next()
		part, err := w.Log(context.Background(), stream, 1, offset)
		if err != nil {
			t.Error(err)
			return
		}
		r.mu.Lock()
		r.looks++
		r.text.Write(part.Text)
		r.mu.Unlock()
		if offset = part.End; part.Ended {
			return
		}
		if len(part.Text) == 0 {
			<-more
		}
	}
}

func (r *reader) got() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// Many who watch a run cost the store as much as one: nothing more while nothing happens, and one
// reading of what has come.
func TestManyWhoWatchReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogged(t, "hunter2")
		l.Log("before\n")
		store := &counting{Store: l.World.Deps.Store}
		l.World.Deps.Store = store
		l.Restart()
		var readers []*reader
		for range 20 {
			w, err := l.World.Watch(t.Context(), l.caller, l.Run)
			l.must(err)
			r := &reader{done: make(chan struct{})}
			readers = append(readers, r)
			go r.follow(t, w, runs.Stream(l.Stage))
		}
		time.Sleep(2 * time.Second)
		wantShown := func(want string) {
			t.Helper()
			synctest.Wait()
			for _, r := range readers {
				if got := r.got(); got != want {
					t.Fatalf("a reader has %q, want %q", got, want)
				}
			}
		}
		wantShown("before\n")
		quiet := func(seconds int) int64 {
			t.Helper()
			before := store.reads.Load()
			time.Sleep(time.Duration(seconds) * time.Second)
			return store.reads.Load() - before
		}
		if n := quiet(60); n > 3*60 {
			t.Errorf("in a minute in which nothing happens the store is read %d times for 20 readers", n)
		}
		logs := store.logs.Load()
		l.Log("line\nhun")
		wantShown("before\nline\n")
		l.Log("ter2\n")
		wantShown("before\nline\n*******\n")
		large := strings.Repeat("0123456789abcde\n", 64<<10)
		l.Log(large)
		wantShown("before\nline\n*******\n" + large)
		if n := store.logs.Load() - logs; n > 12 {
			t.Errorf("the log is read %d times", n)
		}
		l.Log("hun")
		l.Report(api.PhaseReport{Phase: "plan", Outcome: "failed", Last: true})
		for _, r := range readers {
			<-r.done
		}
		wantShown("before\nline\n*******\n" + large + "hun")
	})
}

// What another server adds to a log, and what it does with a run, is seen here too, a little later.
func TestWatchSeesWhatAnotherServerDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogged(t)
		l.Log("one ")
		here, err := l.World.Watch(t.Context(), l.caller, l.Run)
		l.must(err)
		r := &reader{done: make(chan struct{})}
		go r.follow(t, here, runs.Stream(l.Stage))
		time.Sleep(5 * time.Second)
		l.Restart() // from here on the executor speaks to another server
		l.Log("two ")
		l.Renew("plan") // between two looks
		time.Sleep(5 * time.Second)
		if got := r.got(); got != "one two " {
			t.Errorf("%q is seen", got)
		}
		l.Report(api.PhaseReport{Phase: "plan", Outcome: "failed", Last: true})
		<-r.done
	})
}
