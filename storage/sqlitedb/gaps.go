package sqlitedb

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
)

// gapPages is how many pages are looked at in one transaction: a few milliseconds.
const gapPages = 256

// Querier is a connection or a transaction.
type Querier interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// ClearGaps overwrites what is left of deleted rows in the parts of pages that belong to nothing.
// PRAGMA secure_delete overwrites a row where it was deleted, and pages that become free. But
// when SQLite moves rows from one page of a B-tree to another, as its function rebuildPage
// does, copies stay behind between the page's pointers and its rows, and no later deletion
// finds them. A connection without secure_delete leaves the rows themselves.
//
// It goes through the whole file, a piece at a time: read runs one on a connection that need
// not write, and write another in a transaction that does, for pages on which the first has
// found something. Either may run a piece again, and others get their turn in between: no row
// that is deleted by the time of the call can leave a copy behind later.
func ClearGaps(read, write func(piece func(context.Context, Querier) error) error) error {
	for first := int64(1); first > 0; {
		var found []int64
		var next int64 // apart from first: a piece may run again
		err := read(func(ctx context.Context, in Querier) (err error) {
			found, next, err = findGaps(ctx, in, first)
			return err
		})
		if err == nil && len(found) > 0 {
			err = write(func(ctx context.Context, in Querier) error { return clearGaps(ctx, in, found) })
		}
		if err != nil {
			return err
		}
		first = next
	}
	return nil
}

// findGaps looks at pages from number first on, and returns those with something in their
// gaps. next is the page to go on with, 0 at the end.
func findGaps(ctx context.Context, in Querier, first int64) (found []int64, next int64, err error) {
	var g gaps
	defer func() { err = errors.Join(err, g.close()) }()
	if err := g.open(ctx, in); err != nil {
		return nil, 0, err
	}
	last := min(first+gapPages-1, g.pages)
	for number := first; number <= last; number++ {
		_, unused, err := g.load(ctx, number)
		if err != nil {
			return nil, 0, err
		}
		if !areZero(unused) {
			found = append(found, number)
		}
	}
	if last >= g.pages {
		return found, 0, nil
	}
	return found, last + 1, nil
}

// clearGaps clears these pages as they are by now.
func clearGaps(ctx context.Context, in Querier, pages []int64) (err error) {
	var g gaps
	defer func() { err = errors.Join(err, g.close()) }()
	if err := g.open(ctx, in); err != nil {
		return err
	}
	for _, number := range pages {
		if err := g.clear(ctx, number); err != nil {
			return err
		}
	}
	return nil
}

// gaps reads and writes whole pages.
type gaps struct {
	in          Querier
	pages       int64
	read, write *sql.Stmt // the second once there is something to write
}

func (g *gaps) open(ctx context.Context, in Querier) (err error) {
	if err := checkPages(ctx, in); err != nil { // somebody may have set it since the file was opened
		return fmt.Errorf("the database %w", err)
	}
	if err := in.QueryRowContext(ctx, "PRAGMA page_count").Scan(&g.pages); err != nil {
		return err
	}
	g.in = in
	g.read, err = in.PrepareContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = ?")
	return err
}

func (g *gaps) close() (err error) {
	for _, s := range []*sql.Stmt{g.read, g.write} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// load returns a page, and the parts of it that belong to nothing.
func (g *gaps) load(ctx context.Context, number int64) (page []byte, unused [][]byte, err error) {
	if page, err = g.page(ctx, number); err != nil {
		return nil, nil, err
	}
	return page, unusedOf(page, number, g.pages), nil
}

func (g *gaps) page(ctx context.Context, number int64) (page []byte, err error) {
	if err := g.read.QueryRowContext(ctx, number).Scan(&page); err != nil {
		return nil, fmt.Errorf("page %d of the database: %w", number, err)
	}
	return page, nil
}

// put writes a page.
func (g *gaps) put(ctx context.Context, number int64, page []byte) (err error) {
	if g.write == nil {
		if g.write, err = g.in.PrepareContext(ctx, "UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?"); err != nil {
			return err
		}
	}
	_, err = g.write.ExecContext(ctx, page, number)
	return err
}

func (g *gaps) clear(ctx context.Context, number int64) error {
	page, unused, err := g.load(ctx, number)
	if err != nil || areZero(unused) {
		return err
	}
	for _, part := range unused {
		clear(part)
	}
	return g.put(ctx, number, page)
}

// The kinds of B-tree pages: their first byte (https://www.sqlite.org/fileformat2.html,
// 1.6).
const (
	interiorIndex = 0x02
	interiorTable = 0x05
	leafIndex     = 0x0a
	leafTable     = 0x0d
)

// fileHeader is how many bytes stand before the B-tree in the first page.
const fileHeader = 100

// unusedOf returns the parts of a page, of so many in the file, that belong to nothing: its gap,
// which is what is between the pointers to its cells and the cells, and its free blocks, but for
// the number of the next one and the length that each begins with. There are none in a page that is
// not a B-tree's.
func unusedOf(page []byte, number, pages int64) [][]byte {
	start := 0
	if number == 1 {
		start = fileHeader
	}
	header := page[start:]
	pointers := 8 // where they begin
	switch header[0] {
	case leafIndex, leafTable:
	case interiorIndex, interiorTable:
		pointers = 12
	default:
		return nil
	}
	// Overflow and free pages begin with the number of the next one. Its first byte is none of
	// these kinds, unless the file is so long that there are such numbers.
	if number > 1 && int64(header[0])<<24 <= pages {
		return nil
	}
	cells := int(binary.BigEndian.Uint16(header[3:]))
	content := int(binary.BigEndian.Uint16(header[5:]))
	if content == 0 {
		content = 1 << 16
	}
	begin := start + pointers + 2*cells
	if begin > content || content > len(page) {
		return nil // damaged: not for us to mend
	}
	return append(freeBlocks(page, int(binary.BigEndian.Uint16(header[1:])), content), page[begin:content])
}

// freeBlocks returns the contents of the free blocks from the first on, which stand in their order
// behind where the cells begin.
func freeBlocks(page []byte, first, content int) (all [][]byte) {
	for at := first; at >= content && at+4 <= len(page); {
		next, size := int(binary.BigEndian.Uint16(page[at:])), int(binary.BigEndian.Uint16(page[at+2:]))
		if size < 4 || at+size > len(page) || next != 0 && next < at+size {
			return nil // damaged: not for us to mend
		}
		all = append(all, page[at+4:at+size])
		if next == 0 {
			break
		}
		at = next
	}
	return all
}

func areZero(parts [][]byte) bool {
	for _, part := range parts {
		for _, b := range part {
			if b != 0 {
				return false
			}
		}
	}
	return true
}
