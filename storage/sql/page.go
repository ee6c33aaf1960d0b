package sqluploads

import (
	"context"
	"strings"

	"github.com/holdfast/holdfast/inventory"
)

// A page has as many rows as make up about pageBytes, by what the pages before it were
// like. One that turns out far larger is cut short, at the cost of its connection: the
// driver would read the rest of the rows to reach the end.
const (
	firstRows = 64
	mostRows  = 2000
	pageBytes = 2 << 20
	cutBytes  = 8 << 20
	// window is how many IDs a page looks at, so that a filter that finds little does not
	// run into the timeout.
	window = 50_000
)

// row is a record with its ID.
type row struct {
	id int64
	inventory.Record
}

// next returns the next page, and leaves what comes after it to be read. Records that the
// query's filters leave out are not in it.
func (c *scan) next(ctx context.Context) ([]inventory.Positioned, error) {
	if _, err := c.store.begin(); err != nil {
		return nil, err
	}
	defer c.store.end()
	rows, err := readInTurn(ctx, c.store, c.org,
		func(ctx context.Context) ([]row, error) { return c.read(ctx, c.store.db) })
	if err != nil {
		return nil, err
	}
	page := make([]inventory.Positioned, 0, len(rows))
	for _, r := range rows {
		if c.query.Matches(r.Record) {
			page = append(page, c.positioned(r))
		}
	}
	return page, nil
}

func (c *scan) positioned(r row) inventory.Positioned {
	found := inventory.Positioned{Record: r.Record, Next: c.server.cursor(c.org, c.query.Order, r.id)}
	if !c.began && c.query.Order == inventory.Descending && c.query.After == "" {
		found.Later = c.server.cursor(c.org, inventory.Ascending, r.id)
	}
	c.began = true
	return found
}

// read runs the page's statement and moves the scan on.
func (c *scan) read(ctx context.Context, db querier) ([]row, error) {
	low, high := c.span()
	query, args := c.statement(low, high)
	page, bytes, err := c.collect(ctx, db, query, args)
	if err != nil {
		return nil, err
	}
	switch full := bytes >= cutBytes || len(page) == c.rows; {
	case full:
		c.move(page[len(page)-1].id)
	case len(page) == 0 && low+1 < high:
		return nil, c.skip(ctx, db, low, high)
	case c.query.Order == inventory.Descending:
		c.high = low
	default:
		c.low = high
	}
	c.resize(len(page), bytes)
	return page, nil
}

// span returns the IDs that the page looks at.
func (c *scan) span() (low, high int64) {
	if c.query.Order == inventory.Descending {
		return max(c.low, c.high-window), c.high
	}
	return c.low, min(c.high, c.low+window)
}

// move goes on behind the record with this ID.
func (c *scan) move(id int64) {
	if c.query.Order == inventory.Descending {
		c.high = id - 1
	} else {
		c.low = id
	}
}

// skip goes on behind a window without matches, and over a gap that follows it: an
// operator or a failover may have set the IDs far apart.
func (c *scan) skip(ctx context.Context, db querier, low, high int64) error {
	query, from := "SELECT MIN(id) FROM "+tableOf(c.org)+" WHERE id > ?", high
	if c.query.Order == inventory.Descending {
		query, from = "SELECT MAX(id) FROM "+tableOf(c.org)+" WHERE id <= ?", low
	}
	id, err := c.lookUp(ctx, db, query, from)
	switch {
	case err != nil:
		return err
	case id == 0:
		c.low = c.high // nothing follows
	case c.query.Order == inventory.Descending:
		c.high = id
	default:
		c.low = id - 1
	}
	return nil
}

func (c *scan) statement(low, high int64) (string, []any) {
	var b strings.Builder
	args := []any{low, high}
	b.WriteString("SELECT id, timestamp, provider, category, resource_type, resource_name, ")
	b.WriteString(c.store.speaks().attributesText())
	b.WriteString(" FROM ")
	b.WriteString(tableOf(c.org))
	b.WriteString(" WHERE id > ? AND id <= ?")
	for _, f := range []struct{ column, value string }{
		{"provider", c.query.Provider}, {"category", c.query.Category},
		{"resource_type", c.query.ResourceType}, {"resource_name", c.query.ResourceName},
	} {
		if f.value != "" {
			b.WriteString(" AND " + f.column + " = ?")
			args = append(args, f.value)
		}
	}
	b.WriteString(" ORDER BY id")
	if c.query.Order == inventory.Descending {
		b.WriteString(" DESC")
	}
	b.WriteString(" LIMIT ?")
	return b.String(), append(args, c.rows)
}

// collect reads rows until they end or are too many bytes; then it leaves the rest, by
// ending the context before Close would read on.
func (c *scan) collect(ctx context.Context, db querier, query string, args []any) (page []row, bytes int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		cancel()
		return nil, 0, err
	}
	defer func() { _ = rows.Close() }()
	defer cancel()
	for bytes < cutBytes && rows.Next() {
		r := row{Record: inventory.Record{Org: c.org}}
		var attributes []byte
		if err := rows.Scan(&r.id, &r.Timestamp, &r.Provider, &r.Category, &r.ResourceType, &r.ResourceName,
			&attributes); err != nil {
			return nil, 0, err
		}
		r.Attributes = attributes
		page = append(page, r)
		bytes += rowSize(&r.Resource)
		if err := c.query.Take(int64(bytes)); err != nil {
			return nil, 0, err
		}
	}
	return page, bytes, rows.Err()
}

// resize fits the number of rows to their size so far.
func (c *scan) resize(rows, bytes int) {
	if rows == 0 {
		return
	}
	fit := pageBytes / max(1, bytes/rows)
	c.rows = max(1, min(fit, 2*c.rows, mostRows))
}
