// Package ansi takes the escape sequences of terminals out of text: colours, movements of the
// cursor, titles of windows.
package ansi

import "io"

const (
	bell   = 0x07
	escape = 0x1b
)

// where a Stripper is in its text.
type where uint8

const (
	inText      where = iota
	inEscape          // behind ESC
	inCharset         // in ESC and what selects something, such as "ESC ( B"
	inControl         // behind "ESC [", up to a final letter
	inString          // behind "ESC ]" and its like, up to BEL or "ESC \"
	inStringEsc       // behind ESC in such a string
)

// Stripper writes what it is given without escape sequences, which may be spread over several
// writes. A sequence that is broken off ends where ordinary text goes on, so that it can't hide
// more than itself.
type Stripper struct {
	to   io.Writer
	scan Scanner
}

// NewStripper returns one that writes to another writer.
func NewStripper(to io.Writer) *Stripper { return &Stripper{to: to} }

// Write implements io.Writer.
func (s *Stripper) Write(text []byte) (int, error) {
	kept := make([]byte, 0, len(text))
	for _, b := range text {
		if s.scan.Keeps(b) {
			kept = append(kept, b)
		}
	}
	if len(kept) == 0 {
		return len(text), nil
	}
	if _, err := s.to.Write(kept); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Scanner finds escape sequences byte by byte. Its zero value is at the beginning of a text.
type Scanner struct{ at where }

// InText reports whether no sequence has begun that has not ended.
func (s *Scanner) InText() bool { return s.at == inText }

// Keeps takes the next byte, and reports whether it is text.
func (s *Scanner) Keeps(b byte) bool {
	if b == escape && s.at != inString {
		s.at = inEscape
		return false
	}
	switch s.at {
	case inEscape:
		s.at = afterEscape(b)
		return isControl(b)
	case inCharset:
		if b < 0x20 || b > 0x2f {
			s.at = inText
		}
		return isControl(b)
	case inControl:
		if b >= 0x20 && b < 0x40 {
			return false
		}
		s.at = inText
		return b < 0x40 || b > 0x7e
	case inString:
		return s.keepsOfString(b)
	case inStringEsc:
		s.at = inText
		if b == '\\' {
			return false
		}
		s.at = afterEscape(b)
		return isControl(b)
	}
	return true
}

func (s *Scanner) keepsOfString(b byte) bool {
	switch b {
	case bell:
		s.at = inText
	case escape:
		s.at = inStringEsc
	case '\n':
		s.at = inText
		return true
	}
	return false
}

func isControl(b byte) bool { return b < 0x20 }

func afterEscape(b byte) where {
	switch {
	case b == '[':
		return inControl
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		return inString
	case b >= 0x20 && b <= 0x2f:
		return inCharset
	}
	return inText
}
