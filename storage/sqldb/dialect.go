package sqldb

import (
	"database/sql"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/pgdb"
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

// places has a statement's placeholders as the dialect writes them.
func (d Dialect) places(query string) string {
	if d == Postgres {
		return pgdb.Numbered(query)
	}
	return query
}

// values has a statement's arguments as the dialect takes them: what is true is 1 in all tables. PostgreSQL's texts
// have no NUL, and nothing that is kept has one: what is looked for by such a text is looked for by another one that
// nothing has.
func (d Dialect) values(args []any) []any {
	if d != Postgres {
		return args
	}
	all := slices.Clone(args)
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			all[i] = strings.ReplaceAll(v, "\x00", "\ufffe")
		case bool:
			all[i] = 0
			if v {
				all[i] = 1
			}
		}
	}
	return all
}

// Upsert returns a statement that inserts a row, or sets the other columns of the one that has
// its key. Its arguments are the key's columns, then the others.
func (d Dialect) Upsert(table string, key, others []string) string {
	columns := strings.Join(append(append([]string{}, key...), others...), ", ")
	text := "INSERT INTO " + table + " (" + columns + ") VALUES (" + Places(len(key)+len(others)) + ")"
	set := make([]string, len(others))
	for i, column := range others {
		if d == MySQL {
			set[i] = column + " = VALUES(" + column + ")"
		} else {
			set[i] = column + " = excluded." + column
		}
	}
	if d == MySQL {
		return text + " ON DUPLICATE KEY UPDATE " + strings.Join(set, ", ")
	}
	return text + " ON CONFLICT (" + strings.Join(key, ", ") + ") DO UPDATE SET " + strings.Join(set, ", ")
}

// Concat returns an expression for two texts in one.
func (d Dialect) Concat(a, b string) string {
	if d == MySQL {
		return "CONCAT(" + a + ", " + b + ")"
	}
	return a + " || " + b
}

// Member returns an expression for a member of a JSON text: the names that lead to it, with points between them. It is
// a text without quotes; null where there is no such member.
func (d Dialect) Member(column, names string) string {
	switch d {
	case MySQL:
		return "JSON_UNQUOTE(JSON_EXTRACT(" + column + ", '$." + names + "'))"
	case Postgres:
		return "(CAST(" + column + " AS json) #>> '{" + strings.ReplaceAll(names, ".", ",") + "}')"
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
