package shred

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/pause"
)

// Order says that everything of an organization is to be destroyed.
type Order struct {
	Org  uuid.UUID
	Name string
	At   time.Time // tells it from an earlier order for the same organization
}

// Store is what has something of organizations. Shred removes a piece of what one has, of at most
// limit rows, and returns how many went; 0 says that there is nothing any more. It may be called
// again at any time, and changes nothing of any other organization.
type Store interface {
	Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error)
}

// Part is a Store with what people call what is in it.
type Part struct {
	What string
	Store
}

// Doors are where organizations come in. Shut lets nobody in any more, and returns what is closed
// when nobody is inside who came before; Open takes that back.
type Doors interface {
	Shut(org uuid.UUID) (empty <-chan struct{})
	Open(org uuid.UUID)
}

// Config is what a Shredder works with. All of it is needed.
type Config struct {
	// Orders are those in force, and Replaced is closed when there are others.
	Orders   func() []Order
	Replaced func() <-chan struct{}
	Doors    Doors
	// Parts are destroyed in their order: the keys of what is sealed come first.
	Parts    []Part
	Receipts Receipts
	Log      *slog.Logger
	Now      func() time.Time
}

// The steps in which it goes.
const (
	// piece is how many rows one call of a Store takes.
	piece = 200
	// again is when what has failed is tried again, and regularly when orders are looked at although
	// nothing was heard.
	again     = time.Minute
	regularly = time.Hour
	// told is how often the log says how far it is.
	told = 30 * time.Second
)

// Shredder destroys what orders name, one organization after the other.
type Shredder struct {
	Config
	shut map[uuid.UUID]<-chan struct{} // of whom the doors are shut
}

// New returns a Shredder. The doors of all whom an order names are shut when it returns.
func New(c Config) *Shredder {
	s := &Shredder{Config: c, shut: map[uuid.UUID]<-chan struct{}{}}
	s.shutDoors(c.Orders())
	return s
}

// Run destroys what is ordered now and later, until ctx ends. What it was at then is gone on with by
// the next one.
func (s *Shredder) Run(ctx context.Context) {
	for ctx.Err() == nil {
		replaced, wait := s.Replaced(), regularly
		orders := s.Orders()
		s.shutDoors(orders)
		for _, order := range orders {
			err := s.obey(ctx, order)
			if err == nil || ctx.Err() != nil {
				continue
			}
			wait = again
			s.Log.ErrorContext(ctx, "not all of an organization that was removed with its data is destroyed yet; it is gone "+
				"on with in a minute",
				"org", order.Org.String(), "error", err)
		}
		_ = pause.Until(ctx, wait, replaced)
	}
}

// shutDoors lets nobody in whom an order names, and everybody else.
func (s *Shredder) shutDoors(orders []Order) {
	named := map[uuid.UUID]bool{}
	for _, order := range orders {
		named[order.Org] = true
		if _, already := s.shut[order.Org]; !already {
			s.shut[order.Org] = s.Doors.Shut(order.Org)
		}
	}
	for org := range s.shut {
		if !named[org] {
			s.Doors.Open(org)
			delete(s.shut, org)
		}
	}
}

// obey carries an order out, unless there is a receipt for it.
func (s *Shredder) obey(ctx context.Context, order Order) error {
	done, err := s.Receipts.Has(order)
	if err != nil || done {
		return err
	}
	w := &work{Shredder: s, order: order, begun: s.Now(), counts: make([]int64, len(s.Parts))}
	w.told = w.begun
	s.Log.InfoContext(ctx, "destroying all data of an organization that was removed",
		"org", order.Org.String(), "name", order.Name, "ordered", order.At)
	if err := w.destroy(ctx); err != nil {
		return err
	}
	if err := s.Receipts.Write(order, s.Now()); err != nil {
		return fmt.Errorf("write down that it is done: %w", err)
	}
	s.Log.InfoContext(ctx, "all data of an organization that was removed is destroyed",
		append([]any{"org", order.Org.String(), "took", s.Now().Sub(w.begun).Round(time.Millisecond).String()},
			w.attributes()...)...)
	return nil
}

// work is an order that is being carried out.
type work struct {
	*Shredder
	order       Order
	begun, told time.Time
	counts      []int64 // of what went, by part
}

// destroy goes through all parts until there is nothing in any of them, and nobody was left inside
// before it looked for the last time. What a request that began before has written meanwhile goes
// with the next round.
func (w *work) destroy(ctx context.Context) error {
	if _, err := w.round(ctx); err != nil {
		return err
	}
	if err := w.untilEmpty(ctx); err != nil {
		return err
	}
	for {
		removed, err := w.round(ctx)
		if err != nil || removed == 0 {
			return err
		}
	}
}

// untilEmpty waits until nobody is inside who came before the doors were shut, which may be for as long
// as a request lasts, or until the order is taken back: those whom it named wait at the doors.
func (w *work) untilEmpty(ctx context.Context) error {
	for empty := w.shut[w.order.Org]; ; {
		replaced := w.Replaced()
		if !slices.Contains(w.Orders(), w.order) {
			return errTakenBack
		}
		select {
		case <-empty:
			return nil
		case <-replaced:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// round destroys what is in each part.
func (w *work) round(ctx context.Context) (removed int64, err error) {
	for i, part := range w.Parts {
		before := w.counts[i]
		for more := true; more; {
			if more, err = w.piece(ctx, i); err != nil {
				return removed, fmt.Errorf("%s: %w", part.What, err)
			}
		}
		removed += w.counts[i] - before
	}
	return removed, nil
}

var errTakenBack = errors.New("the auth file says no more that it is to be destroyed; what is left of it stays")

// piece has a part destroy a piece, and rests for as long as that took: others write too.
func (w *work) piece(ctx context.Context, i int) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if !slices.Contains(w.Orders(), w.order) {
		return false, errTakenBack
	}
	began := w.Now()
	removed, err := w.Parts[i].Shred(ctx, w.order.Org, piece)
	w.counts[i] += int64(removed)
	if err != nil || removed == 0 {
		return false, err
	}
	now := w.Now()
	if now.Sub(w.told) >= told {
		w.told = now
		w.Log.InfoContext(ctx, "destroying all data of an organization goes on",
			append([]any{"org", w.order.Org.String(), "at", w.Parts[i].What}, w.attributes()...)...)
	}
	return true, pause.For(ctx, now.Sub(began))
}

// attributes say what went, for the log.
func (w *work) attributes() (all []any) {
	for i, part := range w.Parts {
		all = append(all, slog.Int64(part.What, w.counts[i]))
	}
	return all
}
