// Package serverdb is what the databases that are servers have in common.
package serverdb

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// longestWait is the most that passes between two attempts.
const longestWait = 15 * time.Second

// What callers are told of a database that answers and can't be used, whatever server it is on. The log has the
// server's own words.
const (
	TakesNoWrites = "the database takes no writes: it is a replica, or was set to be read-only"
	LacksRight    = "the database's user lacks a privilege for this; an operator finds in the log which, and grants it"
	LetsNobodyIn  = "the database refuses the connection: its name, user or password are not what is set"
	TookTooLong   = "the database ended a statement that took longer than it lets one take"
	HasNoSpace    = "the database has no space left"
)

// Database is how a database on a server is set up. Its name in the log is without secrets.
type Database interface {
	fmt.Stringer
	slog.LogValuer
}

// Await sets up what needs the server, and tries again while that is away, for at most the given time, unless that is
// zero. What waiting can't mend, such as a wrong password, it returns at once: passes says which errors it can.
func Await(ctx context.Context, of Database, log *slog.Logger, most time.Duration, passes func(error) bool,
	setUp func(context.Context) error) error {
	began, waited := time.Now(), false
	backOff := backoff.NewExponentialBackOff()
	backOff.InitialInterval, backOff.MaxInterval = 250*time.Millisecond, longestWait
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := setUp(ctx)
		if err != nil && (ctx.Err() != nil || !passes(err)) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backOff), backoff.WithMaxElapsedTime(most),
		backoff.WithNotify(func(err error, next time.Duration) {
			waited = true
			log.WarnContext(ctx, "waiting for the database", "database", of,
				"since", time.Since(began).Round(time.Second).String(), "next", next.Round(time.Millisecond).String(), "error", err)
		}))
	if err == nil && waited {
		log.InfoContext(ctx, "the database is up", "database", of, "after",
			time.Since(began).Round(time.Millisecond).String())
	}
	return err
}
