package sqlitedb

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/pause"
)

// Scrub overwrites all that is left in the database's files of what was deleted before the call, also
// by connections without secure_delete: in free pages, in the unused parts of others, and in the WAL.
// It works in pieces, of which the writer has half of its time for others. readers are connections
// for reading. ctx may end it at any time, and a further call begins anew.
func (w *Writer) Scrub(ctx context.Context, readers *sql.DB) error {
	if err := w.clearFree(ctx); err != nil {
		return err
	}
	read := func(piece func(context.Context, Querier) error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		conn, err := readers.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		return piece(context.WithoutCancel(ctx), conn)
	}
	write := func(piece func(context.Context, Querier) error) error {
		return w.piece(ctx, func(t *Tx) error { return piece(context.Background(), t.conn) })
	}
	if err := ClearGaps(read, write); err != nil {
		return err
	}
	return w.EmptyLog(ctx, uuid.Nil)
}

// Dirt knows whether something was deleted since the files were scrubbed last. What an earlier process
// has deleted nobody knows, so they count as dirty at first. The zero Dirt is ready to use.
type Dirt struct{ deleted, scrubbed atomic.Int64 }

// Add notes that something was deleted.
func (d *Dirt) Add() { d.deleted.Add(1) }

// Clear scrubs, unless nothing was deleted since that was done.
func (d *Dirt) Clear(scrub func() error) error {
	by := d.deleted.Load() + 1
	if d.scrubbed.Load() == by {
		return nil
	}
	if err := scrub(); err != nil {
		return err
	}
	d.scrubbed.Store(by)
	return nil
}

func (w *Writer) piece(ctx context.Context, run func(*Tx) error) error {
	return Paced(ctx, func() error { return w.Submit(ctx, Job{Org: uuid.Nil, Run: run}) })
}

// Paced rests for as long as the piece has taken, so that a long piece of work has half of the
// writer's time at most.
func Paced(ctx context.Context, piece func() error) error {
	begun := time.Now()
	if err := piece(); err != nil {
		return err
	}
	return pause.For(ctx, time.Since(begun))
}

// freeRounds is how often the list of free pages is gone through at most: it may change between the
// pieces of a round, and the next one finds what that has missed.
const freeRounds = 8

// clearFree overwrites the pages that are free.
func (w *Writer) clearFree(ctx context.Context) error {
	for range freeRounds {
		var cleared int
		for trunk, more := 0, true; more; trunk++ {
			var here int
			err := w.piece(ctx, func(t *Tx) (err error) {
				here, more, err = clearTrunk(context.Background(), t.conn, trunk)
				return err
			})
			if err != nil {
				return err
			}
			cleared += here
		}
		if cleared == 0 {
			return nil
		}
	}
	return nil
}

// clearTrunk clears the pages that one page of the list of free ones has, some thousand at most, and
// what that page itself doesn't use. more is false behind the end of the list.
func clearTrunk(ctx context.Context, in Querier, trunk int) (cleared int, more bool, err error) {
	var g gaps
	defer func() { err = errors.Join(err, g.close()) }()
	if err := g.open(ctx, in); err != nil {
		return 0, false, err
	}
	page, err := g.page(ctx, 1)
	if err != nil {
		return 0, false, err
	}
	number := int64(binary.BigEndian.Uint32(page[freeList:]))
	for i := 0; ; i++ {
		if number == 0 || number > g.pages || int64(i) > g.pages {
			return 0, false, nil
		}
		if page, err = g.page(ctx, number); err != nil {
			return 0, false, err
		}
		if i == trunk {
			break
		}
		number = int64(binary.BigEndian.Uint32(page))
	}
	entries := int(binary.BigEndian.Uint32(page[4:]))
	if 8+4*entries > len(page) {
		return 0, false, nil // damaged: not for us to mend
	}
	if rest := page[8+4*entries:]; !areZero([][]byte{rest}) {
		cleared++
		clear(rest)
		if err := g.put(ctx, number, page); err != nil {
			return cleared, false, err
		}
	}
	for at := 8; at < 8+4*entries; at += 4 {
		number := int64(binary.BigEndian.Uint32(page[at:]))
		free, err := g.page(ctx, number)
		if err != nil {
			return cleared, false, err
		}
		if areZero([][]byte{free}) {
			continue
		}
		cleared++
		clear(free)
		if err := g.put(ctx, number, free); err != nil {
			return cleared, false, err
		}
	}
	return cleared, true, nil
}

// freeList is where the first page has the number of the first one of the list of free pages
// (https://www.sqlite.org/fileformat2.html, 1.5).
const freeList = 32

// How often EmptyLog asks, and how long it keeps the writer waiting each time.
const (
	emptyInterval = 20 * time.Millisecond
	emptyAttempt  = 20 // milliseconds
)

// EmptyLog moves the WAL into the database and cuts it to nothing. That needs a moment
// without readers, which are quick, and without a transaction: so the writer does it, in the
// organization's turn. It tries until it has succeeded or ctx ends.
func (w *Writer) EmptyLog(ctx context.Context, org uuid.UUID) error {
	for {
		var busy bool
		err := w.Submit(ctx, Job{Org: org, Alone: true, Run: func(t *Tx) (err error) {
			busy, err = t.cutLog()
			return err
		}})
		if err != nil || !busy {
			return err
		}
		if err := pause.For(ctx, emptyInterval); err != nil {
			return err
		}
	}
}

// cutLog reports whether readers were in the way. It doesn't wait for them for as long as
// a transaction would: everybody else waits meanwhile.
func (t *Tx) cutLog() (busy bool, err error) {
	if _, err := t.conn.ExecContext(context.Background(),
		fmt.Sprintf("PRAGMA busy_timeout = %d", emptyAttempt)); err != nil {
		return false, err
	}
	var pages, moved int
	err = t.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	_, restored := t.conn.ExecContext(context.Background(), fmt.Sprintf("PRAGMA busy_timeout = %d", BusyTimeout))
	if err == nil {
		err = restored
	}
	return busy, err
}
