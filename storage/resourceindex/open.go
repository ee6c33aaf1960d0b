package resourceindex

import (
	"context"
	"database/sql"
	_ "embed" // the schema
	"errors"
	"sync/atomic"

	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

//go:embed schema.sql
var schema string

// Index is a resources.Index. Make it with Open.
type Index struct {
	db      atomic.Pointer[sql.DB] // has one connection; Reset puts another database in its place
	turns   *turns.Turns           // of those who look for something
	limits  limits
	damaged atomic.Bool
}

// limits are the constants; tests have smaller ones.
type limits struct{ piece, look, few int }

// Open returns a new, empty index, which is in memory: it is gone with the process, and was on no disk.
func Open(ctx context.Context) (*Index, error) {
	// All share one connection: who looks for something is next behind one short piece of another organization's.
	x := &Index{turns: turns.New(1, 1), limits: limits{piece: pieceRows, look: lookAt, few: fewRows}}
	db, err := newDatabase(ctx)
	if err != nil {
		return nil, err
	}
	x.db.Store(db)
	return x, nil
}

// newDatabase overwrites what is deleted, so that what was purged is not in the process's memory either.
func newDatabase(ctx context.Context) (*sql.DB, error) {
	db, err := sqlitedb.OpenMemory([]string{"secure_delete(1)"})
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Damaged implements resources.Index.
func (x *Index) Damaged() bool { return x.damaged.Load() }

// Reset implements resources.Index. Calls that have begun end with an error: numbers of organizations are others now.
func (x *Index) Reset(ctx context.Context) error {
	db, err := newDatabase(ctx)
	if err != nil {
		return x.fault(err)
	}
	_ = x.db.Swap(db).Close() // the damage may keep it from being closed in order
	x.damaged.Store(false)
	return nil
}

// Close implements resources.Index.
func (x *Index) Close() error { return x.db.Load().Close() }
