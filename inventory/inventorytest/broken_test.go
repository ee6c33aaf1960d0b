package inventorytest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// The stores here each break one promise, as a real store might.

type (
	appender = func(context.Context, inventory.Batch) (inventory.Receipt, error)
	records  = iter.Seq2[inventory.Positioned, error]
	reader   = func(context.Context, uuid.UUID, inventory.Query) records
)

// bent is a store of which some methods go another way.
type bent struct {
	inventory.Store
	append        func(next appender, ctx context.Context, batch inventory.Batch) (inventory.Receipt, error)
	records       func(next reader, ctx context.Context, org uuid.UUID, query inventory.Query) records
	appendAll     func(next inventory.Store, ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error)
	summary       func(groups []inventory.Group) []inventory.Group
	organizations func(orgs []uuid.UUID)
}

func (s bent) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	if s.append == nil {
		return s.Store.Append(ctx, batch)
	}
	return s.append(s.Store.Append, ctx, batch)
}

func (s bent) AppendAll(ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
	if s.appendAll == nil {
		return inventory.AppendEach(ctx, s, batches)
	}
	return s.appendAll(s.Store, ctx, batches)
}

func (s bent) Records(ctx context.Context, org uuid.UUID, query inventory.Query) records {
	if s.records == nil {
		return s.Store.Records(ctx, org, query)
	}
	return s.records(s.Store.Records, ctx, org, query)
}

func (s bent) Summary(ctx context.Context, org uuid.UUID) ([]inventory.Group, error) {
	groups, err := s.Store.Summary(ctx, org)
	if err == nil && s.summary != nil {
		groups = s.summary(groups)
	}
	return groups, err
}

func (s bent) Organizations(ctx context.Context) iter.Seq2[uuid.UUID, error] {
	if s.organizations == nil {
		return s.Store.Organizations(ctx)
	}
	return func(yield func(uuid.UUID, error) bool) {
		var all []uuid.UUID
		for org, err := range s.Store.Organizations(ctx) {
			if err != nil {
				yield(org, err)
				return
			}
			all = append(all, org)
		}
		s.organizations(all)
		for _, org := range all {
			if !yield(org, nil) {
				return
			}
		}
	}
}

// sends bends batches on their way in.
func sends(bend func(*inventory.Batch)) func(inventory.Store) inventory.Store {
	return func(next inventory.Store) inventory.Store {
		return bent{Store: next,
			append: func(next appender, ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
				count := len(batch.Resources)
				batch.Resources = slices.Clone(batch.Resources)
				bend(&batch)
				receipt, err := next(ctx, batch)
				if err == nil {
					receipt.Count = count
				}
				return receipt, err
			}}
	}
}

// answers bends receipts.
func answers(bend func(*inventory.Receipt)) func(inventory.Store) inventory.Store {
	return func(next inventory.Store) inventory.Store {
		return bent{Store: next,
			append: func(next appender, ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
				receipt, err := next(ctx, batch)
				if err == nil {
					bend(&receipt)
				}
				return receipt, err
			}}
	}
}

// asks bends queries.
func asks(bend func(*inventory.Query)) func(inventory.Store) inventory.Store {
	return func(next inventory.Store) inventory.Store {
		return bent{Store: next,
			records: func(next reader, ctx context.Context, org uuid.UUID, query inventory.Query) records {
				bend(&query)
				return next(ctx, org, query)
			}}
	}
}

// asksForHalf tells of half of what is in memory.
func asksForHalf(q *inventory.Query) {
	if memory := q.Memory; memory != nil {
		q.Memory = func(bytes int64) error { return memory(bytes / 2) }
	}
}

// takesAnyway goes on when there is no memory.
func takesAnyway(q *inventory.Query) {
	if memory := q.Memory; memory != nil {
		q.Memory = func(bytes int64) error {
			_ = memory(bytes)
			return nil
		}
	}
}

// yields bends records on their way out.
func yields(bend func(*inventory.Positioned)) func(inventory.Store) inventory.Store {
	return func(next inventory.Store) inventory.Store {
		return bent{Store: next,
			records: func(next reader, ctx context.Context, org uuid.UUID, query inventory.Query) records {
				return func(yield func(inventory.Positioned, error) bool) {
					for record, err := range next(ctx, org, query) {
						bend(&record)
						if !yield(record, err) {
							return
						}
					}
				}
			}}
	}
}

func dropsLast(b *inventory.Batch) {
	if n := len(b.Resources); n > 2 {
		b.Resources = b.Resources[:n-1]
	}
}

func normalizes(b *inventory.Batch) {
	for i := range b.Resources {
		var value any
		if json.Unmarshal(b.Resources[i].Attributes, &value) == nil {
			b.Resources[i].Attributes, _ = json.Marshal(value)
		}
	}
}

func trimsNames(b *inventory.Batch) {
	for i := range b.Resources {
		b.Resources[i].ResourceName = strings.TrimRight(b.Resources[i].ResourceName, " ")
	}
}

// forgetsIDs records every batch under an ID of its own.
func forgetsIDs(next inventory.Store) inventory.Store {
	return sends(func(b *inventory.Batch) { b.ID = uuid.NewString() })(next)
}

// forgetsAtRestart knows the IDs of its own process.
func forgetsAtRestart(next inventory.Store) inventory.Store {
	process := uuid.New()
	return sends(func(b *inventory.Batch) { b.ID = uuid.NewSHA1(process, []byte(b.ID)).String() })(next)
}

// losesSome acknowledges batches without recording them.
func losesSome(next inventory.Store) inventory.Store {
	var count atomic.Int64
	return bent{Store: next,
		append: func(next appender, ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
			if count.Add(1)%40 == 0 {
				return inventory.Receipt{Request: batch.Request, At: time.Now().UTC().Truncate(time.Microsecond),
					Count: len(batch.Resources)}, nil
			}
			return next(ctx, batch)
		}}
}

// splits records a batch in two steps.
func splits(next inventory.Store) inventory.Store {
	return bent{Store: next,
		append: func(next appender, ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
			half, count := batch, len(batch.Resources)
			half.Resources = batch.Resources[:count/2]
			half.ID += "-1"
			if _, err := next(ctx, half); err != nil {
				return inventory.Receipt{}, err
			}
			runtime.Gosched()
			half.Resources, half.ID = batch.Resources[count/2:], batch.ID+"-2"
			receipt, err := next(ctx, half)
			receipt.Count = count
			return receipt, err
		}}
}

func ignoresAppendContexts(next inventory.Store) inventory.Store {
	return bent{Store: next,
		append: func(next appender, ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
			return next(context.WithoutCancel(ctx), batch)
		}}
}

// deniesAppends says that the context ended, and has recorded the batch.
func deniesAppends(next inventory.Store) inventory.Store {
	return bent{Store: next,
		append: func(next appender, ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
			receipt, err := next(ctx, batch)
			if runtime.Gosched(); ctx.Err() != nil {
				return inventory.Receipt{}, ctx.Err()
			}
			return receipt, err
		}}
}

// oneRoom keeps all organizations together.
type oneRoom struct{ inventory.Store }

func (s oneRoom) Records(ctx context.Context, _ uuid.UUID, query inventory.Query) records {
	return s.Store.Records(ctx, uuid.Nil, query)
}

func (s oneRoom) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	batch.Org = uuid.Nil
	return s.Store.Append(ctx, batch)
}

// hidesErrors ends where an error should be.
func hidesErrors(next inventory.Store) inventory.Store {
	return bent{Store: next,
		records: func(next reader, ctx context.Context, org uuid.UUID, query inventory.Query) records {
			return func(yield func(inventory.Positioned, error) bool) {
				for record, err := range next(ctx, org, query) {
					if err != nil || !yield(record, nil) {
						return
					}
				}
			}
		}}
}

// restarts takes a cursor that it doesn't know for none.
func restarts(next inventory.Store) inventory.Store {
	return bent{Store: next,
		records: func(next reader, ctx context.Context, org uuid.UUID, query inventory.Query) records {
			for _, err := range next(ctx, org, query) {
				if fault.Is(err, fault.CursorInvalid) {
					query.After = ""
				}
				break
			}
			return next(ctx, org, query)
		}}
}

// lags hands out the cursor of the record before.
func lags(next inventory.Store) inventory.Store {
	return bent{Store: next,
		records: func(next reader, ctx context.Context, org uuid.UUID, query inventory.Query) records {
			return func(yield func(inventory.Positioned, error) bool) {
				last := ""
				for record, err := range next(ctx, org, query) {
					cursor := record.Next
					if last != "" {
						record.Next = last
					}
					if last = cursor; !yield(record, err) {
						return
					}
				}
			}
		}}
}

// runsAhead reads in a goroutine that nobody stops.
func runsAhead(next inventory.Store) inventory.Store {
	return bent{Store: next,
		records: func(next reader, ctx context.Context, org uuid.UUID, query inventory.Query) records {
			return func(yield func(inventory.Positioned, error) bool) {
				ahead := make(chan func() bool)
				go func() {
					defer close(ahead)
					for record, err := range next(ctx, org, query) {
						ahead <- func() bool { return yield(record, err) }
					}
				}()
				for give := range ahead {
					if !give() {
						return
					}
				}
			}
		}}
}

// sharesBytes gives its callers what it will give to others, too.
func sharesBytes(next inventory.Store) inventory.Store {
	kept := map[string]json.RawMessage{} // the check reads in one goroutine
	return yields(func(p *inventory.Positioned) {
		if have, ok := kept[p.Next]; ok && len(have) == len(p.Attributes) {
			p.Attributes = have
		}
		kept[p.Next] = p.Attributes
	})(next)
}

// goesOnBehind appends what comes behind a batch that is refused.
func goesOnBehind(next inventory.Store) inventory.Store {
	return bent{Store: next,
		appendAll: func(next inventory.Store, ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
			receipts, err := next.AppendAll(ctx, batches)
			if err != nil && len(receipts) < len(batches) {
				_, _ = next.AppendAll(ctx, batches[len(receipts)+1:])
			}
			return receipts, err
		}}
}

// allOrNothing takes the batches for one: it records none of those before a bad one.
func allOrNothing(next inventory.Store) inventory.Store {
	return bent{Store: next,
		appendAll: func(next inventory.Store, ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
			for i := 1; i < len(batches); i++ {
				if at := batches[i].At; !at.IsZero() && at.Before(batches[i-1].At) {
					return nil, fault.New(fault.ParameterInvalid, "timestamps go backwards")
				}
			}
			return next.AppendAll(ctx, batches)
		}}
}

// forgetsTheRest records what it takes in one piece, and gives receipts for all.
func forgetsTheRest(next inventory.Store) inventory.Store {
	return bent{Store: next,
		appendAll: func(next inventory.Store, ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
			receipts, err := next.AppendAll(ctx, batches[:min(len(batches), 500)])
			for i := len(receipts); err == nil && i < len(batches); i++ {
				receipts = append(receipts,
					inventory.Receipt{Request: batches[i].Request, At: batches[i].At, Count: len(batches[i].Resources)})
			}
			return receipts, err
		}}
}

// runsThemAtOnce has the batches race.
func runsThemAtOnce(next inventory.Store) inventory.Store {
	return bent{Store: next,
		appendAll: func(next inventory.Store, ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
			receipts := make([]inventory.Receipt, len(batches))
			for i := range slices.Backward(batches) {
				receipts[i], _ = next.Append(ctx, batches[i])
			}
			return receipts, nil
		}}
}

func reversesOrgs(orgs []uuid.UUID) {
	slices.SortFunc(orgs, func(a, b uuid.UUID) int { return bytes.Compare(b[:], a[:]) })
}

// standsStill gives a batch the timestamp of the one before it, where that is too close.
func standsStill(next inventory.Store) inventory.Store {
	var mu sync.Mutex
	last := map[uuid.UUID]time.Time{}
	return bent{Store: next,
		append: func(next appender, ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
			mu.Lock()
			defer mu.Unlock()
			at, later := last[batch.Org], time.Now().Add(-time.Minute)
			if batch.At.IsZero() && at.After(later) {
				batch.At = at
			}
			receipt, err := next(ctx, batch)
			if err == nil && !receipt.Replayed {
				last[batch.Org] = receipt.At
			}
			return receipt, err
		}}
}
