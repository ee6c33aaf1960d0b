package resources

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
)

// States is what an Indexer reads of a state.Store.
type States interface {
	Head(ctx context.Context, ref state.Ref) (state.Head, error)
	Version(ctx context.Context, ref state.Ref, number uint64) (state.Snapshot, error)
	Versions(ctx context.Context, ref state.Ref, before uint64, limit int) ([]state.Version, error)
	Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error)
	All(ctx context.Context, after state.Ref, limit int) ([]state.Located, error)
}

// Sources are what an Indexer stands on.
type Sources struct {
	Index   Index
	States  States
	Uploads inventory.Store
	Rules   *Rules
	Memory  *budget.Budget // of bodies; nil bounds nothing
	Log     *slog.Logger
	Now     func() time.Time
}

// The pace of an Indexer. What is searched says itself that it is behind, and wakes the
// indexer; so these only bound how old an index gets that nobody asks. What a look costs
// grows with what was written since the last one, not with how many organizations there are.
const (
	pollEvery = 5 * time.Second
	retryWait = 5 * time.Second
	feedPage  = 500
	listPage  = 200
)

// Indexer keeps an Index up to date with what is written. It is the only one to change the
// index, does one thing at a time, and holds at most one state in memory. Writers never
// wait for it.
type Indexer struct {
	Sources

	wake   chan struct{}
	cancel context.CancelFunc
	done   chan struct{}

	due      due                // whose uploads are to be looked at
	looking  sync.Mutex         // held while it looks at what is written
	round    round              // with looking
	anew     bool               // the index may have nobody's uploads; with looking
	damaged  map[uuid.UUID]bool // whose uploads can't be read; with looking
	retries  retries            // with looking
	pace     pace               // of the look under way; with looking
	failed   []uuid.UUID        // whose uploads the look under way could not read; with looking
	turn     turn               // of changing the index
	progress *progress
	lag      lag
}

// NewIndexer returns an indexer that does nothing until Start or CatchUp.
func NewIndexer(s Sources) *Indexer {
	return &Indexer{Sources: s, wake: make(chan struct{}, 1), anew: true, damaged: map[uuid.UUID]bool{}, turn: newTurn(),
		lag: lag{at: s.Now()}, retries: retries{states: map[state.Ref]retry{}}, progress: newProgress()}
}

// Start follows what is written until Close.
func (x *Indexer) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel, x.done = cancel, make(chan struct{})
	go x.run(ctx)
}

// Close stops it, in the middle of what it does. It does not close the index.
func (x *Indexer) Close() error {
	if x.cancel != nil {
		x.cancel()
		<-x.done
	}
	return nil
}

// Wake makes it look now whether something was written, and at what these organizations
// uploaded. It reports whether it will.
func (x *Indexer) Wake(uploaded ...uuid.UUID) bool {
	for _, org := range uploaded {
		x.due.add(org)
	}
	select {
	case x.wake <- struct{}{}:
	default: // it is awake already
	}
	return x.cancel != nil
}

func (x *Indexer) run(ctx context.Context) {
	defer close(x.done)
	next, whose := pace{wake: x.wake}, aFewMore
	for ctx.Err() == nil {
		wait := pollEvery
		if err := x.look(ctx, next, whose); err != nil && ctx.Err() == nil {
			if whose != thoseDue { // who searches brings no lines into the log
				x.Log.WarnContext(ctx, "the resource index is behind; trying again", "error", err)
			}
			wait = retryWait
		}
		next, whose = pace{wake: x.wake}, aFewMore
		timer := time.NewTimer(wait)
		select {
		case <-x.wake:
			next, whose = pace{}, thoseDue // somebody waits for this look's end
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// CatchUp brings the index up to what is written now. What of one state or organization
// can't be read stops nothing else; an error says that a store or the index is not there.
func (x *Indexer) CatchUp(ctx context.Context) error { return x.look(ctx, pace{}, everybody) }

func (x *Indexer) look(ctx context.Context, p pace, whose reach) error {
	x.looking.Lock()
	defer x.looking.Unlock()
	x.pace = p
	x.pace.began = time.Now()
	began := x.Now()
	x.progress.begin()
	defer x.progress.end()
	err := x.catchUp(ctx, whose)
	x.lag.note(err == nil, began)
	return err
}

func (x *Indexer) catchUp(ctx context.Context, whose reach) error {
	if x.Index.Damaged() {
		x.Log.WarnContext(ctx, "the resource index is damaged, and is made again")
		x.anew = true
		if err := x.turn.alone(ctx, func() error { return x.Index.Reset(ctx) }); err != nil {
			return err
		}
	}
	if err := x.followStates(ctx); err != nil {
		return err
	}
	if err := x.retryUnread(ctx); err != nil {
		return err
	}
	more, err := x.followUploads(ctx, whose)
	for more && ctx.Err() == nil { // states come in between, however much somebody has uploaded
		if err := x.followStates(ctx); err != nil {
			return err
		}
		var failed error
		more, failed = x.followUploads(ctx, thoseDue)
		err = cmp.Or(err, failed)
	}
	x.due.add(x.failed...)
	x.failed = nil
	return cmp.Or(err, ctx.Err())
}

// lag is what metrics show of an indexer.
type lag struct {
	mu       sync.Mutex
	current  bool
	at       time.Time // when the last look began that ended well, or the indexer was made
	failures int64
	states   int64
}

func (l *lag) note(current bool, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = current
	if current {
		l.at = began
	} else {
		l.failures++
	}
}

func (l *lag) loaded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states++
}

// Activity is what an indexer did since it was made.
type Activity struct {
	Current  bool  // the last look at what was written ended well
	Failures int64 // looks that did not
	States   int64 // states that were read
	// Age is how old what the index has may be: since the last look began that ended well, or
	// since the indexer was made.
	Age time.Duration
}

// Activity returns what the indexer did so far.
func (x *Indexer) Activity() Activity {
	x.lag.mu.Lock()
	defer x.lag.mu.Unlock()
	return Activity{Current: x.lag.current, Failures: x.lag.failures, States: x.lag.states,
		Age: max(x.Now().Sub(x.lag.at), 0)}
}
