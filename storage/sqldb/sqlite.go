package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

const (
	// sqliteReaders is how many reads run at once.
	sqliteReaders = 6
	// batchBytes is how much one transaction takes.
	batchBytes = 32 << 20
	// keptStatements is how many texts of statements stay prepared.
	keptStatements = 256
	// keptBytes and keptPlaces are how long a reader's text may be that stays prepared, and how many values it may take.
	keptBytes  = 1 << 10
	keptPlaces = 8
)

// sqlite is a database in a file: one writer, and a pool of readers.
type sqlite struct {
	writer  *sqlitedb.Writer
	readers *sql.DB
	asked   *kept           // for them
	known   map[string]bool // texts that are kept prepared; the writer's jobs alone use it
	shrinks bool            // its file does
}

// File is an SQLite database in a file, whose folder is this process's own.
type File struct {
	sqlitedb.File
	Migrate func(context.Context, *sql.DB, *slog.Logger) error
	// Served says that another process has it, which writes it: it is only read here.
	Served bool
}

// errServed is of a write to a file that is another process's.
var errServed = errors.New("sqldb: the database is another process's to write")

// RunsFile is the database of workspaces and runs at a path, which is absolute.
func RunsFile(path string) File { return File{File: databaseFile(path), Migrate: migrateSQLite} }

func databaseFile(path string) sqlitedb.File {
	return sqlitedb.File{Path: path, ApplicationID: 0x4866526e, Pragmas: pragmas()} // "HfRn"
}

// pragmas are of the connection that writes. What is deleted is overwritten.
func pragmas() []string {
	return []string{"page_size(4096)", "secure_delete(1)", "wal_autocheckpoint(4000)", "journal_size_limit(67108864)"}
}

func openSQLite(ctx context.Context, f File, log *slog.Logger) (engine, int, error) {
	e := &sqlite{known: map[string]bool{}, shrinks: f.Shrinks}
	var err error
	if !f.Served {
		e.writer, err = sqlitedb.NewWriter(ctx,
			sqlitedb.Options{File: f.File, Migrate: f.Migrate, Log: log, Bytes: batchBytes})
	}
	if err == nil {
		e.readers, err = f.OpenReader()
	}
	if err != nil {
		return nil, 0, errors.Join(err, e.close())
	}
	e.readers.SetMaxOpenConns(sqliteReaders)
	e.readers.SetMaxIdleConns(sqliteReaders)
	e.asked = newKept(e.readers)
	return e, sqliteReaders, nil
}

func migrateSQLite(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	return Schema(SQLite).Migrate(ctx, db, log)
}

func (e *sqlite) dialect() Dialect { return SQLite }

func (e *sqlite) write(ctx context.Context, org uuid.UUID, bytes int, fn func(Tx) error) error {
	if e.writer == nil {
		return errServed
	}
	var refusal error
	err := e.writer.Submit(ctx, sqlitedb.Job{Org: org, Bytes: bytes, Run: func(t *sqlitedb.Tx) (err error) {
		refusal, err = e.run(t, fn)
		return err
	}})
	return cmp.Or(err, refusal)
}

// run runs fn within the writer's transaction. What it refuses by an error that is none of the
// database's is undone alone: those that share the transaction are not disturbed.
func (e *sqlite) run(t *sqlitedb.Tx, fn func(Tx) error) (refusal, err error) {
	if _, err := t.Exec("SAVEPOINT one"); err != nil {
		return nil, err
	}
	refusal = fn(sqliteTx{t, e})
	if refusal != nil {
		if sqlitedb.TroubleOf(refusal) != sqlitedb.None || sqlitedb.MustReopen(refusal) {
			return nil, refusal
		}
		if _, err := t.Exec("ROLLBACK TO one"); err != nil {
			return nil, errors.Join(refusal, err)
		}
	}
	_, err = t.Exec("RELEASE one")
	return refusal, err
}

func (e *sqlite) writeOwn(ctx context.Context, fn func(Tx) error) error {
	return e.write(ctx, uuid.Nil, 0, fn)
}

func (e *sqlite) read(ctx context.Context, fn func(Querier) error) error {
	return readOn(ctx, e.readers, SQLite, &sql.TxOptions{ReadOnly: true}, fn)
}

func (e *sqlite) ask(ctx context.Context, fn func(Querier) error) error {
	return fn(asking{ctx, e.asked})
}

func (e *sqlite) explain(err error) error { return sqliteError(err) }

// scrub overwrites what is left of rows. A file that shrinks moves its pages about: it is written anew, as there is
// never much in it.
func (e *sqlite) scrub(ctx context.Context) error {
	if !e.shrinks {
		return e.writer.Scrub(ctx, e.readers)
	}
	err := e.writer.Submit(ctx, sqlitedb.Job{Alone: true, Run: func(t *sqlitedb.Tx) error {
		_, err := t.Exec("VACUUM")
		return err
	}})
	if err != nil {
		return err
	}
	return e.writer.EmptyLog(ctx, uuid.Nil)
}

// close closes the readers before the writer, which leaves the database in one file.
func (e *sqlite) close() error {
	var errs []error
	if e.readers != nil {
		errs = append(errs, e.readers.Close())
	}
	if e.writer != nil {
		errs = append(errs, e.writer.Close())
	}
	return errors.Join(errs...)
}

// sqliteTx is the writer's transaction. Its statements run to their end: several callers share
// it, and none of them may break it off.
type sqliteTx struct {
	tx *sqlitedb.Tx
	e  *sqlite
}

func (t sqliteTx) Dialect() Dialect { return SQLite }

// keeps reports whether a text stays prepared: those that come first do.
func (t sqliteTx) keeps(query string) bool {
	if len(t.e.known) < keptStatements {
		t.e.known[query] = true
	}
	return t.e.known[query]
}

func (t sqliteTx) Exec(query string, args ...any) (sql.Result, error) {
	if !t.keeps(query) {
		return t.tx.Conn().ExecContext(context.Background(), query, args...)
	}
	return t.tx.Exec(query, args...)
}

func (t sqliteTx) Query(query string, args ...any) (*sql.Rows, error) {
	if !t.keeps(query) {
		return t.tx.Conn().QueryContext(context.Background(), query, args...)
	}
	s, err := t.tx.Stmt(query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(context.Background(), args...)
}

func (t sqliteTx) QueryRow(query string, args ...any) *sql.Row {
	if !t.keeps(query) {
		return t.tx.Conn().QueryRowContext(context.Background(), query, args...)
	}
	return t.tx.QueryRow(query, args...)
}
