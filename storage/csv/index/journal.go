package index

import (
	"context"
	"database/sql"

	"github.com/google/uuid"
	"github.com/klauspost/compress/s2"
)

// JournalEntry is what one write put into a file, from an offset on. It is packed: it
// reaches the disk three times, in the WAL, here and in the file.
type JournalEntry struct {
	Start  int64
	packed []byte
}

// PackedRoom is how much room so many bytes may take when they are packed.
func PackedRoom(bytes int) int { return s2.MaxEncodedLen(bytes) }

// NewJournalEntry packs the bytes into room, and anew if that is less than PackedRoom.
func NewJournalEntry(start int64, bytes, room []byte) JournalEntry {
	return JournalEntry{Start: start, packed: s2.Encode(room[:cap(room)], bytes)}
}

// Bytes unpacks them.
func (e JournalEntry) Bytes() ([]byte, error) { return s2.Decode(nil, e.packed) }

func (e JournalEntry) empty() bool { return e.packed == nil }

// Flushed says how much of an organization's file is on disk.
type Flushed struct{ ID, Length int64 }

// Flush takes from the journal what is on disk in the files.
func (x *Index) Flush(files []Flushed) error {
	return x.do(uuid.Nil, func(t tx) error {
		for _, f := range files {
			if err := t.exec("DELETE FROM journal WHERE org = ? AND start < ?", f.ID, f.Length); err != nil {
				return err
			}
		}
		return nil
	})
}

// Journaled returns the organizations that have something in the journal.
func (x *Index) Journaled(ctx context.Context) (all []Entry, err error) {
	rows, err := x.readers.QueryContext(ctx, `SELECT org, id, length, inode, changed, base FROM orgs
		WHERE id IN (SELECT org FROM journal) ORDER BY id`)
	for one, err := range scan(rows, err, scanJournaled) {
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func scanJournaled(rows *sql.Rows) (j Entry, err error) {
	var org string
	if err := rows.Scan(&org, &j.ID, &j.Length, &j.Seal.Inode, &j.Seal.Changed, &j.Base); err != nil {
		return j, err
	}
	j.Org, err = uuid.Parse(org)
	return j, err
}

// Journal calls each with what the journal has of a file, in order, one entry at a time.
func (x *Index) Journal(ctx context.Context, id int64, each func(JournalEntry) error) error {
	rows, err := x.readers.QueryContext(ctx, "SELECT start, bytes FROM journal WHERE org = ? ORDER BY start", id)
	for e, err := range scan(rows, err, scanEntryOfJournal) {
		if err == nil {
			err = each(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func scanEntryOfJournal(rows *sql.Rows) (e JournalEntry, err error) {
	err = rows.Scan(&e.Start, &e.packed)
	return e, err
}

func (t tx) journal(id int64, e JournalEntry) error {
	if e.empty() {
		return nil
	}
	return t.exec("INSERT INTO journal (org, start, bytes) VALUES (?, ?, ?)", id, e.Start, e.packed)
}
