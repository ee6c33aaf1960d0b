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

// insertRows stores the resources in order, in statements that the server takes.
func (t *transaction) insertRows(ctx context.Context, fresh []*entry) error {
	verb := "INSERT INTO " + tableOf(t.org) +
		" (timestamp, org_id, provider, category, resource_type, resource_name, attributes, attributes_text) VALUES "
	insert, size := newInsert(verb), 0
	for _, e := range fresh {
		at := t.batches[e.batch.ID].receipt.At
		for i := range e.batch.Resources {
			r := &e.batch.Resources[i]
			if size > 0 && size+rowSize(r) > t.server.statementBytes {
				if err := insert.exec(ctx, t.conn, ""); err != nil {
					return err
				}
				insert, size = newInsert(verb), 0
			}
			value, text := t.form(r.Attributes)
			insert.add(at, t.org.String(), r.Provider, r.Category, r.ResourceType, r.ResourceName, value, text)
			size += rowSize(r)
		}
	}
	return insert.exec(ctx, t.conn, "")
}

// rowSize is about what a resource takes up in a statement, before quoting.
func rowSize(r *inventory.Resource) int {
	const fixed = 128
	return fixed + len(r.Provider) + len(r.Category) + len(r.ResourceType) + len(r.ResourceName) + 2*len(r.Attributes)
}

// insert is a statement of several rows.
type insert struct {
	verb string
	rows int
	args []any
}

func newInsert(verb string) *insert { return &insert{verb: verb} }

func (i *insert) add(row ...any) {
	i.rows++
	i.args = append(i.args, row...)
}

// exec runs the statement with what follows the rows.
func (i *insert) exec(ctx context.Context, db querier, tail string) error {
	row := tuple(len(i.args) / i.rows)
	_, err := db.ExecContext(ctx, i.verb+row+strings.Repeat(","+row, i.rows-1)+tail, i.args...)
	return err
}

// tuple returns n placeholders in parentheses.
func tuple(n int) string { return "(?" + strings.Repeat(",?", n-1) + ")" }
