package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Window is when a run is measured. It ends with its duration, or when so many operations
// have ended, whatever comes first.
type Window struct {
	Warmup   time.Duration // of work that is not counted
	Duration time.Duration
	Count    int64 // 0 for no bound
	// Least keeps the window open for up to ten times its duration, until so many
	// operations have ended; 0 doesn't. It is for operations that take long.
	Least int64
	// Begin and End are called when the window opens and closes, where they are not nil.
	Begin, End func()
	// Progress is called after each operation that counts, where it is not nil.
	Progress func()
}

// The phases of a run.
const (
	warming int32 = iota
	measuring
	done
)

// pause keeps a connection whose operation failed from asking a server that is in trouble
// without end.
const pause = 100 * time.Millisecond

// running is one run of all connections.
type running struct {
	window  Window
	start   time.Time // when the window opened
	phase   atomic.Int32
	counted atomic.Int64
	full    chan struct{} // closed when Count is reached, or no more may be asked
	fill    func()        // closes full
	enough  chan struct{} // closed when Least is reached
}

// Run has all connections work until the window closes. Operations count when they end
// within the window, so none counts by halves: what was begun before makes up for what is
// cut off at the end. When ctx ends, so does the run, with ctx's error.
func (l *Load) Run(ctx context.Context, w Window) (Result, error) {
	r := &running{window: w, full: make(chan struct{}), enough: make(chan struct{})}
	r.fill = sync.OnceFunc(func() { close(r.full) })
	records := make([]*record, len(l.sessions))
	ended := make(chan error, 1)
	if w.Warmup == 0 {
		r.open() // before anything is done that should count
	}
	go func() {
		ended <- l.each(func(i int, s *session) error {
			records[i] = newRecord()
			l.repeat(ctx, s, r, records[i])
			return ctx.Err()
		})
	}()
	elapsed := r.time(ctx)
	if err := <-ended; err != nil {
		return Result{}, err
	}
	return l.result(records, elapsed), nil
}

func (r *running) open() {
	if r.window.Begin != nil {
		r.window.Begin()
	}
	r.start = time.Now()
	r.phase.Store(measuring)
}

// time opens the window, if it is not open yet, and closes it; it returns how long it was
// open.
func (r *running) time(ctx context.Context) time.Duration {
	defer r.phase.Store(done)
	if r.phase.Load() == warming {
		if !sleep(ctx, r.window.Warmup, nil) {
			return 0
		}
		r.open()
	}
	sleep(ctx, r.window.Duration, r.full)
	if r.window.Least > 0 {
		sleep(ctx, 9*r.window.Duration, r.enough)
	}
	r.phase.Store(done)
	elapsed := time.Since(r.start)
	if r.window.End != nil {
		r.window.End()
	}
	return elapsed
}

// sleep returns after d, when early is closed, or when ctx ends: only then it is false.
func sleep(ctx context.Context, d time.Duration, early <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-early:
	case <-ctx.Done():
		return false
	}
	return true
}

// repeat does one operation after the other.
func (l *Load) repeat(ctx context.Context, s *session, r *running, into *record) {
	for r.phase.Load() != done && ctx.Err() == nil {
		if l.spent.Load() {
			r.fill()
			return
		}
		s.took, s.waits = [steps]time.Duration{}, 0
		start := time.Now()
		err := l.work(s, ctx)
		took := time.Since(start)
		if r.phase.Load() == measuring {
			r.count(into, s, took, err)
		}
		if err != nil {
			r.recover(ctx, s)
		}
	}
}

func (r *running) count(into *record, s *session, took time.Duration, err error) {
	into.waits += s.waits
	if err != nil {
		into.fail(err)
		return
	}
	n := r.counted.Add(1)
	if r.window.Count > 0 && n > r.window.Count {
		return
	}
	into.add(took, s.took)
	if r.window.Progress != nil {
		r.window.Progress()
	}
	if n == r.window.Least {
		close(r.enough)
	}
	if n == r.window.Count {
		r.fill()
	}
}

// recover waits until the session is where it believes to be.
func (r *running) recover(ctx context.Context, s *session) {
	for r.phase.Load() != done && sleep(ctx, pause, r.full) {
		if s.settle(ctx) == nil {
			return
		}
	}
}
