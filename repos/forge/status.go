package forge

import (
	"strings"
	"unicode/utf8"
)

// within is the status as a forge takes it.
func (s Status) within(l Limits) Status {
	s.Description = Cut(strings.Join(strings.Fields(s.Description), " "), l.Description)
	s.Context = Cut(s.Context, l.Context)
	return s
}

// Cut shortens a text to so many runes.
func Cut(text string, runes int) string {
	if utf8.RuneCountInString(text) <= runes {
		return text
	}
	all := []rune(text)
	return string(all[:runes-1]) + "…"
}
