package mask

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	stars = "***"
	// leastSecret and leastLine are how many characters a secret, and a line of one, must have.
	leastSecret = 3
	leastLine   = 8
)

// Masker knows secrets. It is safe for concurrent use. It takes memory in proportion to the
// length of all secrets together. Create it with New.
type Masker struct {
	automaton *automaton
	tooShort  []int
}

// New returns a Masker for these secrets.
func New(secrets []string) *Masker {
	m, all := &Masker{}, patterns{}
	for i, secret := range secrets {
		if utf8.RuneCountInString(secret) < leastSecret {
			m.tooShort = append(m.tooShort, i)
			continue
		}
		all.addSecret(secret)
		if trimmed := strings.TrimSpace(secret); utf8.RuneCountInString(trimmed) >= leastSecret {
			all.addSecret(trimmed)
		}
	}
	m.automaton = newAutomaton(all)
	return m
}

// TooShort returns the indices of the secrets that are not masked because they are too short.
func (m *Masker) TooShort() []int { return m.tooShort }

// Writer returns a writer that masks what is written to it, and writes it to w. What comes out
// is the same however the text is cut into writes. It keeps back only what may be the
// beginning of a secret, at most as much as the longest encoding of one has, until it is
// clear what it is. Close writes what is left; it does not close w. After an error of w
// nothing more is written.
func (m *Masker) Writer(w io.Writer) io.WriteCloser {
	return &writer{automaton: m.automaton, to: w}
}

// Bytes returns the text with its secrets masked.
func (m *Masker) Bytes(text []byte) []byte {
	var out bytes.Buffer
	w := m.Writer(&out)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// Finds reports whether the text has a secret.
func (m *Masker) Finds(text []byte) bool {
	state, plain := int32(0), true
	for _, b := range text {
		state = m.automaton.next(state, b)
		if m.automaton.states[state].match > 0 {
			return true
		}
		plain = plain && !beginsSequence(b)
	}
	if plain {
		return false
	}
	w := writer{automaton: m.automaton}
	w.look(text)
	return len(w.secret) > 0
}
