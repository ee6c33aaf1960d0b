package dual

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/vitals"
	"github.com/holdfast/holdfast/inventory"
)

// Options are what Open needs to know.
type Options struct {
	// Dir is the directory of the outbox. Open makes it if needed.
	Dir string
	// The sides. Close closes them; an Open that fails leaves them open.
	CSV, Database inventory.Store
	// Engine is what the database's side is called: mysql, which is the default, or postgres.
	Engine string
	// MaxBacklogBytes bounds what the outbox keeps, compressed; 0 for 1 GiB.
	MaxBacklogBytes int64
	// SideTimeout is how long an upload waits for a side; 0 for 5 seconds.
	SideTimeout time.Duration
	// Server has Open wait no longer than SideTimeout for what a side has missed.
	Server bool
	// Log is told of sides that fail and recover, and of what they refuse; nil for none.
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
	if o.SideTimeout == 0 {
		o.SideTimeout = 5 * time.Second
	}
	if o.Engine == "" {
		o.Engine = "mysql"
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

	lanesMu sync.Mutex
	lanes   map[uuid.UUID]*lane

	heldBytes atomic.Int64 // what is owed, counted once for each side

	stop    context.Context // ends when Close begins: for replays
	stopNow context.CancelFunc
	replays sync.WaitGroup // the goroutines that replay
	calls   sync.WaitGroup // calls of sides, those too that nobody waits for any more

	// gate is held for reading by every Append, for writing by Close until all have left.
	gate    sync.RWMutex
	closing atomic.Bool
}

// Open opens the outbox, sends what it holds, and returns when each side has it or has failed once more; the rest
// goes on in the background. An import that was interrupted goes by what CSV has then. One process at a time may have
// the directory open.
func Open(ctx context.Context, o Options) (*Store, error) {
	o.setDefaults()
	outbox, err := openOutbox(ctx, o.Dir, o.Log)
	if err != nil {
		return nil, fmt.Errorf("open the outbox in %s: %w", o.Dir, err)
	}
	s := &Store{o: o, outbox: outbox, lanes: map[uuid.UUID]*lane{}}
	s.sides = [2]*side{newSide(csv, "csv", o.CSV), newSide(database, o.Engine, o.Database)}
	s.stop, s.stopNow = context.WithCancel(context.WithoutCancel(ctx))
	if err := s.resume(ctx); err != nil {
		s.stopNow()
		s.replays.Wait()
		s.calls.Wait()
		return nil, errors.Join(fmt.Errorf("open the outbox in %s: %w", o.Dir, err), outbox.close())
	}
	return s, nil
}

// resume owes the sides what the outbox holds, and waits until they have tried to take it.
func (s *Store) resume(ctx context.Context) error {
	rows, err := s.outbox.all(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		l := s.lane(r.org)
		l.last = later(l.last, r.at)
		for _, d := range s.sides {
			if r.owes.has(d.name) {
				s.owe(d, l, r)
			}
		}
	}
	var tries sync.WaitGroup
	for _, l := range s.lanes {
		for _, d := range s.sides {
			s.replay(d, l, &tries)
		}
	}
	tried := make(chan struct{})
	go func() {
		tries.Wait()
		close(tried)
	}()
	var enough <-chan time.Time
	if s.o.Server {
		enough = time.After(s.o.SideTimeout)
	}
	select {
	case <-tried:
	case <-enough:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Close implements inventory.Store. It closes the sides too. What they are owed stays in the outbox.
func (s *Store) Close() error {
	if s.closing.Swap(true) {
		return nil
	}
	s.stopNow()
	s.lastLeft()
	s.replays.Wait()
	err := errors.Join(s.outbox.close(), s.sides[csv].store.Close(), s.sides[database].store.Close())
	s.calls.Wait() // the sides' Close waited for those that had begun
	return err
}

// lastLeft returns when everybody who was let in has left. The gate is open then, so that who comes later is refused
// and does not wait.
func (s *Store) lastLeft() {
	s.gate.Lock()
	defer s.gate.Unlock()
}

// enter lets a call in, unless the store is closed. The caller must leave.
func (s *Store) enter() error {
	s.gate.RLock()
	if s.closing.Load() {
		s.gate.RUnlock()
		return fault.New(fault.StoreUnavailable, "the store is closed")
	}
	return nil
}

func (s *Store) leave() { s.gate.RUnlock() }

// Append implements inventory.Store. Once the batch is in the outbox, the end of ctx no longer matters.
func (s *Store) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	if err := s.enter(); err != nil {
		return inventory.Receipt{}, err
	}
	defer s.leave()
	l := s.lane(batch.Org)
	if err := l.take(ctx); err != nil {
		return inventory.Receipt{}, err
	}
	defer l.give()
	if receipt, found, err := s.known(ctx, l, batch); found || err != nil {
		return receipt, err
	}
	if err := s.seed(ctx, l); err != nil {
		return inventory.Receipt{}, err
	}
	if batch.At.IsZero() {
		batch.At = inventory.Stamp(s.o.Now(), l.last)
	}
	batch.At = batch.At.UTC().Truncate(time.Microsecond)
	if batch.At.Before(l.last) {
		return s.old(ctx, l, batch)
	}
	batch, err := s.allow(l, batch)
	if err != nil {
		return inventory.Receipt{}, err
	}
	receipts, err := s.record(l, []inventory.Batch{batch})
	if err != nil {
		return inventory.Receipt{}, err
	}
	return receipts[0], nil
}

// shareMost is how many batches share a commit of the outbox and a call of each side.
const shareMost = 256

// AppendAll implements inventory.Store. Batches of an import share commits for as long as nothing is wrong; else each
// goes by itself.
func (s *Store) AppendAll(ctx context.Context, batches []inventory.Batch) (receipts []inventory.Receipt, err error) {
	for len(batches) > 0 {
		some := batches[:min(len(batches), shareMost)]
		more, together, err := s.appendTogether(ctx, some)
		if err == nil && !together {
			more, err = inventory.AppendEach(ctx, s, some)
		}
		receipts = append(receipts, more...)
		if err != nil {
			return receipts, err
		}
		batches = batches[len(more):]
	}
	return receipts, nil
}

// appendTogether does nothing unless both sides are owed nothing and the batches are new and follow each other.
func (s *Store) appendTogether(ctx context.Context, batches []inventory.Batch) (receipts []inventory.Receipt,
	together bool, err error) {
	if err := s.enter(); err != nil {
		return nil, false, err
	}
	defer s.leave()
	l := s.lane(batches[0].Org)
	if err := l.take(ctx); err != nil {
		return nil, false, err
	}
	defer l.give()
	if err := s.seed(ctx, l); err != nil {
		return nil, false, err
	}
	if l.owing() != 0 || !follow(l.last, batches) {
		return nil, false, nil
	}
	receipts, err = s.record(l, batches)
	if len(receipts) == 0 && (fault.Is(err, fault.BacklogFull) || fault.Is(err, fault.IdempotencyMismatch)) {
		return nil, false, nil // perhaps only some of them
	}
	return receipts, true, err
}

// follow reports whether the batches bring timestamps that follow each other and the newest one, and IDs that differ
// and were no caller's choice.
func follow(newest time.Time, batches []inventory.Batch) bool {
	ids := map[string]bool{}
	for _, b := range batches {
		if b.At.IsZero() || b.At != b.At.UTC().Truncate(time.Microsecond) || b.At.Before(newest) || b.Keyed() || ids[b.ID] ||
			b.Allow != nil || b.Org != batches[0].Org {
			return false
		}
		newest, ids[b.ID] = b.At, true
	}
	return true
}

// known answers a batch that is in the outbox, or that may have been recorded before. A side that is behind is not
// asked: what it may lack is in the outbox.
func (s *Store) known(ctx context.Context, l *lane, batch inventory.Batch) (inventory.Receipt, bool, error) {
	if l.owing() != 0 {
		r, found, err := s.outbox.find(ctx, batch.Org, batch.ID)
		if err != nil {
			return inventory.Receipt{}, false, err
		}
		if found && r.taken == 0 {
			l.nudge()
			return inventory.Receipt{}, false, errBothDown(nil)
		}
		if found {
			receipt, err := r.remembered().Again(batch)
			return receipt, true, err
		}
	}
	if !batch.Keyed() && (batch.New || batch.Allow == nil) {
		return inventory.Receipt{}, false, nil // the sides find it, if it is there
	}
	if found, ok, _ := s.rememberedBy(ctx, both.without(l.owing()), batch.Org, batch.ID); ok {
		receipt, err := found.Again(batch)
		return receipt, true, err
	}
	return inventory.Receipt{}, false, ctx.Err()
}

// old answers a batch that is older than the newest record: it was recorded before, or it is refused. A side that is
// behind might take it for new, so none is sent it. But it may be the one that has it, if the other refused it for
// good.
func (s *Store) old(ctx context.Context, l *lane, batch inventory.Batch) (inventory.Receipt, error) {
	found, ok, failed := s.rememberedBy(ctx, both, batch.Org, batch.ID)
	if ok {
		return found.Again(batch)
	}
	behind := l.owing()
	for _, d := range s.sides {
		if behind.has(d.name) {
			failed[d.name] = nil
		}
	}
	if err := errors.Join(failed[:]...); err != nil || behind == both {
		return inventory.Receipt{}, errBothDown(err)
	}
	return inventory.Receipt{}, fault.New(fault.ParameterInvalid,
		"the timestamp %s lies before the organization's newest record, %s", batch.At.Format(time.RFC3339Nano),
		l.last.Format(time.RFC3339Nano))
}

// record brings batches into the outbox and to the sides, and returns the receipts of those up to the first that no
// side says it has recorded. A side that is behind waits for what it has missed.
func (s *Store) record(l *lane, batches []inventory.Batch) (receipts []inventory.Receipt, err error) {
	to := both.without(l.owing())
	if to == 0 {
		l.nudge()
		return nil, errBothDown(nil)
	}
	rows, size := make([]row, len(batches)), int64(0)
	for i, batch := range batches {
		if rows[i], err = newRow(s.outbox.codec, batch); err != nil {
			return nil, err
		}
		size += rows[i].size
	}
	if err := s.room(l, to, size); err != nil {
		return nil, err
	}
	if err := s.outbox.put(rows...); err != nil {
		return nil, err
	}
	answers := s.sendAll(to, batches)
	for i, r := range rows {
		receipt, failed := s.conclude(l, r, answers[i])
		switch {
		case err != nil: // one before it has failed
		case failed != nil:
			err = failed
		default:
			receipts = append(receipts, receipt)
		}
	}
	return receipts, err
}

// conclude turns what the sides said of a batch into the answer, and owes it to those that may not have it.
func (s *Store) conclude(l *lane, r row, all [2]outcome) (inventory.Receipt, error) {
	for _, o := range all {
		if o.kind() == recorded && o.receipt.Replayed { // before, and it is owed to nobody: both have it
			l.last = later(l.last, r.at) // one that had forgotten it may have recorded it anew
			s.outbox.settle(r.seq, both, both)
			return o.receipt, nil
		}
	}
	done := those(all, recorded)
	if done == 0 && those(all, unknown) == 0 {
		// Removed before the answer: after a crash it would be sent again.
		err := s.outbox.drop(r)
		if err == nil {
			return inventory.Receipt{}, failure(all)
		}
		all[csv].err = errors.Join(all[csv].err, err)
	}
	l.last = later(l.last, r.at)
	s.outbox.settle(r.seq, done, done)
	for _, d := range s.sides {
		if done.has(d.name) {
			continue
		}
		if s.owe(d, l, r) {
			s.o.Log.Warn("a side of the store fails; what it misses is kept for it", "side", d.label, "org", l.org,
				"error", all[d.name].err)
		}
	}
	for _, d := range s.sides { // when all is owed: who replays goes by what is
		s.replay(d, l, nil)
	}
	for n, o := range all {
		if done.has(name(n)) {
			return o.receipt, nil
		}
	}
	return inventory.Receipt{}, errBothDown(errors.Join(all[csv].err, all[database].err))
}

// failure is the answer when both sides surely have not recorded a batch.
func failure(all [2]outcome) error {
	full := 0
	for _, o := range all {
		if o.kind() == refused {
			return o.err
		}
		if fault.Is(o.err, fault.StoreFull) {
			full++
		}
	}
	cause := errors.Join(all[csv].err, all[database].err)
	if full == len(all) {
		return fault.Wrap(cause, fault.StoreFull, "both sides of the store are full")
	}
	return errBothDown(cause)
}

func errBothDown(cause error) error {
	err := fault.Wrap(cause, fault.StoreUnavailable, "both sides of the store are away; try again")
	err.RetryAfter = 2 * time.Second
	return err
}

// seed finds the newest timestamp that the sides have, once for an organization. What a side that is away may have
// beyond the other, the outbox has as well.
func (s *Store) seed(ctx context.Context, l *lane) error {
	if l.seeded {
		return nil
	}
	var failed []error
	for _, d := range s.sides {
		at, err := s.newest(ctx, d, l.org)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, err)
		}
		l.last = later(l.last, at)
	}
	if len(failed) == len(s.sides) {
		return errBothDown(errors.Join(failed...))
	}
	l.seeded = true
	return nil
}

// newest returns the timestamp of the organization's newest record on a side.
func (s *Store) newest(ctx context.Context, d *side, org uuid.UUID) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.SideTimeout)
	defer cancel()
	for record, err := range d.store.Records(ctx, org, inventory.Query{Order: inventory.Descending}) {
		return record.Timestamp, err
	}
	return time.Time{}, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Recorded implements inventory.Store: what is owed to a side is as good as recorded, if the other one has it.
func (s *Store) Recorded(ctx context.Context, org uuid.UUID, id string) (inventory.Remembered, bool, error) {
	if err := s.enter(); err != nil {
		return inventory.Remembered{}, false, err
	}
	defer s.leave()
	r, found, err := s.outbox.find(ctx, org, id)
	if err != nil || found && r.taken != 0 {
		return r.remembered(), err == nil, err
	}
	remembered, ok, failed := s.rememberedBy(ctx, both, org, id)
	if ok {
		return remembered, true, nil
	}
	away := errors.Join(failed[:]...)
	if failed[csv] != nil && failed[database] != nil || away != nil && found { // who is away may have what the outbox has
		return inventory.Remembered{}, false, errBothDown(away)
	}
	return inventory.Remembered{}, false, nil
}

// rememberedBy asks sides in turn, up to the first that remembers the ID; failed is why those could not be asked that
// could not.
func (s *Store) rememberedBy(ctx context.Context, of names, org uuid.UUID, id string) (found inventory.Remembered,
	ok bool, failed [2]error) {
	for _, d := range s.sides {
		if !of.has(d.name) {
			continue
		}
		within, cancel := context.WithTimeout(ctx, s.o.SideTimeout)
		found, ok, failed[d.name] = d.store.Recorded(within, org, id)
		cancel()
		if ok && failed[d.name] == nil {
			return found, true, failed
		}
	}
	return inventory.Remembered{}, false, failed
}

// Records implements inventory.Store. It reads what CSV has.
func (s *Store) Records(ctx context.Context, org uuid.UUID,
	query inventory.Query) iter.Seq2[inventory.Positioned, error] {
	return s.sides[csv].store.Records(ctx, org, query)
}

// Summary implements inventory.Store. It reads what CSV has.
func (s *Store) Summary(ctx context.Context, org uuid.UUID) ([]inventory.Group, error) {
	return s.sides[csv].store.Summary(ctx, org)
}

// Organizations implements inventory.Store. It reads what CSV has.
func (s *Store) Organizations(ctx context.Context) iter.Seq2[uuid.UUID, error] {
	return s.sides[csv].store.Organizations(ctx)
}

// Usage implements inventory.Store: what CSV has, which is on the same disk as states, and what is still owed to it.
// What the database has is the same once more, on other disks.
func (s *Store) Usage(ctx context.Context, org uuid.UUID) (int64, error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	return s.usage(ctx, s.lane(org))
}

func (s *Store) usage(ctx context.Context, l *lane) (int64, error) {
	used, err := s.sides[csv].store.Usage(ctx, l.org)
	return used + l.owedBytes(csv), err
}

// allow asks whether the batch may be recorded, also while CSV fails: the database takes it then, and what CSV is owed
// counts. The sides are not to ask once more: one would refuse what the other has.
func (s *Store) allow(l *lane, batch inventory.Batch) (inventory.Batch, error) {
	if batch.Allow == nil {
		return batch, nil
	}
	used, err := s.usage(context.Background(), l)
	if err != nil {
		s.o.Log.Debug("what an organization has in CSV is not known", "org", l.org, "error", err)
	}
	err = batch.MayAdd(used, batch.Bytes())
	batch.Allow = nil
	return batch, err
}

// Databases implements vitals.Databases: those of its sides, and the outbox.
func (s *Store) Databases() map[string]vitals.Database {
	all := map[string]vitals.Database{"outbox": s.outbox.writer.Vitals()}
	for _, d := range s.sides {
		if below, ok := d.store.(vitals.Databases); ok {
			maps.Copy(all, below.Databases())
		}
	}
	return all
}
