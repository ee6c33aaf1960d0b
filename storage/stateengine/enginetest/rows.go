package enginetest

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Row is one of a table.
type Row struct {
	Table, Text string
}

// AllRows returns all rows of the tables that a statement names. A cell's text is as it is stored.
func AllRows(t testing.TB, db *sql.DB, tables string) (all []Row) {
	t.Helper()
	for _, name := range texts(t, db, tables) {
		for _, text := range texts(t, db, "SELECT * FROM "+name) {
			all = append(all, Row{name, text})
		}
	}
	return all
}

// texts returns what a statement returns, row by row.
func texts(t testing.TB, db *sql.DB, statement string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	raw, cells := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range cells {
		cells[i] = &raw[i]
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			t.Fatal(err)
		}
		var row []string
		for _, cell := range raw {
			row = append(row, string(cell))
		}
		all = append(all, strings.Join(row, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// traces says where a text stands in what a store keeps.
func (e Engine) traces(t *testing.T, dir, text string) (in []string) {
	t.Helper()
	for _, row := range e.Rows(t, dir) {
		if strings.Contains(row.Text, text) {
			in = append(in, fmt.Sprintf("%s: %.200q", row.Table, row.Text))
		}
	}
	if e.Files != nil {
		in = append(in, e.Files(t, dir, text)...)
	}
	return in
}

// lacking returns the rows that others lack, but for those of the tables that count, and of more.
func (e Engine) lacking(rows, others []Row, more ...string) (missing []string) {
	there := map[Row]int{}
	for _, row := range others {
		there[row]++
	}
	for _, row := range rows {
		if there[row]--; there[row] < 0 && !slices.Contains(slices.Concat(e.Counts, more), row.Table) {
			missing = append(missing, fmt.Sprintf("%s: %.200q", row.Table, row.Text))
		}
	}
	return missing
}
