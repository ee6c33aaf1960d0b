package workspace

import (
	"io"
	"unicode/utf8"

	"github.com/holdfast/holdfast/fault"
)

// textOnly reads a file that has to be in UTF-8.
type textOnly struct {
	from io.Reader
	path string
	rest []byte // the beginning of a character whose end was not read yet
}

func (t *textOnly) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	t.rest = append(t.rest, p[:n]...)
	for len(t.rest) > 0 && (utf8.FullRune(t.rest) || err == io.EOF) {
		r, size := utf8.DecodeRune(t.rest)
		if r == utf8.RuneError && size == 1 || r == 0 {
			return 0, fault.New(fault.FileNotText, "%.200q is not a text in UTF-8", t.path)
		}
		t.rest = t.rest[size:]
	}
	t.rest = append([]byte(nil), t.rest...)
	return n, err
}

// checked reads a file's content as its path wants it.
func checked(p string, content io.Reader) io.Reader {
	if isText(p) {
		return &textOnly{from: content, path: p}
	}
	return content
}
