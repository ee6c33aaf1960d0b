package jsonscan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	escapeLen = len(`\uXXXX`)

	surrogates      = 0xd800
	lowSurrogates   = 0xdc00
	afterSurrogates = 0xe000
)

// Unquote returns the text of a JSON string that [Object] has checked, and false if the
// value is no string. The text shares value's memory unless there are escapes in it.
func Unquote(value []byte) ([]byte, bool) {
	if len(value) < 2 || value[0] != '"' {
		return nil, false
	}
	last := len(value) - 1
	text := value[1:last:last]
	i := bytes.IndexByte(text, '\\')
	if i < 0 {
		return text, true
	}
	out := make([]byte, 0, len(text))
	for ; i >= 0; i = bytes.IndexByte(text, '\\') {
		out = append(out, text[:i]...)
		out, text = appendEscape(out, text[i:])
	}
	return append(out, text...), true
}

// appendEscape appends what the escape at the start of text stands for, and returns what
// follows it.
func appendEscape(out, text []byte) (appended, rest []byte) {
	c := text[1]
	switch c {
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return appendUnicode(out, text)
	}
	return append(out, c), text[2:]
}

func appendUnicode(out, text []byte) (appended, rest []byte) {
	r, _ := codeUnit(text)
	text = text[escapeLen:]
	if utf16.IsSurrogate(r) {
		low, _ := codeUnit(text)
		r = utf16.DecodeRune(r, low)
		text = text[escapeLen:]
	}
	return utf8.AppendRune(out, r), text
}

// codeUnit reads the \uXXXX at the start of text.
func codeUnit(text []byte) (rune, bool) {
	if len(text) < escapeLen || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var unit rune
	for _, c := range text[2:escapeLen] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | rune(c)
	}
	return unit, true
}
