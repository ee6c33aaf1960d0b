package jsonscan

import "unicode/utf8"

// AppendQuote appends text as a JSON string. Only what JSON demands is escaped: not <, >
// and &, not U+2028. Bytes that are not UTF-8 become U+FFFD.
func AppendQuote(dst []byte, text string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if c < utf8.RuneSelf || r == utf8.RuneError && n == 1 {
			dst = append(dst, text[done:i]...)
			dst = appendEscaped(dst, c)
			done = i + n
		}
		i += n
	}
	dst = append(dst, text[done:]...)
	return append(dst, '"')
}

// appendEscaped appends a character that can't stand in a string, or a byte that is none.
func appendEscaped(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch {
	case c >= utf8.RuneSelf:
		return utf8.AppendRune(dst, utf8.RuneError)
	case c == '"', c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, '\\', 'n')
	case c == '\r':
		return append(dst, '\\', 'r')
	case c == '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
