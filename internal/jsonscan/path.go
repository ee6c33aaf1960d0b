package jsonscan

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPointer is how many bytes of a pointer are shown: a name may be megabytes.
const maxPointer = 1000

// Path leads from the top-level object to a value: a step for each container around it.
type Path struct{ frames []frame }

// Len returns the number of steps; zero at the top-level object.
func (p Path) Len() int { return len(p.frames) }

// Name returns the name that step i takes, without quotes and escapes; nil where it
// takes an index. It must not be changed.
func (p Path) Name(i int) []byte { return p.frames[i].name }

// Index returns the index that step i takes; -1 where it takes a name.
func (p Path) Index(i int) int { return p.frames[i].index }

// Pointer returns the path as a JSON Pointer (RFC 6901). Beyond a thousand bytes it is
// cut, and ends in "…".
func (p Path) Pointer() string {
	var b strings.Builder
	for _, f := range p.frames {
		b.WriteByte('/')
		if f.index >= 0 {
			b.WriteString(strconv.Itoa(f.index))
			continue
		}
		writeStep(&b, f.name)
		if b.Len() > maxPointer {
			return cut(b.String())
		}
	}
	return b.String()
}

// writeStep escapes a name. Of one that can't be shown whole it writes just enough to be
// cut.
func writeStep(b *strings.Builder, name []byte) {
	for _, c := range name[:min(len(name), maxPointer+utf8.UTFMax)] {
		switch c {
		case '~':
			b.WriteString("~0")
		case '/':
			b.WriteString("~1")
		default:
			b.WriteByte(c)
		}
	}
}

// cut shortens a pointer at the end of a character.
func cut(pointer string) string {
	end := maxPointer
	for !utf8.RuneStart(pointer[end]) {
		end--
	}
	if pointer[end-1] == '~' { // half an escape
		end--
	}
	return pointer[:end] + "…"
}
