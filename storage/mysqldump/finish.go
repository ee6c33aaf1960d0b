package mysqldump

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast/holdfast/internal/pause"
	"github.com/holdfast/holdfast/storage/mysqldb"
)

const (
	// keepAwake is how often a connection that waits says something.
	keepAwake = 15 * time.Second
	// undoPatience is how long a load that has failed takes to remove what it has made. Else the next one does.
	undoPatience = time.Minute
)

// finish has the tables get their names with a mark, does the rest, and takes the mark away.
func (l *loader) finish(rest Rest) error {
	if err := l.mark(rest); err != nil {
		return err
	}
	if err := l.settle(mysqldb.Quoted(rest.Table) + " TO " + rest.begun()); err != nil {
		return err
	}
	if _, err := l.conn.ExecContext(l.ctx, "DROP TABLE "+rest.begun()); err != nil {
		return err
	}
	if err := l.do(rest); err != nil {
		return err
	}
	return rest.Unmark(l.ctx, l.conn)
}

// do does the rest, and keeps the connection awake, which holds the lock meanwhile: proxies end those that say nothing.
// Without it nothing is gone on with, since another load may begin.
func (l *loader) do(rest Rest) error {
	group, ctx := errgroup.WithContext(l.ctx)
	doing, done := context.WithCancel(ctx)
	group.Go(func() error {
		for pause.For(doing, keepAwake) == nil {
			if _, err := l.conn.ExecContext(l.ctx, "SELECT 1"); err != nil {
				return fmt.Errorf("the connection that holds the lock of the load: %w", err)
			}
		}
		return nil
	})
	group.Go(func() error {
		defer done()
		return rest.Do(ctx)
	})
	return group.Wait()
}

// undo removes everything, so that a load that has failed leaves nothing.
func (l *loader) undo(rest Rest) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), undoPatience)
	defer cancel()
	return clear(ctx, l.conn, rest, true)
}

func (l *loader) mark(rest Rest) error {
	there := slices.Contains(l.names, rest.Table)
	if err := rest.markIn(l.ctx, l.conn, mysqldb.Quoted(loading+rest.Table), there); err != nil {
		return err
	}
	if !there {
		l.names = append(l.names, rest.Table)
	}
	return nil
}
