// Package csvrow writes and reads rows of RFC 4180 exactly, and inventory records as such
// rows.
//
// encoding/csv is not exact: it reads "\r\n" inside quotes as "\n", skips empty lines and
// trims nothing that it could not also have written otherwise. A file that is the truth
// about what was uploaded needs every byte back, and the place of a row that is wrong.
//
//	field.go    text becomes a field
//	row.go      bytes become a row, without allocation
//	reader.go   rows of a file, each with its offset and line
//	record.go   an inventory.Record becomes a row, and the other way round
package csvrow
