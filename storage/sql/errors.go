package sqluploads

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/mysqldb"
)

// What callers are told.
const (
	tooLarge = "the upload is larger than the database takes"
	away     = "the database can't be reached or can't work right now; try again"
)

// fault turns what the driver and the server say of a write into a fault. MySQL's driver gives a connection up whose
// server takes no writes, and does not say why: so the server is asked.
func (s *Store) fault(err error) error {
	if !s.speaks().isPostgres() && errors.Is(err, driver.ErrBadConn) {
		ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
		defer cancel()
		var demoted bool
		if s.db.QueryRowContext(ctx, "SELECT "+mysqldb.Demoted).Scan(&demoted) == nil && demoted {
			err = mysqldb.ErrDemoted
		}
	}
	return s.engine.fault(err)
}

// errNotUp is for calls before the server was up for the first time.
func errNotUp() error {
	err := fault.Wrap(errors.New("it was not up since this process started"), fault.StoreUnavailable, away)
	err.RetryAfter = 2 * time.Second
	return err
}

func errClosed() error { return fault.New(fault.StoreUnavailable, "the store is closed") }
