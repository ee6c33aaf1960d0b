package moving

import (
	"context"
	"slices"
	"strings"
)

const (
	// batchRows and batchBytes are how much one transaction writes, the last record included.
	batchRows  = 500
	batchBytes = 4 << 20
	// statementBytes and statementValues are how much one INSERT has, but for its first row.
	statementBytes  = 512 << 10
	statementValues = 20_000
)

// batch is what is to be changed in one transaction.
type batch struct {
	shape Shape
	drops []Row // keys
	puts  []Row
	bytes int
}

func (b *batch) full() bool {
	return len(b.drops)+len(b.puts) >= batchRows || b.bytes >= batchBytes
}

// put adds a record; old says that there is one of its key, which it replaces.
func (b *batch) put(row Row, old bool) {
	if old {
		b.drops = append(b.drops, b.shape.key(row))
	}
	b.puts, b.bytes = append(b.puts, row), b.bytes+row.size()
}

// send changes what the batch has, and empties it.
func (b *batch) send(ctx context.Context, to Database) error {
	if len(b.drops)+len(b.puts) == 0 {
		return nil
	}
	err := to.Change(ctx, b.bytes, func(tx Tx) error {
		for _, key := range b.drops {
			if err := b.shape.drop(tx, key); err != nil {
				return err
			}
		}
		return b.shape.insert(tx, b.puts)
	})
	b.drops, b.puts, b.bytes = nil, nil, 0
	return err
}

func (s Shape) drop(tx Tx, key Row) error {
	if s.Delete != nil {
		return s.Delete(tx, key)
	}
	var conditions []string
	for _, c := range s.Key {
		conditions = append(conditions, s.real(c.Name)+" = ?")
	}
	_, err := tx.Exec("DELETE FROM "+s.Into+" WHERE "+strings.Join(conditions, " AND "), s.bound(key)...)
	return err
}

// insert puts records, several by one statement.
func (s Shape) insert(tx Tx, rows []Row) error {
	if s.Insert != nil {
		for _, row := range rows {
			if err := s.Insert(tx, row); err != nil {
				return err
			}
		}
		return nil
	}
	for len(rows) > 0 {
		n, bytes := 0, 0
		for n < len(rows) && (n == 0 || bytes+rows[n].size() < statementBytes && (n+1)*s.width() < statementValues) {
			bytes += rows[n].size()
			n++
		}
		if err := s.InsertInto(tx, rows[:n]...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func (s Shape) width() int { return len(s.Key) + len(s.Rest) + len(s.More) + 1 }

// InsertInto inserts rows into the shape's own table, with their bodies if they have them.
func (s Shape) InsertInto(tx Tx, rows ...Row) error {
	var names []string
	for i, c := range slices.Concat(s.Key, s.Rest, Blobs(s.Body)) {
		if i < len(rows[0]) {
			names = append(names, s.real(c.Name))
		}
	}
	for _, d := range s.More {
		names = append(names, s.real(d.Name))
	}
	var args []any
	for _, row := range rows {
		args = append(args, s.bound(row)...)
		for _, d := range s.More {
			args = append(args, d.Value(row))
		}
	}
	one := "(" + places(len(names)) + ")"
	_, err := tx.Exec("INSERT INTO "+s.Into+" ("+strings.Join(names, ", ")+") VALUES "+
		one+strings.Repeat(", "+one, len(rows)-1), args...)
	return err
}
