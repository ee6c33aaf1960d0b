package resourceindex

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Index is a resources.Index. Make it with New, Open or OpenMemory.
type Index struct {
	file    sqlitedb.File // no path in memory
	log     *slog.Logger
	turns   *turns.Turns // of those who look for something
	limits  limits
	current atomic.Pointer[connections] // nil while there is no open file
	damaged atomic.Bool

	mu  sync.Mutex
	why error // there is no open file
}

// limits are the constants; tests have smaller ones.
type limits struct {
	piece, look, few int
	time             time.Duration
}

func databaseFile(path string) sqlitedb.File {
	return sqlitedb.File{Path: path, ApplicationID: 0x48665273, Pragmas: pragmas()} // "HfRs"
}

// pragmas leave it to the system when what is derived reaches the disk; the order of
// transactions survives all the same. What is deleted is overwritten.
func pragmas() []string {
	return []string{"synchronous(NORMAL)", "secure_delete(1)", "journal_size_limit(16777216)", "cache_size(-16384)"}
}

// New returns an index that is to stand at an absolute path. It needs Recover before it can
// be used. The caller has to own the directory.
func New(path string, log *slog.Logger) *Index { return newIndex(databaseFile(path), log) }

func newIndex(file sqlitedb.File, log *slog.Logger) *Index {
	return &Index{
		file: file, log: log, why: notOpen(errors.New("it was not opened yet")),
		turns:  turns.New(finderConnections, finderConnections/2),
		limits: limits{piece: pieceRows, look: lookAt, few: fewRows, time: pieceTime},
	}
}

// Open returns an index at an absolute path that was opened, as Recover does it.
func Open(ctx context.Context, path string, log *slog.Logger) (*Index, error) {
	return opened(New(path, log), ctx)
}

// OpenMemory returns an index that is gone with the process, and was on no disk.
func OpenMemory(ctx context.Context, log *slog.Logger) (*Index, error) {
	x := newIndex(sqlitedb.File{}, log)
	// All share one connection: who looks for something is next behind one short piece of another organization's.
	x.turns, x.limits.piece = turns.New(1, 1), memoryRows
	return opened(x, ctx)
}

func opened(x *Index, ctx context.Context) (*Index, error) {
	if err := x.Recover(ctx); err != nil {
		return nil, err
	}
	return x, nil
}

// opened returns what is open, unless its file is not there any more.
func (x *Index) opened() (*connections, error) {
	c := x.current.Load()
	if c == nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		if c = x.current.Load(); c == nil {
			return nil, x.why
		}
	}
	if !c.inPlace() {
		return nil, fault.New(fault.StoreUnavailable,
			"the resource index's file was removed or replaced; the index is made again now; ask again later")
	}
	return c, nil
}

// Usable implements resources.Index.
func (x *Index) Usable() bool {
	c := x.current.Load()
	return c != nil && c.inPlace() && !x.damaged.Load()
}

// Recover implements resources.Index. A file that is damaged, or was made by another version
// of Holdfast, is replaced by an empty one: what it had is made again. A file of something
// else is an error, and left as it is.
func (x *Index) Recover(ctx context.Context) error {
	if x.Usable() {
		return nil
	}
	if x.damaged.Load() {
		return x.Reset(ctx)
	}
	was := x.current.Load()
	_ = x.drop() // a file that is not there can't be closed in order
	if was != nil {
		// The WAL that is left is of the file that was there: to another one it would be damage.
		return x.use(x.anew(ctx, errors.New("its file was removed or replaced while it was in use")))
	}
	c, err := x.connect(ctx)
	if unusable(err) {
		c, err = x.anew(ctx, err)
	}
	return x.use(c, err)
}

// unusable reports whether a file that could not be opened never will be.
func unusable(err error) bool {
	trouble := sqlitedb.TroubleOf(err)
	return err != nil && (trouble == sqlitedb.None || trouble == sqlitedb.Damaged)
}

// anew replaces a file that can't be used, unless it is one of something else.
func (x *Index) anew(ctx context.Context, why error) (*connections, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if x.file.Path == "" {
		return nil, why
	}
	if err := x.file.Prepare(); err != nil {
		return nil, err
	}
	x.log.WarnContext(ctx, "the resource index can't be used and is made again", "path", x.file.Path, "error", why)
	if err := Remove(x.file.Path); err != nil {
		return nil, err
	}
	return x.connect(ctx)
}

// connect opens the database, brings its schema up to date, and removes what a crash left
// behind.
func (x *Index) connect(ctx context.Context) (_ *connections, err error) {
	if err := x.file.RemoveOrphans(); err != nil {
		return nil, err
	}
	c, err := dial(ctx, x.file)
	if err != nil {
		return nil, err
	}
	s := schema.Schema{Steps: migrations, Dialect: goose.DialectSQLite3, Of: "resource index"}
	if err = s.Migrate(ctx, c.writer, x.log); err == nil {
		err = x.sweepIn(ctx, c.writer)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// use begins to use connections, or remembers why there are none.
func (x *Index) use(c *connections, err error) error {
	if err != nil {
		err = notOpen(err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.why = err; err == nil {
		x.damaged.Store(false)
		x.current.Store(c)
	}
	return err
}

// drop closes what is open. Until something else is, every call fails.
func (x *Index) drop() error {
	x.mu.Lock()
	x.why = notOpen(errors.New("it is being opened again"))
	c := x.current.Swap(nil)
	x.mu.Unlock()
	if c == nil {
		return nil
	}
	return c.close()
}

// Reset implements resources.Index.
func (x *Index) Reset(ctx context.Context) error {
	x.damaged.Store(true) // who comes after an error has to try again
	err := x.drop()
	if x.file.Path != "" {
		err = Remove(x.file.Path) // the damage may keep a file from being closed in order
	}
	var c *connections
	if err == nil {
		c, err = x.connect(ctx)
	}
	return x.use(c, err)
}

// Remove removes the file of an index that is not open, with what belongs to it: it is made
// again by the next Recover.
func Remove(path string) error {
	var errs []error
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Close implements resources.Index.
func (x *Index) Close() error {
	err := x.drop()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.why = fault.New(fault.StoreUnavailable, "the resource index is closed")
	return err
}
