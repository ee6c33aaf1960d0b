package changes

import (
	"encoding/binary"
	"strings"

	"github.com/holdfast/holdfast/internal/mask"
)

// How long a value must be to be looked for: at all, within a longer text, and outside of the
// resource in which it is marked.
const (
	shortest      = 4
	shortestInner = 8
	shortestWide  = 12
)

// maxEntries bounds how many secrets there are, and maxAlike how many of them that begin alike are
// told apart: of more, whatever begins so is hidden.
const (
	maxEntries = 1_000_000
	maxAlike   = 64
)

// secrets is a set of sensitive texts. It finds them within other texts in one pass, however many
// there are: eight bytes at each position are looked up, in a small filter first.
type secrets struct {
	whole  map[string]bool
	inner  map[uint64][]string // by their first eight bytes
	filter []uint64            // a bit for each of 65,536 hashes of these
	full   bool
	// given finds what else is secret, and forms the encodings of what people have called sensitive; nil for none.
	given, forms *mask.Masker
}

func newSecrets() *secrets { return &secrets{whole: map[string]bool{}} }

func (s *secrets) add(text string) {
	s.addExactly(text)
	if trimmed := strings.TrimSpace(text); len(trimmed) != len(text) {
		s.addExactly(trimmed)
	}
}

func (s *secrets) addExactly(text string) {
	if len(text) < shortest || s.whole[text] {
		return
	}
	if s.full = s.full || len(s.whole) >= maxEntries; s.full {
		return
	}
	text = strings.Clone(text)
	s.whole[text] = true
	if len(text) < shortestInner {
		return
	}
	if s.inner == nil {
		s.inner, s.filter = map[uint64][]string{}, make([]uint64, 1<<16/64)
	}
	head := binary.LittleEndian.Uint64([]byte(text[:8]))
	if len(s.inner[head]) < maxAlike {
		s.inner[head] = append(s.inner[head], text)
	}
	bit := hashOf(head)
	s.filter[bit>>6] |= 1 << (bit & 63)
}

// hashOf spreads eight bytes over 65,536 values.
func hashOf(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> 48 }

func (s *secrets) empty() bool { return s == nil || len(s.whole) == 0 && s.given == nil }

// cover returns an address or a path without what else is secret in it, such as a key of for_each.
func (s *secrets) cover(text string) string {
	if s.given == nil || !s.given.Finds([]byte(text)) {
		return text
	}
	return string(s.given.Bytes([]byte(text)))
}

// mostForms bounds how many bytes of texts are looked for in their encodings too.
const mostForms = 16 << 10

// addForms has the encodings of texts be looked for, as far as there is room.
func (s *secrets) addForms(texts []string) {
	var list []string
	left := mostForms
	for _, text := range texts {
		if left -= len(text); left < 0 {
			break
		}
		if len(text) >= shortestInner {
			list = append(list, text)
		}
	}
	if len(list) > 0 {
		s.forms = mask.New(list)
	}
}

// in reports whether the text is a sensitive one, or has one within.
func (s *secrets) in(text []byte) bool {
	if s.empty() {
		return false
	}
	if s.given != nil && s.given.Finds(text) || s.forms != nil && s.forms.Finds(text) {
		return true
	}
	if len(text) < shortest {
		return false
	}
	if len(text) < shortestInner { // a longer one is found below, at its first byte
		return s.whole[string(text)]
	}
	if s.inner == nil {
		return false
	}
	for i := 0; i+shortestInner <= len(text); i++ {
		head := binary.LittleEndian.Uint64(text[i:])
		bit := hashOf(head)
		if s.filter[bit>>6]&(1<<(bit&63)) == 0 {
			continue
		}
		alike := s.inner[head]
		if len(alike) == maxAlike {
			return true
		}
		for _, secret := range alike {
			if len(secret) <= len(text)-i && string(text[i:i+len(secret)]) == secret {
				return true
			}
		}
	}
	return false
}
