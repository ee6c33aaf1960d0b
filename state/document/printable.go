package document

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// quoted returns text as a printable JSON string.
func quoted(text string) string {
	return printable(string(jsonscan.AppendQuote(nil, text)))
}

// printable escapes, as JSON does, what is not visible: the control characters that steer
// a terminal, and the marks that turn the direction of a text. What was JSON stays JSON.
func printable(text string) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}

func hidden(r rune) bool { return !unicode.IsPrint(r) }
