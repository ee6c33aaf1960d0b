package doctor

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// maxComplaints bounds what is told of one damaged file.
const maxComplaints = 20

// databases has SQLite check the structure of each.
func (d *doctor) databases() error {
	for _, name := range []string{"state.db", "runs.db", "notices.db", "uploads.db", "outbox.db"} {
		if !d.has(name) {
			continue
		}
		d.tell("checking " + name)
		if err := d.database(name); err != nil {
			return err
		}
	}
	return nil
}

func (d *doctor) database(name string) error {
	var complaints []string
	err := d.ask(name, func(db *sql.DB) error {
		all, err := texts(d.ctx, db, "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'")
		complaints = all
		if err != nil {
			return err
		}
		all, err = texts(d.ctx, db, `SELECT "table" || ' has a row ' || ifnull(rowid, '') || ' that belongs to nothing in ' || parent
			FROM pragma_foreign_key_check LIMIT 20`)
		complaints = append(complaints, all...)
		return err
	})
	if err := d.ctx.Err(); err != nil {
		return err
	}
	if err != nil {
		complaints = append(complaints, err.Error())
	}
	if len(complaints) == 0 {
		return nil
	}
	d.found(name, doRestore, "SQLite finds it damaged: %s", strings.Join(complaints[:min(len(complaints),
		maxComplaints)], "; "))
	return nil
}

// ask opens a database of the copy.
func (d *doctor) ask(name string, fn func(*sql.DB) error) error {
	db, err := sqlitedb.File{Path: d.path(name)}.OpenReader()
	if err != nil {
		return err
	}
	return errors.Join(fn(db), db.Close())
}

func texts(ctx context.Context, db *sql.DB, query string, args ...any) (all []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return all, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}
