// Package dump is what backups of databases on all servers have in common: a moment of one, the format in which it is
// written, and what is done with tables once they are loaded. mysqldump and pgdump write and load the tables.
//
// A dump is a line that names the format, a line of JSON that says what it is of (Header), and for each table a line of
// JSON (Table) with its rows behind it, as the server's package has them. At the end a line says how many tables there
// are: what has none was cut off.
package dump

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/holdfast/holdfast/storage/sqldb"
)

const format = "holdfast dump 2\n"

// ErrDamaged is of what is no dump, or not all of one.
var ErrDamaged = errors.New("the dump is damaged, or was cut off")

// Header says what a dump is of.
type Header struct {
	Server string `json:"server"`
	// Schemas are the versions of the schemas of which all tables are, by the table that notes the version; none where the
	// dump says itself how tables are made.
	Schemas map[string]int64 `json:"schemas,omitempty"`
}

// Table stands before a table's rows.
type Table struct {
	Name    string   `json:"name,omitempty"`
	Create  string   `json:"create,omitempty"` // the statement that makes it, of a dump without schemas
	Columns []Column `json:"columns,omitempty"`
	// Last are the last numbers that the server has given rows in columns which it numbers.
	Last map[string]int64 `json:"last,omitempty"`
	// End stands behind the last table, and says how many there are.
	End *int `json:"end,omitempty"`
}

// Column is one whose values are in the dump: not one that the server works out from others.
type Column struct {
	Name   string `json:"name"`
	Binary bool   `json:"binary,omitempty"` // bytes that are no text
}

// server is what a dialect is called in dumps and on command lines, and kind what people call its servers.
func server(d sqldb.Dialect) (server, kind string) {
	if d == sqldb.Postgres {
		return "postgres", "PostgreSQL"
	}
	return "mysql", "MySQL or MariaDB"
}

// Writer writes a dump.
type Writer struct {
	*bufio.Writer
	tables int
}

// NewWriter begins a dump.
func NewWriter(to io.Writer, of sqldb.Dialect, schemas map[string]int64) (*Writer, error) {
	w := &Writer{Writer: bufio.NewWriterSize(to, 64<<10)}
	if _, err := w.WriteString(format); err != nil {
		return nil, err
	}
	name, _ := server(of)
	return w, json.NewEncoder(w).Encode(Header{name, schemas})
}

// Table begins a table.
func (w *Writer) Table(t Table) error {
	w.tables++
	return json.NewEncoder(w).Encode(t)
}

// End ends the dump.
func (w *Writer) End() error {
	return errors.Join(json.NewEncoder(w).Encode(Table{End: &w.tables}), w.Flush())
}

// Reader reads a dump.
type Reader struct {
	*bufio.Reader
	Header
	tables int
}

// NewReader begins to read a dump. It refuses one of another server than the one that it is loaded into.
func NewReader(from io.Reader, into sqldb.Dialect) (*Reader, error) {
	r := &Reader{Reader: bufio.NewReaderSize(from, 64<<10)}
	head := make([]byte, len(format))
	if _, err := io.ReadFull(r, head); err != nil || string(head) != format {
		return nil, fmt.Errorf("it is no dump that this program reads: %w", errors.Join(ErrDamaged, err))
	}
	if err := r.line(&r.Header); err != nil {
		return nil, err
	}
	name, kind := server(into)
	other, otherKind := server(sqldb.MySQL)
	if into == sqldb.MySQL {
		other, otherKind = server(sqldb.Postgres)
	}
	switch r.Server {
	case name:
		return r, nil
	case other:
		return nil, fmt.Errorf("the backup is of a database of %s, and the settings name one of %s: load it into one of %s, "+
			"and move what is there with `holdfast migrate --from %s --to sqlite` and `holdfast migrate --from sqlite --to %s`",
			otherKind, kind, otherKind, other, name)
	}
	return nil, ErrDamaged
}

func (r *Reader) line(into any) error {
	line, err := r.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, into)
	}
	if err != nil {
		return errors.Join(ErrDamaged, err)
	}
	return nil
}

// Next reads up to a table's rows. At the end of the dump there is none.
func (r *Reader) Next() (t Table, some bool, err error) {
	if err := r.line(&t); err != nil {
		return t, false, err
	}
	if t.End != nil {
		if *t.End != r.tables || r.tables == 0 {
			return t, false, ErrDamaged
		}
		return t, false, nil
	}
	r.tables++
	if t.Name == "" || len(t.Columns) == 0 {
		return t, false, ErrDamaged
	}
	return t, true, nil
}
