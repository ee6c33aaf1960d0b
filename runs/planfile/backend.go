package planfile

import (
	"slices"
	"strings"
)

// Backend is where the plan says that the state is, as an apply of it will believe.
type Backend struct {
	Type      string
	Workspace string
	// Set names the attributes of its configuration that have a value, and Credentials those of
	// them that look as if it opened something. With everything in TF_HTTP_* both are empty.
	Set         []string
	Credentials []string
}

// The numbers of the fields of the backend's description, and of a value in it.
const (
	fieldBackendType      = 1
	fieldBackendConfig    = 2
	fieldBackendWorkspace = 3
	fieldMsgpack          = 1
)

func (b *Backend) read(text []byte) error {
	seen := map[uint64]bool{}
	return fields(text, func(m *message) (taken bool, err error) {
		if seen[m.number] {
			return false, errWire
		}
		seen[m.number] = true
		switch m.number {
		case fieldBackendType:
			b.Type, err = m.string()
			return true, err
		case fieldBackendWorkspace:
			b.Workspace, err = m.string()
			return true, err
		case fieldBackendConfig:
			value, err := m.text()
			if err != nil {
				return true, err
			}
			return true, b.readConfig(value)
		}
		return false, nil
	})
}

func (b *Backend) readConfig(value []byte) error {
	seen := false
	return fields(value, func(m *message) (bool, error) {
		if m.number != fieldMsgpack || seen {
			return false, errWire
		}
		seen = true
		packed, err := m.text()
		if err != nil {
			return true, err
		}
		return true, b.readAttributes(packed)
	})
}

func (b *Backend) readAttributes(packed []byte) error {
	p := &packReader{data: packed}
	if p.peek() == packNil {
		return p.end(p.skip(0))
	}
	count, err := p.mapLength()
	if err != nil {
		return err
	}
	for range count {
		name, err := p.name()
		if err != nil {
			return err
		}
		start := p.i
		if err := p.skip(1); err != nil {
			return err
		}
		b.addAttribute(name, p.data[start:p.i])
	}
	slices.Sort(b.Set)
	slices.Sort(b.Credentials)
	return p.end(nil)
}

func (b *Backend) addAttribute(name string, value []byte) {
	if value[0] == packNil {
		return
	}
	b.Set = append(b.Set, name)
	if looksSecret(name) || hasUserInfo(value) {
		b.Credentials = append(b.Credentials, name)
	}
}

// looksSecret goes by words that name what opens something, in all backends' schemas.
func looksSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"pass", "secret", "token", "key", "credential", "private", "auth", "header",
		"cert", "sas", "user", "conn_str"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

// hasUserInfo reports whether text of an attribute is an address with a user in it.
func hasUserInfo(value []byte) bool {
	_, rest, isURL := strings.Cut(string(value), "://")
	host, _, _ := strings.Cut(rest, "/")
	return isURL && strings.Contains(host, "@")
}
