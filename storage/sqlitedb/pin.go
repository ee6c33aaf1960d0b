package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
)

// Pinned is a database as it was at one moment, whatever is written to it later. While it is open the
// WAL is not cut: it grows by what is written. Make it with Pin.
type Pinned struct {
	db       *sql.DB
	conn     *sql.Conn
	page     *sql.Stmt // reads one
	pages    int64
	pageSize int64
}

// Pin fixes the moment at which the database is read. The file has to be there. A server that has it open
// goes on; one that is not running keeps nobody back.
func (f File) Pin(ctx context.Context) (_ *Pinned, err error) {
	db, err := f.open("rw", readerPragmas()) // a WAL that a killed server has left is read by who may write only
	if err != nil {
		return nil, err
	}
	p := &Pinned{db: db}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", f.Path, Explain(err)), p.Close())
		}
	}()
	if p.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	if _, err := p.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return nil, err
	}
	// The transaction sees the moment of its first read.
	row := p.conn.QueryRowContext(ctx, "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size, "+
		"(SELECT count(*) FROM sqlite_schema)")
	if err := row.Scan(&p.pages, &p.pageSize); err != nil {
		return nil, err
	}
	p.page, err = p.conn.PrepareContext(ctx, sqlPage)
	return p, err
}

// Size is the length of the file that Reader gives.
func (p *Pinned) Size() int64 { return p.pages * p.pageSize }

// Reader gives the database file of that moment, with all that the WAL had then.
func (p *Pinned) Reader(ctx context.Context) io.Reader { return &pageReader{ctx: ctx, pinned: p} }

// Conn is for looking into the database as it was at that moment.
func (p *Pinned) Conn() *sql.Conn { return p.conn }

// Close ends the use of the moment.
func (p *Pinned) Close() error {
	var errs []error
	if p.page != nil {
		errs = append(errs, p.page.Close())
	}
	if p.conn != nil {
		errs = append(errs, p.conn.Close())
	}
	return errors.Join(append(errs, p.db.Close())...)
}

// sqlPage reads one page. A range of them would have SQLite go through all pages of the file each time: it knows
// no other way to find pages of this table than one by its number.
const sqlPage = "SELECT data FROM sqlite_dbpage WHERE pgno = ?"

// pageReader reads a database page by page.
type pageReader struct {
	ctx    context.Context
	pinned *Pinned
	next   int64 // page, from 0
	left   []byte
}

// Read implements io.Reader.
func (r *pageReader) Read(into []byte) (int, error) {
	if len(r.left) == 0 {
		if r.next >= r.pinned.pages {
			return 0, io.EOF
		}
		if err := r.load(); err != nil {
			return 0, err
		}
	}
	n := copy(into, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (r *pageReader) load() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	number := r.next + 1
	// A context that may end has the driver wait for that at each page, and a page takes no time.
	if err := r.pinned.page.QueryRowContext(context.WithoutCancel(r.ctx), number).Scan(&r.left); err != nil {
		return fmt.Errorf("page %d of the database can't be read: %w", number, Explain(err))
	}
	if int64(len(r.left)) != r.pinned.pageSize {
		return fmt.Errorf("page %d of the database is not where it belongs", number)
	}
	r.next = number
	return nil
}
