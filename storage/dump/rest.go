package dump

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast/holdfast/internal/pause"
	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/sqldb"
)

const (
	// keepAwake is how often a connection that waits says something.
	keepAwake = 15 * time.Second
	// UndoPatience is how long a load that has failed takes to remove what it has made. Else the next one does.
	UndoPatience = time.Minute
	// LoadPatience is for how long a load waits for one that ends.
	LoadPatience = 20 * time.Second
)

// Rest is what is done with tables that were loaded, before anybody may use them. They have a mark meanwhile, by which
// users know that, and the next load that it has to remove them all.
type Rest struct {
	Table string // in which the mark is; it is made where the dump has none
	Make  string // the columns of the table, if it is made
	// Mark adds the mark to a table, which may not be called Table yet.
	Mark   func(tx sqldb.Tx, table string) error
	Marked func(moving.Querier) (bool, error) // where there is such a table
	Unmark func(sqldb.Tx) error
	Do     func(context.Context) error // nil where nothing is to be done, and nothing is marked
}

// Carry does the rest, and keeps the connection awake, which holds the lock of the load meanwhile: proxies end those
// that say nothing. Without it nothing is gone on with, since another load may begin. Then it takes the mark away.
func (r Rest) Carry(ctx context.Context, conn *sql.Conn, d sqldb.Dialect) error {
	group, working := errgroup.WithContext(ctx)
	doing, done := context.WithCancel(working)
	group.Go(func() error {
		for pause.For(doing, keepAwake) == nil {
			if _, err := conn.ExecContext(ctx, "SELECT 1"); err != nil {
				return fmt.Errorf("the connection that holds the lock of the load: %w", err)
			}
		}
		return nil
	})
	group.Go(func() error {
		defer done()
		return r.Do(working)
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return r.Unmark(sqldb.OnConn(ctx, conn, d))
}

// NotEmpty refuses a database in which there is a table.
func NotEmpty(database fmt.Stringer, table string) error {
	return fmt.Errorf("the database %v is not empty: it has a table %s; nothing was restored. Name an empty one in the "+
		"settings", database, table)
}

// CantReach says that the database that is to be loaded into can't be reached.
func CantReach(database fmt.Stringer, err error) error {
	return fmt.Errorf("load into the database %v, which has to be there and empty: %w", database, err)
}

// UnderWay refuses a second load at once.
func UnderWay(database fmt.Stringer) error {
	return fmt.Errorf("another load into the database %v is under way", database)
}
