package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/printable"
)

// shower shows records one by one: to people as a table, to programs as they are.
type shower interface {
	begin() error
	record(raw json.RawMessage) error
}

// shower returns the one that suits stdout.
func (a *app) shower(asJSON bool) shower {
	if asJSON || a.columns == 0 {
		return lineShower{a.stdout}
	}
	return a.newTableShower()
}

// lineShower writes each record in a line of its own, byte for byte as the server sent it.
type lineShower struct{ out io.Writer }

func (lineShower) begin() error { return nil }

func (s lineShower) record(raw json.RawMessage) error {
	_, err := s.out.Write(append(raw, '\n'))
	return err
}

// tableShower writes columns of fixed width, so that nothing waits for what comes later. The
// attributes are cut unless --wide shows all; of all else, what is too long for its column stands
// below its row.
type tableShower struct {
	a      *app
	layout layout
}

// roomForAttributes is how wide a terminal must be for attributes to stand beside the rest.
const roomForAttributes = 120

// recordColumns are shown of a record, with their widths; where there is room, wideColumns are.
func recordColumns(roomy bool) ([]head, []int) {
	if roomy {
		return []head{{"TIMESTAMP", firm}, {"PROVIDER", always}, {"CATEGORY", always}, {"TYPE", always}, {"NAME", always}},
			[]int{27, 8, 10, 20, 24}
	}
	return []head{{"TIMESTAMP", firm}, {"PROVIDER", always}, {"TYPE", always}, {"NAME", always}}, []int{27, 8, 16, 23}
}

func (a *app) newTableShower() *tableShower {
	heads, widths := recordColumns(a.isRoomy())
	return &tableShower{a: a, layout: layout{heads: heads, widths: widths, width: a.width()}}
}

func (a *app) isRoomy() bool { return a.wide || a.width() >= roomForAttributes }

func (s *tableShower) begin() error {
	names := make([]string, len(s.layout.heads), len(s.layout.heads)+1)
	for i, h := range s.layout.heads {
		names[i] = h.name
	}
	line := s.layout.line(names, nil)
	if s.a.isRoomy() {
		line = pad(line, s.layout.total()) + "  ATTRIBUTES"
	}
	_, err := fmt.Fprintln(s.a.stdout, s.a.paint(bold, line))
	return err
}

func (s *tableShower) record(raw json.RawMessage) error {
	var r api.Record
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("a record can't be read: %w", err)
	}
	d := r.Data
	cells := []string{r.Timestamp, d.Provider, d.Category, d.ResourceType, d.ResourceName}
	if !s.a.isRoomy() {
		cells = slices.Delete(cells, 2, 3)
	}
	for i, cell := range cells {
		cells[i] = printable.Text(cell)
	}
	lines := s.layout.row(cells, nil)
	attributes := printable.Text(string(d.Attributes))
	if s.a.isRoomy() {
		lines[0] = pad(lines[0], s.layout.total()) + "  "
		lines[0] += s.cut(attributes, shownWidth(lines[0]))
	} else {
		lines = append(lines, strings.Repeat(" ", noteIndent)+s.cut(attributes, noteIndent))
	}
	_, err := fmt.Fprintln(s.a.stdout, strings.Join(lines, "\n"))
	return err
}

// cut shortens text to what is left of a line, in which so much is there already.
func (s *tableShower) cut(text string, there int) string {
	if s.a.wide {
		return text
	}
	return cut(text, max(s.layout.width-there, 12))
}

// pad fills up with blanks.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-shownWidth(text)))
}

// cut shortens text to a width.
func cut(text string, width int) string {
	if shownWidth(text) <= width {
		return text
	}
	room := width - 1 // the last one is for what says that there is more
	for i, r := range text {
		if room -= widthOfRune(r); room < 0 {
			return text[:i] + "…"
		}
	}
	return text
}
