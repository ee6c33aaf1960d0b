package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// reopenTimeout bounds how long a connection may take to open: everybody waits meanwhile.
const reopenTimeout = 30 * time.Second

// recover makes up for what went wrong before: it opens a connection that was given up,
// and writes over a commit that failed.
func (w *Writer) recover() error {
	if err := w.checkPlace(); err != nil {
		return err
	}
	if err := w.reopen(); err != nil {
		return err
	}
	return w.overwrite()
}

func (w *Writer) checkPlace() error {
	err := w.held.InPlace()
	if w.o.InPlace != nil {
		return w.o.InPlace(w.tx, err)
	}
	if err != nil {
		return errors.Join(ErrNotInPlace, err)
	}
	return nil
}

func (w *Writer) reopen() error {
	if w.tx != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), reopenTimeout)
	defer cancel()
	db, err := w.o.File.OpenWriter(ctx)
	if err != nil {
		return err
	}
	if err := w.use(ctx, db); err != nil {
		return errors.Join(err, db.Close())
	}
	w.db = db
	return nil
}

// use makes the database's connection the one that jobs get.
func (w *Writer) use(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	tx := &Tx{conn: conn, statements: map[string]*sql.Stmt{}}
	if w.o.Connected != nil {
		if err := w.o.Connected(tx); err != nil {
			return errors.Join(err, tx.close())
		}
	}
	w.tx = tx
	return nil
}

// overwrite writes a frame over the first one of a failed commit, if there is one. A
// frame's checksum covers all those before it: what else is left of that commit is void.
func (w *Writer) overwrite() error {
	if !w.uncertain {
		return nil
	}
	err := w.tx.exec("BEGIN IMMEDIATE")
	if err == nil {
		err = w.touch()
	}
	if err == nil {
		err = w.tx.exec("COMMIT")
	}
	w.uncertain = err != nil
	return w.undone(err)
}

// touch changes a page without changing what is in it: SQLite writes it nevertheless.
func (w *Writer) touch() error {
	ctx, version := context.Background(), int64(0)
	if err := w.tx.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	_, err := w.tx.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
	return err
}

func (w *Writer) disconnect() error {
	var errs []error
	if w.tx != nil {
		errs = append(errs, w.tx.close())
		w.tx = nil
	}
	if w.db != nil {
		errs = append(errs, w.db.Close())
		w.db = nil
	}
	return errors.Join(errs...)
}
