package planfile

import (
	"errors"
	"io"
	"unicode/utf8"
)

// The numbers of the plan's fields, which both tools share. Those of the backend's description
// stand in backend.go.
const (
	fieldVersion     = 1
	fieldChanges     = 3
	fieldTargets     = 5
	fieldExcludes    = 6
	fieldBackend     = 13
	fieldToolVersion = 14
	fieldMode        = 17
	fieldErrored     = 20
)

// planVersion is the format that both tools have written since Terraform 0.12.
const planVersion = 3

// readPlan reads the head of the plan. A field that may stand once must not stand twice: a reader
// would take the last, or a mixture.
func (f *Facts) readPlan(r io.Reader) error {
	var version uint64
	seen := map[uint64]bool{}
	err := newMessage(r).each(func(m *message) (bool, error) {
		switch m.number {
		case fieldVersion, fieldBackend, fieldToolVersion, fieldMode, fieldErrored:
			if seen[m.number] {
				return false, errWire
			}
			seen[m.number] = true
		}
		if m.number == fieldVersion {
			version = m.scalar
		}
		return f.readField(m)
	})
	if errors.Is(err, errWire) {
		return invalid("the plan file's plan can't be read")
	}
	if err != nil {
		return err
	}
	f.Outline = f.changes.Sum()
	if version != planVersion {
		return invalid("the plan file is of format %d, and only %d is understood", version, planVersion)
	}
	if !seen[fieldBackend] || f.ToolVersion == "" {
		return invalid("the plan file says neither backend nor version of the tool")
	}
	return nil
}

func (f *Facts) readField(m *message) (taken bool, err error) {
	switch m.number {
	case fieldChanges:
		return true, f.readChange(m)
	case fieldTargets:
		return addAddress(&f.Targets, m)
	case fieldExcludes:
		return addAddress(&f.Excludes, m)
	case fieldToolVersion:
		f.ToolVersion, err = m.string()
		return true, err
	case fieldMode:
		return false, f.setMode(m)
	case fieldErrored:
		f.Errored = m.scalar != 0
	case fieldBackend:
		text, err := m.text()
		if err != nil {
			return true, err
		}
		return true, f.Backend.read(text)
	}
	return false, nil
}

func (f *Facts) setMode(m *message) error {
	modes := []Mode{Normal, Destroy, RefreshOnly}
	if m.kind != wireVarint || m.scalar >= uint64(len(modes)) {
		return errWire
	}
	f.Mode = modes[m.scalar]
	return nil
}

func addAddress(list *[]string, m *message) (bool, error) {
	if len(*list) >= maxRepeats {
		return true, tooLarge("the plan file is limited to more than %d addresses", maxRepeats)
	}
	address, err := m.string()
	*list = append(*list, address)
	return true, err
}

func (m *message) string() (string, error) {
	text, err := m.text()
	if err == nil && !utf8.Valid(text) {
		err = errWire
	}
	return string(text), err
}
