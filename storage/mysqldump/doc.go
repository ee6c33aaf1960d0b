// Package mysqldump writes all tables of a database on a MySQL or MariaDB server as they are at one moment, and loads
// them into an empty one. It knows nothing of what is in them.
//
// A dump is a line that names the format, and then for each table a line of JSON, see table, and its rows: each value
// is a uvarint, 0 for NULL and else the length plus one, and its bytes as the server writes them as text. Before each
// row is a byte 1, and behind the last a byte 0.
package mysqldump

const format = "holdfast dump 1\n"

// table stands before a table's rows.
type table struct {
	Name    string   `json:"name"`
	Create  string   `json:"create"` // the statement that makes it
	Columns []column `json:"columns"`
}

// column is one whose values are in the dump: not one that the server works out from others.
type column struct {
	Name   string `json:"name"`
	Binary bool   `json:"binary,omitempty"` // bytes that are no text
	time   bool
}
