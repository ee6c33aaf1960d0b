package csvrow

import (
	"strings"
	"unicode/utf8"
)

// AppendField appends one field to dst, in quotes when it needs them. Besides what RFC
// 4180 asks for, a field with a space or tab at either end is quoted, because some
// programs trim it otherwise.
func AppendField[T ~string | ~[]byte](dst []byte, field T) []byte {
	if !needsQuotes(field) {
		return append(dst, field...)
	}
	dst = append(dst, '"')
	start := 0
	for i := range len(field) {
		if field[i] == '"' {
			dst = append(dst, field[start:i+1]...)
			start = i // the quote comes again
		}
	}
	dst = append(dst, field[start:]...)
	return append(dst, '"')
}

func needsQuotes[T ~string | ~[]byte](field T) bool {
	if len(field) == 0 {
		return false
	}
	if blank(field[0]) || blank(field[len(field)-1]) {
		return true
	}
	for i := range len(field) {
		switch field[i] {
		case '"', ',', '\r', '\n':
			return true
		}
	}
	return false
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// AppendRow appends a row of these fields, with its CRLF.
func AppendRow(dst []byte, fields ...string) []byte {
	if len(fields) == 1 && fields[0] == "" {
		return append(dst, `""`+"\r\n"...) // an empty line is no row to other programs
	}
	for i, field := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendField(dst, field)
	}
	return append(dst, "\r\n"...)
}

// SpreadsheetSafe returns the fields for a file that a spreadsheet will open: one that
// would be taken for a formula gets a leading apostrophe. Such a file is not exact.
func SpreadsheetSafe(fields []string) []string {
	safe := make([]string, len(fields))
	for i, field := range fields {
		if startsFormula(field) {
			field = "'" + field
		}
		safe[i] = field
	}
	return safe
}

// startsFormula looks behind spaces, which some programs trim, and knows the full-width
// forms, which some programs read as the narrow ones.
func startsFormula(field string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(field, " "))
	return strings.ContainsRune("=+-@\t\r\n＝＋－＠", first)
}
