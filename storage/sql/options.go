package sqluploads

import (
	"errors"
	"time"

	"github.com/holdfast/holdfast/storage/mysqldb"
)

// Options says where the database is and how it is used. Now is needed, beside what
// mysqldb.Options needs.
type Options struct {
	mysqldb.Options
	// StartupWait bounds how long Open waits for a server that is not up yet. Zero waits
	// for as long as it takes.
	StartupWait time.Duration
	// Background lets Open return at once: the store answers StoreUnavailable until the
	// server is up, and StartupWait counts for nothing.
	Background bool
	Now        func() time.Time
}

func (o Options) withDefaults() (_ Options, err error) {
	if o.Now == nil {
		return o, errors.New("sqluploads: Options.Now is needed")
	}
	o.Options, err = o.Options.WithDefaults()
	return o, err
}
