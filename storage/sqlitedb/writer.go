package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// reopenTimeout bounds how long a connection may take to open: everybody waits meanwhile.
const reopenTimeout = 30 * time.Second

// ErrNotInPlace says that the database's file was removed or replaced while it is open:
// nobody would find again what is written to it.
var ErrNotInPlace = errors.New("the database file was removed or replaced while it was in use; put it back and restart")

// Writer owns the connection that writes to a database, and makes sure that a transaction
// that failed stays failed.
//
// When the fsync of a commit fails, its frames may be in the WAL all the same. SQLite
// doesn't count them, but a recovery would, after a crash or when the last connection was
// closed. So the Writer writes over them before it writes anything else, and keeps a
// reading connection open all the time: with it the WAL's index stays, which knows nothing
// of those frames, and there is no recovery before they are gone.
//
// One goroutine at a time may use it.
type Writer struct {
	file File
	held *Held
	log  *slog.Logger

	keeper, db *sql.DB
	conn       *sql.Conn // nil when the connection must be opened again

	// uncertain says that a commit failed whose frames may be in the WAL.
	uncertain bool
}

// NewWriter returns a Writer over db, which File.OpenWriter opened, for a file that the caller
// holds. It owns db also after an error, and closes it then.
func NewWriter(ctx context.Context, file File, held *Held, db *sql.DB, log *slog.Logger) (*Writer, error) {
	w := &Writer{file: file, held: held, log: log, db: db}
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *Writer) open(ctx context.Context) (err error) {
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return err
	}
	if w.keeper, err = w.file.OpenReader(); err != nil {
		return err
	}
	// A connection opens the WAL when it reads for the first time.
	var tables int
	return w.keeper.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
}

// Transact runs work in a transaction and commits it. After an error nothing of it is
// recorded; only if the process dies before a later Transact or Close succeeds, a commit
// that failed may turn out to have happened, whole.
func (w *Writer) Transact(work func(*sql.Conn) error) error {
	if err := w.recover(); err != nil {
		return err
	}
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return w.undone(err)
	}
	if err := work(w.conn); err != nil {
		return w.undone(err)
	}
	err := w.exec("COMMIT")
	if err == nil {
		return nil
	}
	w.uncertain = MustReopen(err)
	err = w.undone(err)
	if !w.uncertain {
		return err
	}
	if failed := w.recover(); failed != nil {
		w.log.Error("nothing is written until a commit that failed is overwritten", "database", w.file.Path, "error", failed)
	}
	return err
}

// recover makes up for what went wrong before: it opens a connection that was given up,
// and writes over a commit that failed.
func (w *Writer) recover() error {
	if err := w.inPlace(); err != nil {
		return err
	}
	if err := w.reopen(); err != nil {
		return err
	}
	return w.overwrite()
}

func (w *Writer) inPlace() error {
	if err := w.held.InPlace(); err != nil {
		return errors.Join(ErrNotInPlace, err)
	}
	return nil
}

func (w *Writer) reopen() error {
	if w.conn != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), reopenTimeout)
	defer cancel()
	db, err := w.file.OpenWriter(ctx)
	if err != nil {
		return err
	}
	if w.conn, err = db.Conn(ctx); err != nil {
		return errors.Join(err, db.Close())
	}
	w.db = db
	return nil
}

// overwrite writes a frame over the first one of a failed commit, if there is one. A
// frame's checksum covers all those before it: what else is left of that commit is void.
func (w *Writer) overwrite() error {
	if !w.uncertain {
		return nil
	}
	err := w.exec("BEGIN IMMEDIATE")
	if err == nil {
		err = w.touch()
	}
	if err == nil {
		err = w.exec("COMMIT")
	}
	w.uncertain = err != nil
	return w.undone(err)
}

// touch changes a page without changing what is in it: SQLite writes it nevertheless.
func (w *Writer) touch() error {
	var version int64
	if err := w.conn.QueryRowContext(context.Background(), "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	return w.exec(fmt.Sprintf("PRAGMA user_version = %d", version))
}

// undone returns err, after it brought the connection into a known state or gave it up.
func (w *Writer) undone(err error) error {
	if err == nil {
		return nil
	}
	// SQLITE_ERROR means that SQLite has rolled back by itself.
	undo := w.exec("ROLLBACK")
	if MustReopen(err) || undo != nil && Code(undo) != sqlite3.SQLITE_ERROR {
		w.log.Error("the connection to a database is opened again", "database", w.file.Path, "error", errors.Join(err, undo))
		_ = w.disconnect() // the error that led here is the one to report
	}
	return err
}

// exec runs a statement to its end: what has begun is not given up half way.
func (w *Writer) exec(statement string) error {
	_, err := w.conn.ExecContext(context.Background(), statement)
	return err
}

func (w *Writer) disconnect() error {
	var err error
	if w.conn != nil {
		err = w.conn.Close()
		w.conn = nil
	}
	return errors.Join(err, w.db.Close())
}

// Close leaves the database in one file, without a WAL. Other readers must be gone, except
// after a commit that failed: that one is overwritten first.
func (w *Writer) Close() error {
	var errs []error
	if w.uncertain {
		errs = append(errs, w.recover())
	}
	if w.keeper != nil {
		errs = append(errs, w.keeper.Close())
	}
	if w.conn != nil {
		errs = append(errs, w.exec("PRAGMA wal_checkpoint(TRUNCATE)"))
	}
	return errors.Join(append(errs, w.disconnect())...)
}
