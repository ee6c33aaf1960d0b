package moving

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"strconv"
)

// Kind is what a column holds.
type Kind uint8

// The kinds. Records have texts and bytes as []byte; a database may tell them apart.
const (
	Int Kind = iota
	Text
	Bytes
)

// Column is a column of a table. Any but a key's may be null.
type Column struct {
	Name string
	Kind Kind
}

// Ints, Texts and Blobs return columns of a kind.
func Ints(names ...string) []Column  { return columns(Int, names) }
func Texts(names ...string) []Column { return columns(Text, names) }
func Blobs(names ...string) []Column { return columns(Bytes, names) }

func columns(kind Kind, names []string) []Column {
	all := make([]Column, len(names))
	for i, name := range names {
		all[i] = Column{name, kind}
	}
	return all
}

// Table is what both sides have of one kind of records.
type Table struct {
	Name string
	// Key identifies a record; records are in its order, as bytes compare.
	Key []Column
	// Rest is what else a record has.
	Rest []Column
	// Body is the name of a column, of many bytes, that a record has behind the rest; empty for none.
	Body string
}

// Row is a record: the values of Key, Rest and, in some, Body: each an int64, a []byte or nil.
type Row []any

// key is the record's key.
func (t Table) key(r Row) Row { return r[:len(t.Key)] }

// at is the place of a column's value in a row. It panics for a column that the table has not.
func (t Table) at(name string) int {
	for i, c := range t.Key {
		if c.Name == name {
			return i
		}
	}
	for i, c := range t.Rest {
		if c.Name == name {
			return len(t.Key) + i
		}
	}
	if name == t.Body && name != "" {
		return len(t.Key) + len(t.Rest)
	}
	panic("moving: the table " + t.Name + " has no column " + name)
}

// Of returns the value of a row's column.
func (t Table) Of(r Row, name string) any { return r[t.at(name)] }

// compare compares rows of one table as far as the shorter of them goes.
func compare(a, b Row) int {
	for i := range min(len(a), len(b)) {
		if order := compareValues(a[i], b[i]); order != 0 {
			return order
		}
	}
	return 0
}

func compareValues(a, b any) int {
	switch x := a.(type) {
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y)
		}
	case []byte:
		if y, ok := b.([]byte); ok {
			return bytes.Compare(x, y)
		}
	}
	return cmp.Compare(rank(a), rank(b))
}

func rank(v any) int {
	switch v.(type) {
	case nil:
		return 0
	case int64:
		return 1
	}
	return 2
}

// value is what a driver's value is in a row.
func value(v any, kind Kind) (any, error) {
	if v == nil {
		return nil, nil
	}
	if kind != Int {
		switch x := v.(type) {
		case []byte:
			return bytes.Clone(x), nil
		case string:
			return []byte(x), nil
		case int64:
			return strconv.AppendInt(nil, x, 10), nil
		}
		return nil, fmt.Errorf("moving: a %T where bytes are expected", v)
	}
	switch x := v.(type) {
	case int64:
		return x, nil
	case bool:
		if x {
			return int64(1), nil
		}
		return int64(0), nil
	case []byte:
		return strconv.ParseInt(string(x), 10, 64)
	case string:
		return strconv.ParseInt(x, 10, 64)
	}
	return nil, fmt.Errorf("moving: a %T where a number is expected", v)
}

// addTo adds a row to a digest so that no other row adds the same.
func (r Row) addTo(h hash.Hash) {
	var head [9]byte
	for _, v := range r {
		head[0] = byte(rank(v))
		binary.BigEndian.PutUint64(head[1:], 0)
		switch x := v.(type) {
		case int64:
			binary.BigEndian.PutUint64(head[1:], uint64(x))
			_, _ = h.Write(head[:])
		case []byte:
			binary.BigEndian.PutUint64(head[1:], uint64(len(x)))
			_, _ = h.Write(head[:])
			_, _ = h.Write(x)
		default:
			_, _ = h.Write(head[:])
		}
	}
}

// digested returns a row whose body is its SHA-256.
func digested(r Row) Row {
	last := len(r) - 1
	if body, ok := r[last].([]byte); ok {
		sum := sha256.Sum256(body)
		r[last] = sum[:]
	}
	return r
}

// size is about how many bytes a row takes.
func (r Row) size() (n int) {
	for _, v := range r {
		if b, ok := v.([]byte); ok {
			n += len(b)
		}
		n += 8
	}
	return n
}
