package resourceindex

import (
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/holdfast/holdfast/resources"
)

// repeats reports whether an upload says what the last one at its address said, and notes
// when it did. Providers report the same over and over: to put a resource in the place of
// one that is the same takes ten times as long, most of it in the full-text index.
func (t *tx) repeats(into holding, r resources.Resource) (bool, error) {
	was, id, err := t.recorded(into, r.Address)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	is, codeErr := fieldsOf(r)
	if err := errors.Join(err, codeErr); err != nil || was != is {
		return false, err
	}
	if same, err := t.hasMarks(id, r); err != nil || !same {
		return false, err
	}
	return true, t.exec("UPDATE resources SET at = ? WHERE id = ?", r.At.UnixMicro(), id)
}

// fields are what an upload's row has beside its marks, its address and its time.
type fields struct {
	kind, provider, category, name, attributes, tags string
	counts                                           bool
}

func fieldsOf(r resources.Resource) (fields, error) {
	attributes, err := json.Marshal(flat(r.Attributes))
	if err != nil {
		return fields{}, err
	}
	tags, err := json.Marshal(flat(r.Tags))
	return fields{r.Type, r.Provider, r.Category, r.Name, string(attributes), string(tags), r.Traits.Counts}, err
}

func (t *tx) recorded(into holding, address string) (f fields, id int64, err error) {
	s, err := t.stmt(`SELECT id, type, provider, category, name, attributes, tags, counts FROM resources
		WHERE org = ? AND source = 1 AND state = '' AND address = ? AND holding = ?`)
	if err != nil {
		return f, 0, err
	}
	err = s.QueryRowContext(t.ctx, into.org, address, into.id).Scan(&id, &f.kind, &f.provider, &f.category, &f.name,
		&f.attributes, &f.tags, &f.counts)
	return f, id, err
}

// hasMarks reports whether the marks of a resource are these: with other rules, they are
// others.
func (t *tx) hasMarks(id int64, r resources.Resource) (bool, error) {
	want := map[resources.Mark]string{}
	for kind, mark := range marksOf(r) {
		if want[mark] == "" {
			want[mark] = kind
		}
	}
	s, err := t.stmt("SELECT mark, kind FROM marks WHERE resource = ?")
	if err != nil {
		return false, err
	}
	rows, err := s.QueryContext(t.ctx, id)
	if err != nil {
		return false, err
	}
	defer func() { _ = rows.Close() }() // what it could say, Err says
	n := 0
	for ; rows.Next(); n++ {
		var mark []byte
		var kind string
		if err := rows.Scan(&mark, &kind); err != nil {
			return false, err
		}
		if len(mark) != len(resources.Mark{}) || want[resources.Mark(mark)] != kind {
			return false, nil
		}
	}
	return n == len(want), rows.Err()
}
