// Package csvrow writes inventory records as rows of RFC 4180.
package csvrow

import (
	"strings"

	"github.com/holdfast/holdfast/inventory"
)

// Header is the first row of a file of records.
const Header = "timestamp,org_id,provider,category,resource_type,resource_name,attributes\r\n"

// Fields returns the record's fields in the order of Header.
func Fields(r inventory.Record) []string {
	return []string{string(inventory.AppendTime(nil, r.Timestamp)), r.Org.String(),
		r.Provider, r.Category, r.ResourceType, r.ResourceName, string(r.Attributes)}
}

// AppendRow appends a row of these fields, with its CRLF.
func AppendRow(dst []byte, fields ...string) []byte {
	for i, field := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendField(dst, field)
	}
	return append(dst, "\r\n"...)
}

// appendField quotes a field that needs it; blanks at its ends too, because some programs
// trim them otherwise.
func appendField(dst []byte, field string) []byte {
	if !strings.ContainsAny(field, "\",\r\n") && strings.Trim(field, " \t") == field {
		return append(dst, field...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(field, `"`, `""`)...)
	return append(dst, '"')
}

// SpreadsheetSafe returns the fields for a file that a spreadsheet will open: one that
// would be taken for a formula gets a leading apostrophe. Such a file is not exact.
func SpreadsheetSafe(fields []string) []string {
	safe := make([]string, len(fields))
	for i, field := range fields {
		if field != "" && strings.IndexByte("=+-@\t\r\n", field[0]) >= 0 {
			field = "'" + field
		}
		safe[i] = field
	}
	return safe
}
