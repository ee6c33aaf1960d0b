// Package index keeps what package csv has to know about its files beside the records
// themselves, in an SQLite database: how far each file is committed, its pieces with
// their checksums, which batches were recorded, and the counts for summaries; and a journal
// of what was written to the files and may not be on disk there.
//
// The files stay the truth about records: a lost index is made again from them. Only the
// IDs of recent batches are lost with it.
package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

const readConnections = 4

// Never is the timestamp before all others: that of an organization without records.
const Never = math.MinInt64

// Index is the open database.
type Index struct {
	place   place
	writer  *sqlitedb.Writer
	readers *sql.DB
	find    *sql.Stmt // of readers: a batch by its ID
	key     []byte
	dirt    sqlitedb.Dirt // what Shred has deleted
}

// Head is what is known of an organization's file.
type Head struct {
	ID      int64 // zero for an organization that is not in the index
	Length  int64
	Newest  int64
	Records int64
	Line    int64
	Seal    Seal
	// Base and BaseLines are how many bytes and lines were removed behind the file's header so far. Lengths, offsets
	// and lines of the index count them as if they were there, so that those of what stays never change.
	Base, BaseLines int64
}

// Size is how long the file is.
func (h Head) Size() int64 { return h.Length - h.Base }

// Place returns where in the file a line of the index's is, for people.
func (h Head) Place(line int64) int64 { return line - h.BaseLines }

// Seal tells whether a file was touched since it was committed.
type Seal struct {
	Inode   int64
	Changed int64
}

// Segment is a piece of a file: whole rows.
type Segment struct {
	Start, Length int64
	Records       int64
	Line          int64
	First, Last   int64
	CRC           uint32
	LF            bool
}

// End is the offset behind the segment.
func (s Segment) End() int64 { return s.Start + s.Length }

// Batch is a recorded batch and its place in the file.
type Batch struct {
	ID            string
	Digest        [32]byte
	Request       string
	At            int64
	Count         int
	Created       int64
	Start, Length int64
	Line          int64
	CRC           uint32
}

// Group names what records are counted by.
type Group struct{ Provider, Category, ResourceType string }

// Tally counts the records of a group.
type Tally struct{ Count, First, Last int64 }

// Change is what appending to a file, or reading in a foreign one, changes.
type Change struct {
	Org      uuid.UUID
	Head     Head      // as it is afterwards; ID zero adds the organization
	Segments []Segment // new ones, and the one that has grown
	Batches  []Batch
	Groups   map[Group]Tally // to be added to what is there
	Journal  JournalEntry    // what was written and may not be on disk; the zero one for nothing
}

// Open opens the database at path, and makes it if it is missing. The caller has to own
// the directory. A database that was removed while it was open is the one that was saved
// then.
func Open(ctx context.Context, path string, log *slog.Logger) (_ *Index, err error) {
	if err := putBack(path, log); err != nil {
		return nil, fmt.Errorf("put %s back as it was saved: %w", path, err)
	}
	x := &Index{place: place{path: path, log: log}}
	x.writer, err = sqlitedb.NewWriter(ctx, sqlitedb.Options{
		File: databaseFile(path), Migrate: migrate, Log: log,
		InPlace: x.place.check, Shared: everybodys, Explain: storeError,
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close())
		}
	}()
	if x.readers, err = databaseFile(path).OpenReader(); err != nil {
		return nil, err
	}
	if err := openAll(ctx, x.readers); err != nil {
		return nil, err
	}
	if x.find, err = x.readers.PrepareContext(ctx, batchColumns+" AND id = ?"); err != nil {
		return nil, err
	}
	err = x.readers.QueryRowContext(ctx, "SELECT cursor FROM meta").Scan(&x.key)
	return x, err
}

// openAll opens all the connections for reading at once: one that is opened later would read
// whatever is at the path then.
func openAll(ctx context.Context, readers *sql.DB) error {
	readers.SetMaxOpenConns(readConnections)
	readers.SetMaxIdleConns(readConnections)
	for range readConnections {
		conn, err := readers.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }() // back to the pool, when all are open
	}
	return nil
}

// Key returns 32 random bytes that were made with the database.
func (x *Index) Key() []byte { return x.key }

// Close waits for commits that have begun and closes the database, which it leaves in one
// file, without a WAL: the last connection removes that, and only one that can write does.
func (x *Index) Close() error {
	err := x.Watch()
	if x.find != nil {
		err = errors.Join(err, x.find.Close())
	}
	if x.readers != nil {
		err = errors.Join(err, x.readers.Close())
	}
	return errors.Join(err, x.writer.Close())
}
