package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/holdfast/holdfast/internal/printable"
)

// table is shown once all its rows are known, with columns as wide as they need to be.
type table struct {
	a    *app
	rows [][]string // the first is the head
}

func (a *app) newTable(head ...string) *table { return &table{a: a, rows: [][]string{head}} }

func (t *table) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = printable.Text(cell)
	}
	t.rows = append(t.rows, cells)
}

// show writes the rows. On a terminal the head is bold, and the last column is cut to what
// is left of the line.
func (t *table) show() error {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, row := range t.rows {
		line := t.line(row, widths)
		if i == 0 {
			line = t.a.paint(bold, line)
		}
		if _, err := fmt.Fprintln(t.a.stdout, line); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) line(row []string, widths []int) string {
	var line strings.Builder
	last := len(row) - 1
	for i, cell := range row[:last] {
		line.WriteString(pad(cell, widths[i]) + "  ")
	}
	rest := row[last]
	if t.a.columns > 0 {
		rest = cut(rest, max(t.a.columns-utf8.RuneCountInString(line.String()), 12))
	}
	return strings.TrimRight(line.String()+rest, " ")
}

// column is one of a table of things of type T.
type column[T any] struct {
	head string
	cell func(T) string
}

// listing is a list of a client.
type listing[T any] interface {
	All(context.Context) iter.Seq2[T, error]
	More() bool
}

// showList shows at most limit of a list, all for 0: as a table, or as JSON with one element in
// a line.
func showList[T any](ctx context.Context, a *app, l listing[T], limit int, asJSON bool, columns []column[T]) error {
	t := a.newTable()
	for _, column := range columns {
		t.rows[0] = append(t.rows[0], column.head)
	}
	for item, err := range l.All(ctx) {
		if err == nil && asJSON {
			err = showJSON(a.stdout, item)
		}
		if err != nil {
			return err
		}
		if asJSON {
			continue
		}
		cells := make([]string, len(columns))
		for i, column := range columns {
			cells[i] = column.cell(item)
		}
		t.add(cells...)
	}
	if asJSON {
		return nil
	}
	if err := t.show(); err != nil {
		return err
	}
	a.sayMore(l.More(), limit)
	return nil
}

// sayMore tells people that a limit left something out.
func (a *app) sayMore(more bool, limit int) {
	if more {
		fmt.Fprintf(a.stderr, "There are more than these %d; --limit 0 shows all.\n", limit)
	}
}

// showFacts writes what is known of one thing, a line for each; those that are empty are
// left out.
func (a *app) showFacts(facts [][2]string) error {
	width := 0
	facts = slices.DeleteFunc(facts, func(fact [2]string) bool { return fact[1] == "" })
	for _, fact := range facts {
		width = max(width, len(fact[0]))
	}
	for _, fact := range facts {
		if _, err := fmt.Fprintf(a.stdout, "%s  %s\n", pad(fact[0], width), printable.Text(fact[1])); err != nil {
			return err
		}
	}
	return nil
}

// showJSON writes in one line what the server said.
func showJSON(out io.Writer, answer any) error { return json.NewEncoder(out).Encode(answer) }

// compacted is JSON without white space between its tokens.
func compacted(raw json.RawMessage) string {
	var text bytes.Buffer
	if json.Compact(&text, raw) != nil {
		return string(raw)
	}
	return text.String()
}
