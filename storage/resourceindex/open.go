package resourceindex

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Index is a resources.Index. Make it with Open or OpenMemory.
type Index struct {
	file    sqlitedb.File // no path in memory
	log     *slog.Logger
	current atomic.Pointer[connections]
	damaged atomic.Bool
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

// OpenMemory returns an index that is gone with the process, and was on no disk.
func OpenMemory(ctx context.Context, log *slog.Logger) (*Index, error) {
	return open(ctx, sqlitedb.File{}, log)
}

func open(ctx context.Context, file sqlitedb.File, log *slog.Logger) (*Index, error) {
	x := &Index{file: file, log: log}
	c, err := x.connect(ctx)
	if err != nil {
		return nil, err
	}
	x.current.Store(c)
	if err := x.sweep(ctx); err != nil { // what a crash left behind
		return nil, errors.Join(fmt.Errorf("open %s: %w", file.Path, err), x.Close())
	}
	return x, nil
}

// connect opens the database and brings its schema up to date.
func (x *Index) connect(ctx context.Context) (_ *connections, err error) {
	c, err := dial(ctx, x.file)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", x.file.Path, err)
	}
	s := schema.Schema{Steps: migrations, Dialect: goose.DialectSQLite3, Of: "resource index"}
	if err := s.Migrate(ctx, c.writer, x.log); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", x.file.Path, err), c.close())
	}
	return c, nil
}

// Damaged implements resources.Index.
func (x *Index) Damaged() bool { return x.damaged.Load() }

// Reset implements resources.Index. Until there is a new file, and after an error, every
// call fails.
func (x *Index) Reset(ctx context.Context) error {
	x.damaged.Store(true) // who comes after an error has to try again
	err := x.current.Load().close()
	if x.file.Path != "" {
		err = remove(x.file.Path) // the damage may keep a file from being closed in order
	}
	if err != nil {
		return x.fault(err)
	}
	c, err := x.connect(ctx)
	if err != nil {
		return x.fault(err)
	}
	x.current.Store(c)
	x.damaged.Store(false)
	return nil
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

// Close implements resources.Index.
func (x *Index) Close() error { return x.current.Load().close() }
