package dual

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// Options are what Open needs to know.
type Options struct {
	// Dir is the directory of the outbox. Open makes it if needed.
	Dir string
	// The sides. Close closes them; an Open that fails leaves them open.
	CSV, MySQL inventory.Store
	// MaxBacklogBytes bounds what the outbox keeps, compressed; 0 for 1 GiB.
	MaxBacklogBytes int64
	// Patience is for how long a side may refuse an organization as a whole, because its file
	// was edited say, until a batch becomes a dead letter; 0 for an hour. It is longer while the
	// side takes nothing of other organizations either.
	Patience time.Duration
	// SideTimeout is how long an upload waits for a side; 0 for 5 seconds.
	SideTimeout time.Duration
	// Watched is for a server: the log reminds of dead letters, the sides are compared in
	// the background once both are there, and Open does not wait for a long backlog.
	Watched bool
	// Log is told of sides that fail and recover; nil for none.
	Log *slog.Logger
	// Now is the clock; nil for time.Now.
	Now func() time.Time
	// After is the timer of the waits between replays; nil for time.After.
	After func(time.Duration) <-chan time.Time
}

func (o *Options) setDefaults() {
	if o.MaxBacklogBytes == 0 {
		o.MaxBacklogBytes = 1 << 30
	}
	if o.Patience == 0 {
		o.Patience = time.Hour
	}
	if o.SideTimeout == 0 {
		o.SideTimeout = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
}

// Store is an inventory.Store over two others. Make it with Open.
type Store struct {
	o      Options
	sides  [2]*side
	outbox *outbox
	status statusCache

	compared chan struct{} // closed when the sides were compared after Open
	differ   atomic.Bool   // they were found to

	lanesMu sync.Mutex
	lanes   map[uuid.UUID]*lane

	// heldBytes is what is owed, counted once for each side, and what dead letters have.
	heldBytes atomic.Int64

	stop    context.Context // ends when Close begins: for replays
	stopNow context.CancelFunc
	replays sync.WaitGroup // the goroutines that pay debts
	calls   sync.WaitGroup // calls of sides, those too that nobody waits for any more

	// gate is held for reading by every Append, for writing by Close until all have left.
	gate    sync.RWMutex
	closing atomic.Bool
}

// Open opens the outbox, sends what it holds, and returns when every side has it or has
// failed once more; the rest goes on in the background. A server does not wait for more than the
// first batches of an organization. Anybody else does: an import that was interrupted goes by
// what CSV has. One process at a time may have the directory open.
func Open(ctx context.Context, o Options) (*Store, error) {
	o.setDefaults()
	outbox, err := openOutbox(ctx, o.Dir, o.Log)
	if err != nil {
		return nil, fmt.Errorf("open the outbox in %s: %w", o.Dir, err)
	}
	s := newStore(ctx, o, outbox)
	if err := s.resume(ctx); err != nil {
		s.stopNow()
		s.replays.Wait()
		s.calls.Wait()
		return nil, errors.Join(fmt.Errorf("open the outbox in %s: %w", o.Dir, err), outbox.close())
	}
	if o.Watched {
		s.warnOfLetters(ctx)
		s.replays.Go(s.compareOnce)
	}
	return s, nil
}

func newStore(ctx context.Context, o Options, outbox *outbox) *Store {
	s := &Store{o: o, outbox: outbox, lanes: map[uuid.UUID]*lane{}, compared: make(chan struct{})}
	s.sides = [2]*side{newSide(csv, o.CSV, o.SideTimeout), newSide(mysql, o.MySQL, o.SideTimeout)}
	s.stop, s.stopNow = context.WithCancel(context.WithoutCancel(ctx))
	return s
}

// resume enters the debts that the outbox holds, and gives each side a first try at them.
func (s *Store) resume(ctx context.Context) error {
	if err := s.takeIn(ctx); err != nil {
		return err
	}
	return s.tryFirst(ctx)
}

// takeIn enters what the outbox holds.
func (s *Store) takeIn(ctx context.Context) error {
	rows, err := s.outbox.all(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		l := s.lane(r.org)
		l.last = later(l.last, r.at)
		for _, side := range s.sides {
			if r.owes.has(side.name) {
				s.owe(side, l, r.debt())
			}
		}
	}
	letters, err := s.outbox.letters(ctx)
	if err != nil {
		return err
	}
	for _, letter := range letters {
		l := s.lane(letter.Org)
		l.last = later(l.last, letter.At)
		s.inter(l, letter.side, letter.row.debt())
	}
	return s.resumeDiscarded(ctx)
}

// tryFirst starts to pay, and waits until all have tried once.
func (s *Store) tryFirst(ctx context.Context) error {
	// All are ours to pay before anybody does: a payer of one side may start that of the other,
	// and Open would wait forever for the first try of one that somebody else has started.
	var tries sync.WaitGroup
	var begin []func()
	for _, l := range s.lanes {
		for _, side := range s.sides {
			if l.owes(side.name) && l.pay(side.name) {
				begin = append(begin, func() { s.startPaying(side, l, &tries) })
			}
		}
	}
	for _, start := range begin {
		start()
	}
	done := make(chan struct{})
	go func() {
		tries.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements inventory.Store. It closes the sides too. Debts stay in the outbox.
func (s *Store) Close() error {
	if s.closing.Swap(true) {
		return nil
	}
	s.stopNow()
	s.lastLeft()
	s.replays.Wait()
	err := errors.Join(s.outbox.close(), s.sides[csv].store.Close(), s.sides[mysql].store.Close())
	s.calls.Wait() // the sides' Close waited for those that had begun
	return err
}

// lastLeft returns when everybody who was let in has left. The gate is open then, so that who
// comes later is refused and does not wait: Close waits for some of those.
func (s *Store) lastLeft() {
	s.gate.Lock()
	defer s.gate.Unlock()
}

// enter lets an Append in, unless the store is closed. The caller must leave.
func (s *Store) enter() error {
	s.gate.RLock()
	if s.closing.Load() {
		s.gate.RUnlock()
		return errClosed()
	}
	return nil
}

func (s *Store) leave() { s.gate.RUnlock() }
