package csvrow

import (
	"bytes"
	"errors"
	"fmt"
)

// ErrShort says that the data ends before the row does.
var ErrShort = errors.New("the row has no end")

// SyntaxError says where bytes are no row. It never holds what stands there.
type SyntaxError struct {
	Line   int64 // the first line is 1
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Row is one row. Its zero value is ready for Parse; one that is used again allocates
// nothing once it has grown.
type Row struct {
	// Fields are valid until the next Parse, and as long as the data stays unchanged.
	Fields [][]byte
	// Lines is how many lines the row takes: more than one if a field has line ends.
	Lines int
	// LF is whether the row ends in LF alone, as other programs write it.
	LF bool

	scratch []byte // of fields that have quotes in them
}

// Parse reads the row at the start of data and returns its length. The error is ErrShort
// or a *SyntaxError with the line within data.
func (r *Row) Parse(data []byte) (int, error) {
	r.Fields, r.scratch, r.Lines, r.LF = r.Fields[:0], r.scratch[:0], 1, false
	for i := 0; ; i++ {
		field, end, err := r.field(data, i)
		if err != nil {
			return 0, err
		}
		r.Fields = append(r.Fields, field)
		if end < len(data) && data[end] == ',' {
			i = end
			continue
		}
		return r.end(data, end)
	}
}

// end takes the line end at i.
func (r *Row) end(data []byte, i int) (int, error) {
	switch {
	case i == len(data), data[i] == '\r' && i+1 == len(data):
		return 0, ErrShort
	case data[i] == '\n':
		r.LF = true
		return i + 1, nil
	case data[i] == '\r' && data[i+1] == '\n':
		return i + 2, nil
	case data[i] == '\r':
		return 0, r.fail("a carriage return without a line feed")
	default:
		return 0, r.fail("text after a closing quote")
	}
}

// field reads the field at i and returns the offset behind it.
func (r *Row) field(data []byte, i int) ([]byte, int, error) {
	if i < len(data) && data[i] == '"' {
		return r.quoted(data, i+1)
	}
	for end := i; end < len(data); end++ {
		switch data[end] {
		case ',', '\r', '\n':
			return data[i:end:end], end, nil
		case '"':
			return nil, 0, r.fail("a quote in a field that is not quoted")
		}
	}
	return nil, 0, ErrShort
}

// quoted reads the field whose text starts at i, behind the quote.
func (r *Row) quoted(data []byte, i int) ([]byte, int, error) {
	from := len(r.scratch)
	for {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 || i+n+1 == len(data) {
			return nil, 0, ErrShort // the quote may be the first of two
		}
		part, end := data[i:i+n:i+n], i+n+1
		r.Lines += bytes.Count(part, []byte{'\n'})
		if data[end] == '"' {
			r.scratch = append(r.scratch, data[i:end]...)
			i = end + 1
			continue
		}
		if len(r.scratch) == from {
			return part, end, nil
		}
		r.scratch = append(r.scratch, part...)
		return r.scratch[from:len(r.scratch):len(r.scratch)], end, nil
	}
}

func (r *Row) fail(reason string) error {
	return &SyntaxError{Line: int64(r.Lines), Reason: reason}
}

// Length returns the length of the row at the start of data, by its quotes and line end
// alone; 0 if data ends before the row does.
func Length(data []byte) int {
	quoted := false
	for i, c := range data {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\n' && !quoted:
			return i + 1
		}
	}
	return 0
}
