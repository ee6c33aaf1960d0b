package ansi

import (
	"strings"
	"testing"
)

// However the text is cut into writes, sequences are gone and nothing else is.
func TestStripper(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[1;31mred\x1b[0m\r\n":      "red\r\n",
		"\x1b]0;title\atext":            "text",
		"\x1b]8;;http://x\x1b\\link":    "link",
		"\x1b(Bplain über":              "plain über",
		"\x1b]never ended\nthe next":    "\nthe next",
		"\x1b[12\nbroken off":           "\nbroken off",
		"\x1b\x1b[1mtwice":              "twice",
		"no sequence \x80\xff at all\t": "no sequence \x80\xff at all\t",
	} {
		for size := 1; size <= len(text); size++ {
			var out strings.Builder
			s := NewStripper(&out)
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if _, err := s.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if out.String() != want {
				t.Errorf("%q in pieces of %d: %q, want %q", text, size, out.String(), want)
			}
		}
	}
}
