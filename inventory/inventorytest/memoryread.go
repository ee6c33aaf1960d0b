package inventorytest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// Records implements inventory.Store.
func (s *Store) Records(ctx context.Context, org uuid.UUID,
	query inventory.Query) iter.Seq2[inventory.Positioned, error] {
	return func(yield func(inventory.Positioned, error) bool) {
		records, gone, err := s.look(ctx, org)
		if err != nil {
			yield(inventory.Positioned{}, err)
			return
		}
		at, err := start(org, query, gone, len(records))
		if err != nil {
			yield(inventory.Positioned{}, err)
			return
		}
		latest := query.Order == inventory.Descending && query.After == ""
		for ; at >= 0 && at < len(records); at += stride(query.Order) {
			if ctx.Err() != nil {
				yield(inventory.Positioned{}, ctx.Err())
				return
			}
			record := records[at]
			record.Attributes = bytes.Clone(record.Attributes)
			found := inventory.Positioned{Record: record, Next: cursor(org, query.Order, gone+at)}
			if !query.Matches(record) {
				continue
			}
			if err := query.Take(int64(len(record.Attributes))); err != nil {
				yield(inventory.Positioned{}, err)
				return
			}
			if latest {
				found.Later, latest = cursor(org, inventory.Ascending, gone+at), false
			}
			if !yield(found, nil) {
				return
			}
		}
	}
}

func stride(order inventory.Order) int {
	if order == inventory.Descending {
		return -1
	}
	return 1
}

// start returns the index of the first record that the query looks at. So many records that are gone are in no index;
// cursors count them.
func start(org uuid.UUID, query inventory.Query, gone, count int) (int, error) {
	if query.After == "" {
		if query.Order == inventory.Descending {
			return count - 1, nil
		}
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(query.After)
	if err != nil || len(raw) != 16 {
		return 0, fault.New(fault.CursorInvalid, "the cursor is none of ours")
	}
	at := binary.BigEndian.Uint64(raw)
	if at >= uint64(gone+count) || cursor(org, query.Order, int(at)) != query.After {
		return 0, fault.New(fault.CursorInvalid, "the cursor belongs to another query")
	}
	next := int(at) + stride(query.Order) - gone
	if query.Order == inventory.Ascending {
		next = max(next, 0)
	}
	return next, nil
}

// cursor names the record, with a sum by which it is known for this organization and
// order.
func cursor(org uuid.UUID, order inventory.Order, at int) string {
	position := binary.BigEndian.AppendUint64(nil, uint64(at))
	hash := sha256.New()
	hash.Write(org[:])
	hash.Write([]byte{byte(stride(order))})
	hash.Write(position)
	return base64.RawURLEncoding.EncodeToString(append(position, hash.Sum(nil)[:8]...))
}

// Usage implements inventory.Store.
func (s *Store) Usage(_ context.Context, org uuid.UUID) (int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return 0, errInventoryClosed()
	}
	return s.shelf(org).used, nil
}

// Recorded implements inventory.Store.
func (s *Store) Recorded(ctx context.Context, org uuid.UUID, id string) (inventory.Remembered, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return inventory.Remembered{}, false, errInventoryClosed()
	}
	if err := ctx.Err(); err != nil {
		return inventory.Remembered{}, false, err
	}
	f, ok := s.shelf(org).receipts[id]
	f.receipt.Replayed = ok
	return inventory.Remembered{Receipt: f.receipt, Digest: f.digest}, ok, nil
}

// Summary implements inventory.Store. Its cost grows with the records: here that is no
// matter.
func (s *Store) Summary(ctx context.Context, org uuid.UUID) ([]inventory.Group, error) {
	records, _, err := s.look(ctx, org)
	if err != nil {
		return nil, err
	}
	return summarize(records), nil
}

// summarize groups records that stand in the order of their timestamps.
func summarize(records []inventory.Record) []inventory.Group {
	found := map[inventory.Group]inventory.Group{} // by its names alone
	for _, r := range records {
		names := inventory.Group{Provider: r.Provider, Category: r.Category, ResourceType: r.ResourceType}
		group, ok := found[names]
		if !ok {
			group, group.First = names, r.Timestamp
		}
		group.Count++
		group.Last = r.Timestamp
		found[names] = group
	}
	return slices.SortedFunc(maps.Values(found), func(a, b inventory.Group) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Category, b.Category),
			cmp.Compare(a.ResourceType, b.ResourceType))
	})
}

// Shred implements inventory.Store, in one piece. A journal keeps what it has.
func (s *Store) Shred(_ context.Context, org uuid.UUID, _ int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, errInventoryClosed()
	}
	if _, ok := s.orgs[org]; !ok {
		return 0, nil
	}
	delete(s.orgs, org)
	return 1, nil
}

// Expire implements inventory.Store. A journal keeps what it has.
func (s *Store) Expire(ctx context.Context, org uuid.UUID, before time.Time, limit int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, errInventoryClosed()
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	shelf := s.shelf(org)
	n := inventory.CountExpired(shelf.records, before, limit, func(r inventory.Record) time.Time { return r.Timestamp })
	for _, r := range shelf.records[:n] {
		shelf.used -= inventory.Batch{Resources: []inventory.Resource{r.Resource}}.Bytes()
	}
	shelf.records, shelf.gone = shelf.records[n:], shelf.gone+n
	return n, nil
}

// Organizations implements inventory.Store.
func (s *Store) Organizations(ctx context.Context) iter.Seq2[uuid.UUID, error] {
	return func(yield func(uuid.UUID, error) bool) {
		if _, _, err := s.look(ctx, uuid.Nil); err != nil {
			yield(uuid.Nil, err)
			return
		}
		s.mu.RLock()
		orgs := slices.SortedFunc(maps.Keys(s.orgs), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
		orgs = slices.DeleteFunc(orgs, func(org uuid.UUID) bool { return len(s.orgs[org].records) == 0 })
		s.mu.RUnlock()
		for _, org := range orgs {
			if !yield(org, nil) {
				return
			}
		}
	}
}
