package moving

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
)

const (
	// pageRows is how many records a query reads, pageBodies of those that come with their bodies.
	pageRows   = 1000
	pageBodies = 16
)

// depth is how much of a record is read.
type depth uint8

const (
	marked depth = iota // with the body's marks in its place
	whole               // with the digest of the body in its place
)

// rows yields a table's records in the order of their keys. Nothing is open while one is looked at.
func (s Side) rows(ctx context.Context, shape Shape, how depth) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var after Row
		for {
			page, err := s.page(ctx, shape, how, after)
			if err != nil {
				yield(nil, fmt.Errorf("read %s: %w", shape.Name, err))
				return
			}
			for _, row := range page {
				if after != nil && compare(shape.key(row), after) <= 0 {
					yield(nil, fmt.Errorf("read %s: the database has its keys in an order that is none of bytes", shape.Name))
					return
				}
				after = shape.key(row)
				if !yield(row, nil) {
					return
				}
			}
			if len(page) < shape.most(how) {
				return
			}
		}
	}
}

// most is how many records a page has.
func (s Shape) most(how depth) int {
	if how == whole && s.Body != "" {
		return pageBodies
	}
	return pageRows
}

func (s Side) page(ctx context.Context, shape Shape, how depth, after Row) (page []Row, err error) {
	query, args := shape.selected(how, s.RowValues(), after)
	err = s.Look(ctx, func(q Querier) error {
		page, err = scan(q, shape.read(how), query, args)
		if err != nil || how == marked || shape.Body == "" {
			return err
		}
		for i, row := range page {
			if shape.BodyOf != nil {
				body, err := shape.BodyOf(q, row)
				if err != nil {
					return err
				}
				row = append(row, orNil(body))
			}
			page[i] = digested(row)
		}
		return nil
	})
	return page, err
}

func orNil(body []byte) any {
	if body == nil {
		return nil
	}
	return body
}

// read are the columns that a query reads.
func (s Shape) read(how depth) []Column {
	all := slices.Concat(s.Key, s.Rest)
	switch {
	case s.Body == "":
	case how == marked:
		all = append(all, s.Marks...)
	case s.BodyOf == nil:
		all = append(all, Column{s.Body, Bytes})
	}
	return all
}

func (s Shape) selected(how depth, rowValues bool, after Row) (string, []any) {
	var exprs []string
	for _, c := range s.read(how) {
		if how == marked && slices.Contains(s.Marks, c) {
			exprs = append(exprs, c.Name)
			continue
		}
		exprs = append(exprs, s.expr(c.Name))
	}
	query := "SELECT " + strings.Join(exprs, ", ") + " FROM " + s.from()
	var wheres []string
	if s.Where != "" {
		wheres = append(wheres, s.Where)
	}
	var args []any
	if after != nil {
		condition, values := s.behind(rowValues, after)
		wheres, args = append(wheres, condition), values
	}
	if len(wheres) > 0 {
		query += " WHERE " + strings.Join(wheres, " AND ")
	}
	return query + " ORDER BY " + strings.Join(exprs[:len(s.Key)], ", ") + fmt.Sprint(" LIMIT ", s.most(how)), args
}

// behind is the condition that a key is greater than another one.
func (s Shape) behind(rowValues bool, after Row) (string, []any) {
	if rowValues && len(s.Key) > 1 {
		var exprs []string
		for _, c := range s.Key {
			exprs = append(exprs, s.expr(c.Name))
		}
		return "(" + strings.Join(exprs, ", ") + ") > (" + places(len(s.Key)) + ")", s.bound(after)
	}
	return s.greater(0, s.bound(after))
}

// greater writes it out for the key's columns from the i-th on.
func (s Shape) greater(i int, after []any) (string, []any) {
	expr := s.expr(s.Key[i].Name)
	if i == len(s.Key)-1 {
		return expr + " > ?", []any{after[i]}
	}
	rest, args := s.greater(i+1, after)
	return "(" + expr + " > ? OR (" + expr + " = ? AND " + rest + "))", append([]any{after[i], after[i]}, args...)
}

// bound are a row's values as a database takes them, which may tell texts from bytes.
func (s Shape) bound(row Row) []any {
	columns := slices.Concat(s.Key, s.Rest)
	if s.Body != "" {
		columns = append(columns, Column{s.Body, Bytes})
	}
	args := make([]any, len(row))
	for i, v := range row {
		args[i] = v
		if b, ok := v.([]byte); ok && columns[i].Kind == Text {
			args[i] = string(b)
		}
	}
	return args
}

func places(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// scan reads the rows of a query.
func scan(q Querier, columns []Column, query string, args []any) (all []Row, err error) {
	rows, err := q.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	dest, pointers := make([]any, len(columns)), make([]any, len(columns))
	for i := range dest {
		pointers[i] = &dest[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return nil, err
		}
		row := make(Row, len(columns))
		for i, c := range columns {
			if row[i], err = value(dest[i], c.Kind); err != nil {
				return nil, fmt.Errorf("column %s: %w", c.Name, err)
			}
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// fetch reads one record with its body. It returns nil when there is none any more.
func (s Side) fetch(ctx context.Context, shape Shape, key Row) (row Row, err error) {
	var conditions []string
	for _, c := range shape.Key {
		conditions = append(conditions, shape.expr(c.Name)+" = ?")
	}
	if shape.Where != "" {
		conditions = append(conditions, shape.Where)
	}
	var exprs []string
	columns := shape.read(whole)
	for _, c := range columns {
		exprs = append(exprs, shape.expr(c.Name))
	}
	query := "SELECT " + strings.Join(exprs, ", ") + " FROM " + shape.from() + " WHERE " + strings.Join(conditions,
		" AND ")
	err = s.Look(ctx, func(q Querier) error {
		found, err := scan(q, columns, query, shape.bound(key))
		if err != nil || len(found) == 0 {
			row = nil
			return err
		}
		row = found[0]
		if shape.BodyOf != nil {
			body, err := shape.BodyOf(q, row)
			row = append(row, orNil(body))
			return err
		}
		return nil
	})
	return row, err
}

// Count returns how many records a table has.
func (s Side) Count(ctx context.Context, shape Shape) (n int64, err error) {
	query := "SELECT COUNT(*) FROM " + shape.from()
	if shape.Where != "" {
		query += " WHERE " + shape.Where
	}
	err = s.Look(ctx, func(q Querier) error {
		rows, err := scan(q, Ints("n"), query, nil)
		if err == nil && len(rows) == 1 {
			n = rows[0][0].(int64)
		}
		return err
	})
	return n, err
}
