package sqluploads

import (
	"time"

	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/pgdb"
)

// Options says where the database is, which is MySQL or Postgres, and how it is used. Now is needed.
type Options struct {
	MySQL    *mysqldb.Options
	Postgres *pgdb.Options
	// StartupWait bounds how long Open waits for a server that is not up yet. Zero waits
	// for as long as it takes.
	StartupWait time.Duration
	// Background lets Open return at once: the store answers StoreUnavailable until the
	// server is up, and StartupWait counts for nothing.
	Background bool
	Now        func() time.Time
}
