package facts

import (
	"fmt"
	"strings"
)

// pathOf writes a path as the tools do: a.b[0].
func pathOf(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		default:
			fmt.Fprintf(&b, "[%v]", step)
		}
	}
	return b.String()
}

// configAddress is an instance's address without the keys of instances: a.b of a.b["x"]. A key is
// quoted, so that it may have brackets and dots within.
func configAddress(address string) string {
	if strings.IndexByte(address, '[') < 0 {
		return address
	}
	var b strings.Builder
	inKey, inText := false, false
	for i := 0; i < len(address); i++ {
		c := address[i]
		switch {
		case inText && c == '\\':
			i++
		case inText:
			inText = c != '"'
		case inKey:
			inText, inKey = c == '"', c != ']'
		case c == '[':
			inKey = true
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
