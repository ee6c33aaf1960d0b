package printable_test

import (
	"testing"

	"github.com/holdfast/holdfast/internal/printable"
)

func TestPrintable(t *testing.T) {
	const esc = "\x1b[2J"
	for _, c := range []struct{ in, text, lines, line string }{
		{"plain", "plain", "plain", "plain"},
		{"", "", "", ""},
		{"a\n  b", `a\n  b`, "a\n  b", "a b"},
		{"a\r\n\n\tb\n", `a\r\n\n\tb\n`, "a\n\n\tb", "a b"},
		{"a" + esc + "\nb\rc\u202e", `a\x1b[2J\nb\rc\u202e`, "a\\x1b[2J\nb\\rc\\u202e", `a\x1b[2J b\rc\u202e`},
	} {
		if got := printable.Text(c.in); got != c.text {
			t.Errorf("Text of %q: %q, want %q", c.in, got, c.text)
		}
		if got := printable.Lines(c.in); got != c.lines {
			t.Errorf("Lines of %q: %q, want %q", c.in, got, c.lines)
		}
		if got := printable.Line(c.in); got != c.line {
			t.Errorf("Line of %q: %q, want %q", c.in, got, c.line)
		}
	}
}
