package resourceindex

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
)

// putUpload puts what an organization uploaded in the place of what is at its address.
// Providers report the same over and over, so no more is written than differs: to change
// the words takes longer than all the rest.
func (t *tx) putUpload(into holding, r resources.Resource) error {
	is, err := fieldsOf(r)
	if err != nil {
		return err
	}
	was, id, err := t.recorded(into, r.Address)
	if errors.Is(err, sql.ErrNoRows) {
		return t.insert(into, r)
	}
	if err != nil {
		return err
	}
	if was.text != is.text {
		if err := t.removeWhere("SELECT ?", id); err != nil {
			return err
		}
		return t.insert(into, r)
	}
	err = t.exec(`UPDATE resources SET type = ?, provider = ?, category = ?, name = ?, attributes = ?, tags = ?, counts = ?, at = ? WHERE id = ?`,
		is.kind, is.provider, is.category, is.name, is.attributes, is.tags, is.counts, r.At.UnixMicro(), id)
	if err != nil {
		return err
	}
	return t.changeMarks(into, id, r)
}

// changeMarks leaves marks as they are that are the same.
func (t *tx) changeMarks(into holding, id int64, r resources.Resource) error {
	if same, err := t.hasMarks(id, r); err != nil || same {
		return err
	}
	if err := t.exec("DELETE FROM marks WHERE resource = ?", id); err != nil {
		return err
	}
	return t.marks(into, id, r)
}

// fields are what an upload's row has beside its marks, its address and its time.
type fields struct {
	kind, provider, category, name, attributes, tags, text string
	counts                                                 bool
}

func fieldsOf(r resources.Resource) (fields, error) {
	attributes, err := json.Marshal(flat(r.Attributes))
	if err != nil {
		return fields{}, err
	}
	tags, err := json.Marshal(flat(r.Tags))
	return fields{r.Type, r.Provider, r.Category, r.Name, string(attributes), string(tags), searchText(r.Text()),
		r.Traits.Counts}, err
}

func (t *tx) recorded(into holding, address string) (f fields, id int64, err error) {
	s, err := t.stmt(`SELECT id, type, provider, category, name, attributes, tags, text, counts FROM resources
		WHERE org = ? AND source = 1 AND state = '' AND address = ? AND holding = ?`)
	if err != nil {
		return f, 0, err
	}
	err = s.QueryRowContext(t.ctx, into.org, address, into.id).Scan(&id, &f.kind, &f.provider, &f.category, &f.name,
		&f.attributes, &f.tags, &f.text, &f.counts)
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

// Expire implements resources.Index.
func (x *Index) Expire(ctx context.Context, org uuid.UUID, before time.Time, limit int) (removed int, err error) {
	err = x.transact(ctx, func(t *tx) error {
		var id int64
		err := t.row(&id, "SELECT id FROM orgs WHERE org = ?", org.String())
		if errors.Is(err, sql.ErrNoRows) {
			removed = 0
			return nil
		}
		if err != nil {
			return err
		}
		const some = "SELECT id FROM resources WHERE org = ? AND source = 1 AND at < ? ORDER BY id LIMIT ?"
		err = t.row(&removed, "SELECT count(*) FROM ("+some+")", id, before.UnixMicro(), limit)
		if err != nil || removed == 0 {
			return err
		}
		return t.removeWhere(some, id, before.UnixMicro(), limit)
	})
	return removed, err
}
