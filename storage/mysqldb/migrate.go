package mysqldb

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/storage/schema"
)

// Migrate brings the schema up to date while it holds a lock, as several nodes may start
// at once. It has a pool of its own: the lock takes up a connection for as long as it is
// held, and the store's pool may have just one.
func (o Options) Migrate(ctx context.Context, s schema.Schema) (err error) {
	o.MaxOpenConns, o.MaxIdleConns = 2, 2
	db, err := o.OpenPool(o.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	unlock, err := lockSchema(ctx, db, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	s.Dialect = goose.DialectMySQL
	if err := dropEmptyNotes(ctx, db, cmp.Or(s.Table, goose.DefaultTablename)); err != nil {
		return err
	}
	return s.Migrate(ctx, db, o.Log)
}

// dropEmptyNotes removes the table that notes which steps were taken if it has not even its first row:
// who made it was killed before that, as making a table is a transaction of its own, and no step was taken.
func dropEmptyNotes(ctx context.Context, db *sql.DB, table string) error {
	var some bool
	err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+Quoted(table)+")").Scan(&some)
	if IsNoTable(err) || err == nil && some {
		return nil
	}
	if err == nil {
		_, err = db.ExecContext(ctx, "DROP TABLE "+Quoted(table))
	}
	return err
}

// LockSchema returns when nobody migrates the database, and has them wait until unlock is called.
func (o Options) LockSchema(ctx context.Context, db *sql.DB) (unlock func() error, err error) {
	return lockSchema(ctx, db, o)
}

// lockSchema waits for the lock. The server frees it when the connection ends, whatever
// becomes of this process.
func lockSchema(ctx context.Context, db *sql.DB, o Options) (unlock func() error, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	// The connection is idle while others migrate, which may take long.
	if _, err := conn.ExecContext(ctx, "SET wait_timeout = 86400"); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	name := lockName(o.Name)
	for taken := (sql.NullInt64{}); taken.Int64 != 1; {
		if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, ?)", name, 5).Scan(&taken); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		if taken.Int64 != 1 {
			o.Log.InfoContext(ctx, "waiting for another node that migrates the database", "database", o)
		}
	}
	return func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_, err := conn.ExecContext(ctx, "DO RELEASE_LOCK(?)", name)
		return errors.Join(err, conn.Close())
	}, nil
}

// lockName is the database's, because these locks are the server's; it is at most 64
// characters long.
func lockName(database string) string {
	sum := sha256.Sum256([]byte(database))
	return fmt.Sprintf("holdfast-migrate-%x", sum[:16])
}
