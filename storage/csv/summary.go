package csv

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/csv/index"
)

// Summary implements inventory.Store.
func (s *Store) Summary(ctx context.Context, org uuid.UUID) ([]inventory.Group, error) {
	if err := s.life.enter(); err != nil {
		return nil, err
	}
	defer s.life.leave()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.check(ctx, org); err != nil {
		return nil, err
	}
	head, err := s.index.Head(ctx, org)
	if err != nil || head.ID == 0 {
		return nil, err
	}
	return s.index.Groups(ctx, head.ID)
}

// Usage implements inventory.Store: it is the length of the organization's file.
func (s *Store) Usage(_ context.Context, org uuid.UUID) (int64, error) {
	if err := s.life.enter(); err != nil {
		return 0, err
	}
	defer s.life.leave()
	now, err := lookAt(s.path(org))
	return now.size, err
}

// Recorded implements inventory.Store.
func (s *Store) Recorded(ctx context.Context, org uuid.UUID, id string) (inventory.Remembered, bool, error) {
	if err := s.life.enter(); err != nil {
		return inventory.Remembered{}, false, err
	}
	defer s.life.leave()
	if err := ctx.Err(); err != nil {
		return inventory.Remembered{}, false, err
	}
	head, err := s.index.Head(ctx, org)
	if err != nil || head.ID == 0 {
		return inventory.Remembered{}, false, err
	}
	found, err := s.index.Find(ctx, head.ID, []string{id})
	b, ok := found[id]
	if err != nil || !ok {
		return inventory.Remembered{}, false, err
	}
	receipt := inventory.Receipt{Request: b.Request, At: time.UnixMicro(b.At).UTC(), Count: b.Count, Replayed: true}
	return inventory.Remembered{Receipt: receipt, Digest: b.Digest}, true, nil
}

func (s *Store) check(ctx context.Context, org uuid.UUID) error {
	t := s.tenants.acquire(org)
	defer s.tenants.release(t)
	return t.check(ctx)
}

// Organizations implements inventory.Store. Files that nobody asked for so far are
// adopted first; one that is refused is yielded too, for it has records.
func (s *Store) Organizations(ctx context.Context) iter.Seq2[uuid.UUID, error] {
	return func(yield func(uuid.UUID, error) bool) {
		refused, err := s.adoptAll(ctx)
		for after := ""; err == nil; {
			var entries []index.Entry
			if entries, err = s.list(ctx, after); err != nil {
				break
			}
			last := len(entries) == 0
			var found []uuid.UUID
			for _, e := range entries {
				after = e.Org.String()
				if e.Records > 0 {
					found = append(found, e.Org)
				}
			}
			found, refused = merge(found, refused, after, last)
			for _, org := range found {
				if !yield(org, nil) {
					return
				}
			}
			if last {
				return
			}
		}
		yield(uuid.Nil, err)
	}
}

// merge puts those of rest among found that come before the end of this page.
func merge(found, rest []uuid.UUID, after string, last bool) (all, later []uuid.UUID) {
	n := 0
	for n < len(rest) && (last || rest[n].String() <= after) {
		n++
	}
	all = append(found, rest[:n]...)
	slices.SortFunc(all, compare)
	return all, rest[n:]
}

func compare(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }

func (s *Store) list(ctx context.Context, after string) ([]index.Entry, error) {
	if err := s.life.enter(); err != nil {
		return nil, err
	}
	defer s.life.leave()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.index.List(ctx, after, 1000)
}

// adoptAll adopts the foreign files that Open found, and returns those it had to refuse.
func (s *Store) adoptAll(ctx context.Context) (refused []uuid.UUID, err error) {
	if err := s.life.enter(); err != nil {
		return nil, err
	}
	defer s.life.leave()
	s.mu.Lock()
	orgs := slices.SortedFunc(maps.Keys(s.foreign), compare)
	s.mu.Unlock()
	for _, org := range orgs {
		err := s.check(ctx, org)
		if err != nil && !fault.Is(err, fault.StoreCorrupt) {
			return nil, err
		}
		if err != nil {
			refused = append(refused, org)
		}
	}
	return refused, nil
}
