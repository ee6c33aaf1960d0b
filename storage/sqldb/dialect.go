package sqldb

import (
	"database/sql"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// Dialect is which SQL a database speaks, for the few statements that differ.
type Dialect uint8

// The dialects.
const (
	SQLite Dialect = iota
	MySQL
	Postgres
)

// Upsert returns a statement that inserts a row, or sets the other columns of the one that has
// its key. Its arguments are the key's columns, then the others.
func (d Dialect) Upsert(table string, key, others []string) string {
	return "INSERT INTO " + table + " (" + strings.Join(slices.Concat(key, others), ", ") + ") VALUES (" +
		Places(len(key)+len(others)) + ")" + d.OrSet(strings.Join(key, ", "), others...)
}

// OrSet ends an INSERT that has the row of its key that is there already take these columns from the new one.
func (d Dialect) OrSet(key string, columns ...string) string {
	sets := make([]string, len(columns))
	for i, column := range columns {
		sets[i] = column + " = " + d.Given(column)
	}
	return d.Or(key, strings.Join(sets, ", "))
}

// Or ends an INSERT that has the row of its key that is there already be changed.
func (d Dialect) Or(key, sets string) string {
	if d == MySQL {
		return " ON DUPLICATE KEY UPDATE " + sets
	}
	return " ON CONFLICT (" + key + ") DO UPDATE SET " + sets
}

// Given is the value that an INSERT has for a column.
func (d Dialect) Given(column string) string {
	if d == MySQL {
		return "VALUES(" + column + ")"
	}
	return "excluded." + column
}

// InsertNew is an INSERT into a table, with its columns and values, that leaves rows as they are that are there already.
func (d Dialect) InsertNew(into string) string {
	if d == MySQL {
		return "INSERT IGNORE INTO " + into
	}
	return "INSERT INTO " + into + " ON CONFLICT DO NOTHING"
}

// Concat returns an expression for two texts in one.
func (d Dialect) Concat(a, b string) string {
	if d == MySQL {
		return "CONCAT(" + a + ", " + b + ")"
	}
	return a + " || " + b
}

// Member returns an expression for a member of a JSON text: the names that lead to it, with points between them. It
// is a text without quotes; null where there is no such member. In PostgreSQL an escape that stands for no text,
// which would fail the statement wherever it is in the document, is a U+FFFD.
func (d Dialect) Member(column, names string) string {
	switch d {
	case MySQL:
		return "JSON_UNQUOTE(JSON_EXTRACT(" + column + ", '$." + names + "'))"
	case Postgres:
		// NUL, and halves of pairs.
		const noText = `'(?<!\\)((?:\\\\)*)\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\1\\ufffd', 'g'`
		sound := "CASE WHEN position('\\u' IN " + column + ") = 0 THEN " + column + " ELSE regexp_replace(" + column + ", " +
			noText + ") END"
		return "(CAST(" + sound + " AS json) #>> '{" + strings.ReplaceAll(names, ".", ",") + "}')"
	}
	return "(" + column + " ->> '$." + names + "')"
}

// Number returns the placeholder of a number that stands where nothing else says that it is one.
func (d Dialect) Number() string {
	if d == Postgres {
		return "CAST(? AS BIGINT)"
	}
	return "?"
}

// Contains returns a condition: that the bytes of a column have those of an argument somewhere.
func (d Dialect) Contains(column string) string {
	if d == Postgres {
		return "position(? IN " + column + ") > 0"
	}
	return "instr(" + column + ", ?) > 0"
}

// Some limits a DELETE or an UPDATE to the first rows, whose key these columns are. Its last argument is how many, and
// the condition's come before that. Rows that somebody else removes meanwhile are not among them: where it finds fewer
// than so many, no more are left.
func (d Dialect) Some(begin, table, end, key, where, order string) string {
	if d == MySQL {
		return begin + table + end + " WHERE " + where + " ORDER BY " + order + " LIMIT ?"
	}
	first := "SELECT " + key + " FROM " + table + " WHERE " + where + " ORDER BY " + order + " LIMIT ?"
	if d == Postgres { // waits for who changes a row, and passes over one that is gone by then
		return "WITH first AS MATERIALIZED (" + first + " FOR UPDATE) " + begin + table + end + " WHERE (" + key +
			") IN (SELECT " + key + " FROM first)"
	}
	return begin + table + end + " WHERE (" + key + ") IN (" + first + ")"
}

// DeleteSome is Some of a DELETE.
func (d Dialect) DeleteSome(table, key, where, order string) string {
	return d.Some("DELETE FROM ", table, "", key, where, order)
}

// Places returns so many placeholders.
func Places(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// Insert runs an INSERT, and reports whether there was no row of its key yet. The transaction can go on.
func Insert(tx Tx, query string, args ...any) (inserted bool, err error) {
	if tx.Dialect() == Postgres { // an error would end the transaction
		return Change(tx, query+" ON CONFLICT DO NOTHING", args...)
	}
	_, err = tx.Exec(query, args...)
	if sqlitedb.IsDuplicate(err) || mysqldb.IsDuplicate(err) {
		return false, nil
	}
	return err == nil, err
}

// Change runs a statement, and reports whether there was a row that its condition selects.
func Change(tx Tx, query string, args ...any) (found bool, err error) {
	n, err := Count(tx, query, args...)
	return n > 0, err
}

// Count runs a statement, and returns how many rows its condition selects.
func Count(tx Tx, query string, args ...any) (int64, error) {
	result, err := tx.Exec(query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// All returns what scan makes of each row of a query.
func All[T any](q moving.Querier, scan func(*sql.Rows) (T, error), query string, args ...any) (all []T, err error) {
	rows, err := q.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// One scans the row of a query into dest, and reports whether there is one.
func One(q Querier, dest []any, query string, args ...any) (found bool, err error) {
	err = q.QueryRow(query, args...).Scan(dest...)
	if err == sql.ErrNoRows {
		return false, nil
	}
	return err == nil, err
}
