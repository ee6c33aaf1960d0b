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
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/internal/printable"
)

// table is shown once all its rows are known, with columns as wide as they need to be, and on a
// terminal all together no wider than that.
type table struct {
	a     *app
	heads []head
	rows  [][]string
	paint func(cell string) string // of the last column
}

// head is the head of a column, and when the column is shown.
type head struct {
	name string
	when when
}

// when says when a column is shown, and whether it gives way where there is little room.
type when int

const (
	always when = iota // cells for which there is no room stand below their row
	firm               // as always, and with its room before others: IDs, times, numbers
	filled             // as always, if any row has something in it
	wide               // with --wide, or where all others leave room
)

func (a *app) newTable(heads ...head) *table { return &table{a: a, heads: heads} }

func (t *table) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = printable.Line(cell)
	}
	t.rows = append(t.rows, cells)
}

// show writes the rows. On a terminal the head is bold.
func (t *table) show() error {
	t.leaveOut(func(i int) bool { return t.heads[i].when == filled && !t.a.wide && t.isEmpty(i) })
	t.leaveOut(func(i int) bool { return t.heads[i].when == wide && !t.fits() })
	l := t.layout()
	names := make([]string, len(t.heads))
	for i, h := range t.heads {
		names[i] = h.name
	}
	lines := []string{t.a.paint(bold, l.line(names, nil))}
	for _, row := range t.rows {
		lines = append(lines, l.row(row, t.paint)...)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(t.a.stdout, line); err != nil {
			return err
		}
	}
	return nil
}

// leaveOut removes columns, the last one first.
func (t *table) leaveOut(isLeft func(i int) bool) {
	for i := len(t.heads) - 1; i >= 0; i-- {
		if !isLeft(i) {
			continue
		}
		t.heads = slices.Delete(slices.Clone(t.heads), i, i+1)
		for n, row := range t.rows {
			t.rows[n] = slices.Delete(row, i, i+1)
		}
	}
}

func (t *table) isEmpty(i int) bool {
	return !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" })
}

// addWideFlag is for commands that show a table.
func (a *app) addWideFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.wide, "wide", false, "show all columns and whole IDs, in lines as long as they get")
}

// tableFlags are those of commands that show a list.
func (a *app) tableFlags(cmd *cobra.Command, asJSON *bool) {
	addLinesFlag(cmd, asJSON)
	a.addWideFlag(cmd)
}

// shortID is enough of a UUID to tell it from others; --wide shows it whole.
func (a *app) shortID(id string) string {
	if _, err := uuid.Parse(id); err != nil || a.wide {
		return id
	}
	return id[:8]
}

// tableTime shows a time to the minute; --wide shows it whole.
func (a *app) tableTime(at time.Time) string {
	if a.wide {
		return showTime(at)
	}
	return at.UTC().Format("2006-01-02 15:04Z")
}

// tableTimeOr is empty for a time that is not known.
func (a *app) tableTimeOr(at *time.Time) string {
	if at == nil {
		return ""
	}
	return a.tableTime(*at)
}

// shortDigest is enough of a digest to tell it from others; --wide shows it whole.
func (a *app) shortDigest(digest string) string {
	if a.wide {
		return digest
	}
	return digest[:min(len(digest), 12)]
}

// column is one of a table of things of type T.
type column[T any] struct {
	head string
	when when
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
		t.heads = append(t.heads, head{column.head, column.when})
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
		a.note("There are more than these %d; --limit 0 shows all.", limit)
	}
}

// showFacts writes what is known of one thing, a line for each, and more where it is long; those
// that are empty are left out.
func (a *app) showFacts(facts [][2]string) error {
	width := 0
	facts = slices.DeleteFunc(facts, func(fact [2]string) bool { return fact[1] == "" })
	for _, fact := range facts {
		width = max(width, len(fact[0]))
	}
	for _, fact := range facts {
		label := pad(fact[0], width) + "  "
		var lines []string
		for line := range strings.SplitSeq(printable.Lines(fact[1]), "\n") {
			lines = append(lines, wrap(label, width+2, line, a.width())...)
			label = strings.Repeat(" ", width+2)
		}
		if _, err := fmt.Fprintln(a.stdout, strings.Join(lines, "\n")); err != nil {
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
