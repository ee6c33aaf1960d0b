package resourceindex

import (
	"context"
	"database/sql"
	"iter"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// tx is a transaction. Each text of a statement is prepared once in it.
type tx struct {
	ctx   context.Context
	tx    *sql.Tx
	stmts map[string]*sql.Stmt // closed with the transaction
}

func newTx(ctx context.Context, t *sql.Tx) *tx {
	return &tx{ctx: ctx, tx: t, stmts: map[string]*sql.Stmt{}}
}

func (t *tx) stmt(text string) (*sql.Stmt, error) {
	if s, ok := t.stmts[text]; ok {
		return s, nil
	}
	s, err := t.tx.PrepareContext(t.ctx, text)
	if err == nil {
		t.stmts[text] = s
	}
	return s, err
}

func (t *tx) exec(text string, args ...any) error {
	s, err := t.stmt(text)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(t.ctx, args...)
	return err
}

func (t *tx) insertRow(text string, args ...any) (int64, error) {
	s, err := t.stmt(text)
	if err != nil {
		return 0, err
	}
	result, err := s.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

func (t *tx) row(dest any, text string, args ...any) error {
	s, err := t.stmt(text)
	if err != nil {
		return err
	}
	return s.QueryRowContext(t.ctx, args...).Scan(dest)
}

// holding is where resources go.
type holding struct {
	id, org int64
	source  int
	state   string
}

const (
	stateSource  = 0
	uploadSource = 1
)

// org returns the number of an organization, a new one if it is new.
func (t *tx) org(org uuid.UUID) (id int64, err error) {
	err = t.exec("INSERT INTO orgs (org) VALUES (?) ON CONFLICT DO NOTHING", org.String())
	if err == nil {
		err = t.row(&id, "SELECT id FROM orgs WHERE org = ?", org.String())
	}
	return id, err
}

// begin makes room for a state that is not shown yet.
func (t *tx) begin(ref state.Ref, h resources.Holding) (holding, error) {
	org, err := t.org(ref.Org)
	if err != nil {
		return holding{}, err
	}
	id, err := t.insertRow(`INSERT INTO holdings (org, state, version, digest, at, unread, live) VALUES (?, ?, ?, ?, ?, ?, 0)`,
		org, string(ref.Name), int64(h.Version), h.Digest[:], h.At.UnixMicro(), string(h.Unread))
	return holding{id: id, org: org, source: stateSource, state: string(ref.Name)}, err
}

// uploads is where an organization's uploads go.
func (t *tx) uploads(org uuid.UUID) (holding, error) {
	id, err := t.org(org)
	if err != nil {
		return holding{}, err
	}
	err = t.exec(`INSERT INTO holdings (org, state, version, digest, at, unread, live) VALUES (?, '', 0, x'', 0, '', 1)
		ON CONFLICT DO NOTHING`, id)
	h := holding{org: id, source: uploadSource}
	if err == nil {
		err = t.row(&h.id, "SELECT id FROM holdings WHERE org = ? AND state = '' AND live = 1", id)
	}
	return h, err
}

// retire takes from view what is shown of a state, or of uploads.
func (t *tx) retire(org int64, name string) error {
	return t.exec("UPDATE holdings SET live = 0 WHERE org = ? AND state = ? AND live = 1", org, name)
}

func (t *tx) insertAll(into holding, all []resources.Resource) error {
	for _, one := range all {
		if err := t.insert(into, one); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) insert(into holding, r resources.Resource) error {
	f, err := fieldsOf(r)
	if err != nil {
		return err
	}
	id, err := t.insertRow(`INSERT INTO resources (holding, org, source, state, address, type, provider, category, mode, module,
		name, key, deposed, version, at, attributes, tags, counts, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		into.id, into.org, into.source, into.state, r.Address, r.Type, r.Provider, r.Category, r.Mode, r.Module,
		r.Name, r.Key, r.Deposed, int64(r.Version), r.At.UnixMicro(), f.attributes, f.tags, f.counts, f.text)
	if err != nil {
		return err
	}
	if err := t.words(into.org, id, f.text); err != nil {
		return err
	}
	return t.marks(into, id, r)
}

// words makes a resource be found by the words of its text.
func (t *tx) words(org, id int64, text string) error {
	for word := range strings.FieldsSeq(text) {
		err := t.exec("INSERT INTO words (org, word, resource) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", org, word, id)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) marks(into holding, id int64, r resources.Resource) error {
	for kind, mark := range marksOf(r) {
		err := t.exec("INSERT INTO marks (org, mark, source, resource, kind) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			into.org, mark[:], into.source, id, kind)
		if err != nil {
			return err
		}
	}
	return nil
}

// marksOf yields a resource's marks with their kinds. Of two that are the same, the first
// counts.
func marksOf(r resources.Resource) iter.Seq2[string, resources.Mark] {
	return func(yield func(string, resources.Mark) bool) {
		for _, a := range r.Attributes {
			if !yield("a", attributeMark(a)) {
				return
			}
		}
		for _, one := range []struct {
			kind string
			list []resources.Mark
		}{{"i", r.Traits.Identities}, {"e", r.Traits.Everywhere}, {"h", r.Traits.Hints}, {"l", r.Traits.Lanes}} {
			for _, mark := range one.list {
				if !yield(one.kind, mark) {
					return
				}
			}
		}
	}
}

func attributeMark(a resources.Pair) resources.Mark {
	return resources.MarkOf("attribute", a.Name, a.Value)
}

// removeWhere removes the resources that a query selects.
func (t *tx) removeWhere(query string, args ...any) error {
	if err := t.removeWords(query, args); err != nil {
		return err
	}
	for _, text := range []string{
		"DELETE FROM marks WHERE resource IN (" + query + ")",
		"DELETE FROM resources WHERE id IN (" + query + ")",
	} {
		if err := t.exec(text, args...); err != nil {
			return err
		}
	}
	return nil
}

// removeWords removes the words of the resources that a query selects. Their texts say which
// they are: an index of words by resource would be as large as that by word.
func (t *tx) removeWords(query string, args []any) error {
	s, err := t.stmt("SELECT id, org, text FROM resources WHERE id IN (" + query + ")")
	if err != nil {
		return err
	}
	found, err := collect(t.ctx, s, args, func(scan scan) (f found, err error) { return f, scan(&f.id, &f.org, &f.text) })
	if err != nil {
		return err
	}
	for _, one := range found {
		for word := range strings.FieldsSeq(one.text) {
			if err := t.exec("DELETE FROM words WHERE org = ? AND word = ? AND resource = ?", one.org, word,
				one.id); err != nil {
				return err
			}
		}
	}
	return nil
}

// found is what a resource is found by.
type found struct {
	id, org int64
	text    string
}

func collect[T any](ctx context.Context, s *sql.Stmt, args []any, one func(scan) (T, error)) ([]T, error) {
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	var all []T
	err = read(rows, one, keep(&all))
	return all, err
}

// sweep removes some of what is not shown, and says whether there may be more.
func (t *tx) sweep(limit int) (more bool, err error) {
	var stale int64
	if err := t.row(&stale, "SELECT coalesce(min(id), 0) FROM holdings WHERE live = 0"); err != nil || stale == 0 {
		return false, err
	}
	if err := t.removeWhere("SELECT id FROM resources WHERE holding = ? ORDER BY id LIMIT ?", stale, limit); err != nil {
		return false, err
	}
	return true, t.exec("DELETE FROM holdings WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM resources WHERE holding = ?1)",
		stale)
}
