package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

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
	return &tableShower{a: a}
}

// lineShower writes each record in a line of its own, byte for byte as the server sent it.
type lineShower struct{ out io.Writer }

func (lineShower) begin() error { return nil }

func (s lineShower) record(raw json.RawMessage) error {
	_, err := s.out.Write(append(raw, '\n'))
	return err
}

// tableShower writes columns of fixed width, so that nothing waits for what comes later.
// What is too long pushes the rest of its row aside; the attributes are cut.
type tableShower struct{ a *app }

const tableRow = "%s  %s  %s  %s  %s  "

func (s *tableShower) begin() error {
	head := fmt.Sprintf(tableRow, pad("TIMESTAMP", 27), pad("PROVIDER", 8), pad("CATEGORY", 10), pad("TYPE", 20), pad("NAME", 24)) + "ATTRIBUTES"
	_, err := fmt.Fprintln(s.a.stdout, s.a.paint(bold, head))
	return err
}

func (s *tableShower) record(raw json.RawMessage) error {
	var r api.Record
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("a record can't be read: %w", err)
	}
	d := r.Data
	row := fmt.Sprintf(tableRow, pad(printable.Text(r.Timestamp), 27), pad(printable.Text(d.Provider), 8), pad(printable.Text(d.Category), 10),
		pad(printable.Text(d.ResourceType), 20), pad(printable.Text(d.ResourceName), 24))
	left := max(s.a.columns-utf8.RuneCountInString(row), 12)
	_, err := fmt.Fprintln(s.a.stdout, row+cut(printable.Text(string(d.Attributes)), left))
	return err
}

// pad fills up with blanks.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// cut shortens text to a width.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}
