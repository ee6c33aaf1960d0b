package sqluploads

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/inventory"
)

// form is how attributes are stored: as JSON, and as text when that is not the same.
type form func(attributes json.RawMessage) (value json.RawMessage, text any)

// plain stores attributes as they came.
func (s *server) plain(attributes json.RawMessage) (json.RawMessage, any) {
	if s.keepsText {
		return attributes, nil
	}
	return attributes, attributes
}

// tamed is for attributes that the server takes for no JSON of its kind. What searches in
// the column sees it with numbers as strings; what is read back is the text.
func tamed(attributes json.RawMessage) (json.RawMessage, any) {
	decoder := json.NewDecoder(bytes.NewReader(attributes))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return attributes, attributes
	}
	// encoding/json has put U+FFFD in the place of half surrogate pairs.
	encoded, err := json.Marshal(tame(value))
	if err != nil {
		return attributes, attributes
	}
	return encoded, attributes
}

// tame turns numbers that are no finite double into strings.
func tame(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = tame(member)
		}
	case []any:
		for i, element := range v {
			v[i] = tame(element)
		}
	case json.Number:
		if f, err := strconv.ParseFloat(string(v), 64); err != nil || math.IsInf(f, 0) {
			return string(v)
		}
	}
	return value
}

// insertRows stores the resources in order.
func (t *transaction) insertRows(ctx context.Context, fresh []*entry) error {
	columns := "timestamp, org_id, provider, category, resource_type, resource_name, attributes"
	row := "(?, ?, ?, ?, ?, ?, " + t.speaks.jsonValue()
	if !t.speaks.isPostgres() {
		columns, row = columns+", attributes_text", row+", ?"
	}
	insert := t.newInsert(tableOf(t.org)+" ("+columns+")", "")
	insert.row = row + ")"
	for _, e := range fresh {
		at := t.batches[e.batch.ID].receipt.At
		for i := range e.batch.Resources {
			r := &e.batch.Resources[i]
			value, text := t.form(r.Attributes)
			values := []any{at, t.org.String(), r.Provider, r.Category, r.ResourceType, r.ResourceName, string(value)}
			if !t.speaks.isPostgres() {
				values = append(values, text)
			}
			if err := insert.add(ctx, rowSize(r), values...); err != nil {
				return err
			}
		}
	}
	return insert.flush(ctx)
}

// rowSize is about what a resource takes up in a statement, before quoting.
func rowSize(r *inventory.Resource) int {
	return len(r.Provider) + len(r.Category) + len(r.ResourceType) + len(r.ResourceName) + 2*len(r.Attributes) + fixedSize
}

// fixedSize is about what a row takes beside its texts. It also keeps a statement of a mebibyte below the 65,535 values
// that PostgreSQL takes: no row has more than eight.
const fixedSize = 128

// insert is an INSERT of many rows, in as many statements as the server needs it in.
type insert struct {
	t    *transaction
	into string // table and columns
	tail string // what follows the rows
	row  string // its placeholders; as many as the first row has values, where nothing else is said
	rows int
	size int // of the rows, in bytes
	args []any
}

func (t *transaction) newInsert(into, tail string) *insert {
	return &insert{t: t, into: into, tail: tail}
}

// add adds a row that takes about so many bytes.
func (i *insert) add(ctx context.Context, size int, row ...any) error {
	if i.row == "" {
		i.row = tuple(len(row))
	}
	if i.rows > 0 && i.size+size > i.t.server.statementBytes {
		if err := i.flush(ctx); err != nil {
			return err
		}
	}
	i.rows, i.size, i.args = i.rows+1, i.size+size, append(i.args, row...)
	return nil
}

// flush runs the statement with the rows that were added since the last one.
func (i *insert) flush(ctx context.Context) error {
	if i.rows == 0 {
		return nil
	}
	query := "INSERT INTO " + i.into + " VALUES " + i.row + strings.Repeat(","+i.row, i.rows-1) + i.tail
	_, err := i.t.db.ExecContext(ctx, query, i.t.speaks.unprepared(i.args)...)
	i.rows, i.size, i.args = 0, 0, nil
	return err
}

// tuple returns n placeholders in parentheses.
func tuple(n int) string { return "(?" + strings.Repeat(",?", n-1) + ")" }
