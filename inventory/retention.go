package inventory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// expirePiece is how many records of a database are removed at once: others upload between the pieces.
const expirePiece = 1000

// indexPiece is that of the index, where a resource costs more.
const indexPiece = 250

// Retention removes the records that organizations don't keep. Several nodes may do so at once.
type Retention struct {
	Store Store
	// Index has what this process makes of records; nil for nothing. Each node removes from its own, whoever has
	// removed the records.
	Index interface {
		Expire(ctx context.Context, org uuid.UUID, before time.Time, limit int) (removed int, err error)
	}
	Audit audit.Recorder
	Orgs  func() []uuid.UUID
	// Keep is for how long an organization's records are kept; 0 for ever.
	Keep func(org uuid.UUID) time.Duration
	Now  func() time.Time
	Log  *slog.Logger

	mu   sync.Mutex
	last time.Time               // of the sweep before, by the clock
	done map[uuid.UUID]time.Time // up to when all was removed
}

// Sweep removes what is too old, and can be stopped at any point. Records go by whole days (in UTC), and once a day: a
// file is written anew for it. One organization whose records can't be removed keeps no other from it, and is tried
// again by the next sweep. It goes by the clock as it was at the sweep before, if that was earlier, and removes nothing
// without one: a clock that is ahead for a while costs no records.
func (r *Retention) Sweep(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, last := r.Now().UTC(), r.last
	if r.last = now; last.IsZero() {
		return nil
	}
	if last.Before(now) {
		now = last
	}
	var errs []error
	for _, org := range r.Orgs() {
		keep := r.Keep(org)
		if keep <= 0 {
			continue
		}
		before := now.Add(-keep).Truncate(24 * time.Hour)
		if !before.After(r.done[org]) {
			continue
		}
		if err := errors.Join(r.expire(ctx, org, before), r.expireIndexed(ctx, org, before)); err != nil {
			errs = append(errs, fmt.Errorf("the old uploads of %s: %w", org, err))
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if r.done == nil {
			r.done = map[uuid.UUID]time.Time{}
		}
		r.done[org] = before
	}
	return errors.Join(errs...)
}

// expire removes piece by piece, and has it on record. A part of a store may be away while the rest goes on.
func (r *Retention) expire(ctx context.Context, org uuid.UUID, before time.Time) (err error) {
	records, more := 0, 1
	for more > 0 && ctx.Err() == nil {
		more, err = r.Store.Expire(ctx, org, before, expirePiece)
		records += more
	}
	if records == 0 {
		return err
	}
	r.Log.InfoContext(ctx, "old records of uploads were removed", "org", org, "records", records, "before", before)
	event := audit.Event{At: r.Now().UTC().Truncate(time.Microsecond), Org: org, Actor: audit.Server(),
		Action: audit.UploadExpire,
		Note:   fmt.Sprintf("%d records from before %s", records, before.Format(time.RFC3339))}
	return errors.Join(err, r.Audit.Record(context.WithoutCancel(ctx), event))
}

func (r *Retention) expireIndexed(ctx context.Context, org uuid.UUID, before time.Time) (err error) {
	for more := 1; r.Index != nil && more > 0 && ctx.Err() == nil; {
		more, err = r.Index.Expire(ctx, org, before, indexPiece)
	}
	return err
}
