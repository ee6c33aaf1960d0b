package sqluploads

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// readTimeout bounds one statement that reads.
const readTimeout = time.Minute

// scan is a reader's way through an organization: records with low < ID <= high are still
// to be read. Between two pages it holds nothing of the database's.
type scan struct {
	store     *Store
	server    *server
	org       uuid.UUID
	query     inventory.Query
	low, high int64
	rows      int  // how many the next page may have
	began     bool // a record was found
}

// Records implements inventory.Store.
func (s *Store) Records(ctx context.Context, org uuid.UUID,
	query inventory.Query) iter.Seq2[inventory.Positioned, error] {
	return func(yield func(inventory.Positioned, error) bool) {
		found, err := s.newScan(ctx, org, query)
		for err == nil && found.low < found.high {
			var page []inventory.Positioned
			if page, err = found.next(ctx); err != nil {
				break
			}
			for _, record := range page {
				if !yield(record, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(inventory.Positioned{}, err)
		}
	}
}

// newScan fixes where the reader begins and ends. Transactions of an organization come one
// after the other, so what is visible by now are whole batches, and all with IDs up to the
// highest visible one.
func (s *Store) newScan(ctx context.Context, org uuid.UUID, query inventory.Query) (*scan, error) {
	server, err := s.begin()
	if err != nil {
		return nil, err
	}
	defer s.end()
	found := &scan{store: s, server: server, org: org, query: query, rows: firstRows}
	if _, err := readInTurn(ctx, s, org,
		func(ctx context.Context) (struct{}, error) { return struct{}{}, found.bound(ctx, s.db) }); err != nil {
		return nil, err
	}
	return found, found.goOn()
}

// goOn leaves out what lies before the query's cursor.
func (c *scan) goOn() error {
	if c.query.After == "" {
		return nil
	}
	id, err := c.server.position(c.org, c.query.Order, c.query.After)
	if err != nil {
		return err
	}
	if c.query.Order == inventory.Descending {
		c.high = min(c.high, id-1)
	} else {
		c.low = max(c.low, id)
	}
	return nil
}

// selectsNothing reports whether a filter is what no record has, and what the server may refuse to look for.
func (c *scan) selectsNothing() bool {
	return !inventory.MayBeKept(c.query.Provider + c.query.Category + c.query.ResourceType + c.query.ResourceName)
}

// bound finds the IDs that the query's time span begins and ends with: timestamps grow
// with the IDs, so each is one look into an index.
func (c *scan) bound(ctx context.Context, db querier) error {
	c.low, c.high = 0, 0
	if c.selectsNothing() {
		return nil
	}
	var entered bool
	err := db.QueryRowContext(ctx, "SELECT newest IS NOT NULL FROM inventory_organizations WHERE org = ?",
		c.org.String()).Scan(&entered)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !entered {
		return nil
	}
	if err != nil {
		return err
	}
	if c.high, err = c.lookUp(ctx, db, "SELECT MAX(id) FROM "+tableOf(c.org)); err != nil {
		return err
	}
	return c.boundTime(ctx, db)
}

func (c *scan) boundTime(ctx context.Context, db querier) error {
	if until := c.query.Until; !until.IsZero() && until.Before(lastTime()) {
		id, err := c.lookUp(ctx, db, "SELECT id FROM "+tableOf(c.org)+
			" WHERE timestamp < ? ORDER BY timestamp DESC, id DESC LIMIT 1", ceil(until))
		if err != nil {
			return err
		}
		c.high = min(c.high, id)
	}
	if since := c.query.Since; since.After(firstTime()) {
		id, err := c.lookUp(ctx, db, "SELECT id FROM "+tableOf(c.org)+" WHERE timestamp >= ? ORDER BY timestamp, id LIMIT 1",
			ceil(since))
		if err != nil {
			return err
		}
		if c.low = id - 1; id == 0 {
			c.low = c.high // nothing is that new
		}
	}
	return nil
}

// lookUp returns one ID, 0 when there is none.
func (c *scan) lookUp(ctx context.Context, db querier, query string, args ...any) (int64, error) {
	var id sql.NullInt64
	err := db.QueryRowContext(ctx, query, args...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return id.Int64, err
}

// ceil rounds up to microseconds, as timestamps have no more: t <= x and ceil(t) <= x are
// the same for them. Times that no DATETIME reaches become the nearest that one does.
func ceil(t time.Time) time.Time {
	t = t.UTC()
	if down := t.Truncate(time.Microsecond); down.Before(t) {
		t = down.Add(time.Microsecond)
	}
	if last := lastTime(); t.After(last) {
		return last
	}
	if first := firstTime(); t.Before(first) {
		return first
	}
	return t
}

func firstTime() time.Time { return time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC) }

func lastTime() time.Time { return time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC) }
