package resourceindex

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

//go:embed migrations/*.sql
var migrations embed.FS

const readConnections = 4

// Index is a resources.Index. Make it with Open or OpenMemory.
type Index struct {
	file    sqlitedb.File // no path in memory
	writer  *sql.DB
	readers *sql.DB // the writer, in memory
}

func databaseFile(path string) sqlitedb.File {
	return sqlitedb.File{Path: path, ApplicationID: 0x48665273, Pragmas: pragmas()} // "HfRs"
}

// pragmas leave it to the system when what is derived reaches the disk; the order of
// transactions survives all the same. What is deleted is overwritten.
func pragmas() []string {
	return []string{"synchronous(NORMAL)", "secure_delete(1)", "journal_size_limit(16777216)", "cache_size(-16384)"}
}

// Open opens the index at an absolute path, or makes a new one there. The caller has to
// own the directory. A file that is damaged, or was made by another version of Holdfast,
// is replaced by an empty one: what it had is made again. A file of something else is an
// error.
func Open(ctx context.Context, path string, log *slog.Logger) (*Index, error) {
	file := databaseFile(path)
	x, err := open(ctx, file, log)
	if err == nil {
		return x, nil
	}
	if trouble := sqlitedb.TroubleOf(err); trouble != sqlitedb.None && trouble != sqlitedb.Damaged {
		return nil, err
	}
	if foreign := file.Prepare(); foreign != nil {
		return nil, foreign
	}
	log.WarnContext(ctx, "the resource index can't be used and is made again", "path", path, "error", err)
	if err := remove(path); err != nil {
		return nil, err
	}
	return open(ctx, file, log)
}

func remove(path string) error {
	var errs []error
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func open(ctx context.Context, file sqlitedb.File, log *slog.Logger) (_ *Index, err error) {
	if err := file.Prepare(); err != nil {
		return nil, err
	}
	x := &Index{file: file}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open %s: %w", file.Path, err), x.Close())
		}
	}()
	if x.writer, err = file.OpenWriter(ctx); err != nil {
		return nil, err
	}
	if err := x.start(ctx, log); err != nil {
		return nil, err
	}
	if x.readers, err = file.OpenReader(); err != nil {
		return nil, err
	}
	x.readers.SetMaxOpenConns(readConnections)
	x.readers.SetMaxIdleConns(readConnections)
	return x, nil
}

// OpenMemory returns an index that is gone with the process, and was on no disk.
func OpenMemory(ctx context.Context, log *slog.Logger) (*Index, error) {
	db, err := sqlitedb.OpenMemory(pragmas())
	if err != nil {
		return nil, err
	}
	x := &Index{writer: db, readers: db}
	if err := x.start(ctx, log); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// start brings the schema up to date and sweeps what a crash left behind.
func (x *Index) start(ctx context.Context, log *slog.Logger) error {
	s := schema.Schema{Steps: migrations, Dialect: goose.DialectSQLite3, Of: "resource index"}
	if err := s.Migrate(ctx, x.writer, log); err != nil {
		return err
	}
	return x.sweep(ctx)
}

// Close implements resources.Index.
func (x *Index) Close() error {
	var errs []error
	for _, db := range []*sql.DB{x.readers, x.writer} { // the writer last: it removes the WAL
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
