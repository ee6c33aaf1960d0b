package main

import (
	"math"
	"strings"
)

const (
	// below stands in the place of a cell that is shown below its row.
	below = "…"
	// noteIndent and wrapIndent are those of what stands below a row, and of its further lines.
	noteIndent = 4
	wrapIndent = 6
)

// width is how many columns a line may have; 0 for any number. A program that reads lines wants each row in one.
func (a *app) width() int {
	if a.wide {
		return 0
	}
	return a.columns
}

// layout is how wide the columns of a table are, and which line they fit into.
type layout struct {
	heads  []head
	widths []int
	width  int // 0 for any
}

// layout gives each column what its cells need. Where that is more than a line has, as many cells
// get room as there is room for, the short ones first; the others stand below their row.
func (t *table) layout() layout {
	l := layout{heads: t.heads, widths: make([]int, len(t.heads)), width: t.a.width()}
	if t.fits() {
		l.fit(t.rows, nil)
		return l
	}
	limits := make([]int, len(t.heads))
	for i, h := range t.heads {
		limits[i] = len(h.name)
		if h.when == firm {
			limits[i] = math.MaxInt
		}
	}
	for l.fit(t.rows, limits); ; l.fit(t.rows, limits) {
		at, wider := l.next(t.rows)
		if at < 0 || wider > l.width-l.total() {
			return l
		}
		limits[at] = l.widths[at] + wider
	}
}

// next finds the column that needs the least more for the next of its cells, and how much that is.
func (l *layout) next(rows [][]string) (at, wider int) {
	at = -1
	for _, row := range rows {
		for i, cell := range row {
			if more := shownWidth(cell) - l.widths[i]; more > 0 && (at < 0 || more < wider) {
				at, wider = i, more
			}
		}
	}
	return at, wider
}

// fits reports whether all cells of the table fit into a line.
func (t *table) fits() bool {
	l := layout{heads: t.heads, widths: make([]int, len(t.heads)), width: t.a.width()}
	l.fit(t.rows, nil)
	return l.holds(l.widths)
}

// holds reports whether columns as wide as these fit into a line.
func (l *layout) holds(widths []int) bool {
	return l.width == 0 || layout{widths: widths}.total() <= l.width
}

// total is how long a line of all columns is.
func (l layout) total() int {
	total := 2 * (len(l.widths) - 1)
	for _, width := range l.widths {
		total += width
	}
	return total
}

// fit makes the columns as wide as their widest cell within the limits.
func (l *layout) fit(rows [][]string, limits []int) {
	for i, h := range l.heads {
		l.widths[i] = len(h.name)
		for _, row := range rows {
			if n := shownWidth(row[i]); limits == nil || n <= limits[i] {
				l.widths[i] = max(l.widths[i], n)
			}
		}
	}
}

// row returns the lines of a row. What doesn't fit is whole all the same: the first cell, which
// mostly is a name, on a line of its own above, others below with the heads of their columns.
func (l layout) row(cells []string, paint func(string) string) (lines []string) {
	shown := append([]string{}, cells...)
	var notes []string
	for i, cell := range cells {
		switch {
		case l.width == 0, shownWidth(cell) <= l.widths[i]:
		case i == 0:
			lines, shown[i] = []string{cell}, ""
		default:
			shown[i] = below
			label := strings.Repeat(" ", noteIndent) + strings.ToLower(l.heads[i].name) + ": "
			notes = append(notes, wrap(label, wrapIndent, cell, l.width)...)
		}
	}
	return append(append(lines, l.line(shown, paint)), notes...)
}

// line returns one line of cells that fit.
func (l layout) line(cells []string, paint func(string) string) string {
	var line strings.Builder
	last := len(cells) - 1
	for i, cell := range cells[:last] {
		line.WriteString(pad(cell, l.widths[i]) + "  ")
	}
	text := cells[last]
	if paint != nil {
		text = paint(text)
	}
	return strings.TrimRight(line.String()+text, " ")
}

// wrap returns text behind a label, in lines of a width where 0 is any. It breaks between words
// only, so that each can be copied; further lines are indented.
func wrap(label string, indent int, text string, width int) (lines []string) {
	line, words := label, 0
	for _, word := range strings.Split(text, " ") {
		gap := " "
		if words == 0 {
			gap = ""
		}
		if width > 0 && shownWidth(line+gap+word) > width && (words > 0 || shownWidth(line) > wrapIndent) {
			lines = append(lines, strings.TrimRight(line, " "))
			in := indent
			if in+shownWidth(word) > width {
				in = noteIndent
			}
			line, gap = strings.Repeat(" ", in), ""
		}
		line, words = line+gap+word, words+1
	}
	return append(lines, line)
}
