// Package printable spells out what must not reach a terminal as it is.
package printable

import (
	"strconv"
	"strings"
	"unicode"
)

// Text spells out what could move a terminal's cursor, change its colours or turn text around:
// names, messages and attributes are whatever somebody sent.
func Text(text string) string {
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hidden(r rune) bool { return !unicode.IsPrint(r) }
