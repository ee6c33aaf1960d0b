package authfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// AddOrganization appends a section. It fails when the ID is taken, or when the name is
// taken, looks like an ID (commands accept either) or can't be written to the file.
func (d *Document) AddOrganization(id uuid.UUID, name string) error {
	if err := CheckName(name); err != nil {
		return fmt.Errorf("not a name for an organization: %w", err)
	}
	if _, err := uuid.Parse(name); err == nil {
		return fmt.Errorf("not a name for an organization: it looks like an ID")
	}
	for _, o := range d.orgs {
		if o.ID == id || o.Name == name {
			return fmt.Errorf("%s already has an organization %s with the name %q", d.file, o.ID, o.Name)
		}
	}
	br := d.lineBreak()
	text := "[" + id.String() + "]" + br + "name = " + name + br
	if len(d.lines) > 0 {
		text = br + text
	}
	return d.insert(len(d.lines), text)
}

// insert puts whole lines of text before the line with index at.
func (d *Document) insert(at int, text string) error {
	lines := slices.Clone(d.lines)
	if at == len(lines) && at > 0 && ending(lines[at-1].text) == "" {
		lines[at-1].text += d.lineBreak()
	}
	return d.become(slices.Insert(lines, at, line{text: text}))
}

// become reads the edited lines again: an edit can't produce what would be refused.
func (d *Document) become(lines []line) error {
	edited := Document{lines: lines}
	again, err := Parse(d.file, edited.String())
	if err != nil {
		return fmt.Errorf("the edit would spoil the file:\n%w", err)
	}
	*d = *again
	return nil
}

// lineBreak returns the line ending that the file uses.
func (d *Document) lineBreak() string {
	if len(d.lines) > 0 && strings.HasSuffix(d.lines[0].text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}
