package sqluploads

import (
	"errors"
	"time"

	"github.com/holdfast/holdfast/fault"
)

// What callers are told.
const (
	tooLarge = "the upload is larger than the database takes"
	away     = "the database can't be reached or can't work right now; try again"
)

// errNotUp is for calls before the server was up for the first time.
func errNotUp() error {
	err := fault.Wrap(errors.New("it was not up since this process started"), fault.StoreUnavailable, away)
	err.RetryAfter = 2 * time.Second
	return err
}

func errClosed() error { return fault.New(fault.StoreUnavailable, "the store is closed") }
