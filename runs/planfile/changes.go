package planfile

import (
	"bufio"
	"io"

	"github.com/holdfast/holdfast/runs/outline"
)

// The numbers of the fields of a resource's change, and of the change in it.
const (
	fieldDeposed   = 7
	fieldChange    = 9
	fieldAddress   = 13
	fieldPrevious  = 14
	fieldAction    = 1
	fieldImporting = 5
)

// maxResourceChanges bounds what is remembered of a plan: a digest for each change.
const maxResourceChanges = 1_000_000

// actionOf names an action as the JSON does; an unknown one is empty.
func actionOf(number uint64) string {
	switch number {
	case 0:
		return "no-op"
	case 1:
		return "create"
	case 2:
		return "read"
	case 3:
		return "update"
	case 5:
		return "delete"
	case 6:
		return "delete,create"
	case 7:
		return "create,delete"
	case 8:
		return "forget"
	case 10:
		return "forget,create"
	}
	return ""
}

// readChange adds the change at hand to the outline, without its values, which it passes over.
func (f *Facts) readChange(m *message) error {
	if f.changes.Len() >= maxResourceChanges {
		return tooLarge("the plan file has more than %d changes", maxResourceChanges)
	}
	c := outline.Change{Actions: actionOf(0)}
	seen := map[uint64]bool{}
	err := m.within(func(m *message) (taken bool, err error) {
		switch m.number {
		case fieldAddress, fieldPrevious, fieldDeposed, fieldChange:
			if seen[m.number] {
				return false, errWire
			}
			seen[m.number] = true
		}
		switch m.number {
		case fieldAddress:
			c.Address, err = m.string()
		case fieldPrevious:
			c.Previous, err = m.string()
		case fieldDeposed:
			c.Deposed, err = m.string()
		case fieldChange:
			err = readAction(m, &c)
		default:
			return false, nil
		}
		return true, err
	})
	if err == nil && (c.Address == "" || c.Actions == "" || !seen[fieldChange]) {
		err = errWire
	}
	if c.Previous == c.Address {
		c.Previous = ""
	}
	f.changes.Add(c)
	return err
}

// readAction reads what a change does.
func readAction(m *message, c *outline.Change) error {
	seen := false
	return m.within(func(m *message) (bool, error) {
		switch {
		case m.number == fieldAction && (seen || m.kind != wireVarint):
			return false, errWire
		case m.number == fieldAction:
			c.Actions, seen = actionOf(m.scalar), true
		case m.number == fieldImporting:
			c.Import = true
		}
		return false, nil
	})
}

// within calls visit for each field of the message that the field at hand is, which must be there
// to its end.
func (m *message) within(visit func(m *message) (taken bool, err error)) error {
	if m.kind != wireBytes || m.length > maxMember {
		return errWire
	}
	part := &io.LimitedReader{R: m.r, N: int64(m.length)}
	inner := &message{r: bufio.NewReaderSize(part, 512)}
	if err := inner.each(visit); err != nil {
		return err
	}
	if part.N > 0 {
		return errWire
	}
	return nil
}
