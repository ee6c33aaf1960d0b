package pgdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/serverdb"
)

// Code returns the server's error code, of five characters; empty for an error of another kind. See
// https://www.postgresql.org/docs/15/errcodes-appendix.html.
func Code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

func is(err error, codes ...string) bool { return slices.Contains(codes, Code(err)) }

// IsAway says whether the connection or the server behind it is lost, or does not answer: nothing is wrong with the
// statement, and its outcome is unknown.
func IsAway(err error) bool {
	if code := Code(err); code != "" {
		return strings.HasPrefix(code, "08") && !isRefusedParameter(err) || // connections
			is(err, "53200", "53300", "57P01", "57P02", "57P03", "57P05", // no memory, too many connections, it shuts down
				"25P03", "57014") // it has ended a transaction that said nothing, or a statement
	}
	// The driver says that the connection is closed also of one that it has lost while it waited for an answer.
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) ||
		pgconn.SafeToRetry(err) || errors.Is(err, pgconn.ErrConnClosed) {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	_, ok := errors.AsType[net.Error](err)
	return ok
}

// ofPgbouncer is the one code that pgbouncer has for whatever it says itself, such as that the server is down.
const ofPgbouncer = "08P01"

// isRefusedParameter says whether pgbouncer does not know a parameter of the URL, which no waiting mends.
func isRefusedParameter(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == ofPgbouncer && strings.HasPrefix(e.Message, "unsupported startup parameter")
}

// IsConflict says whether the transaction lost against another one and may be tried again.
func IsConflict(err error) bool { return is(err, "40001", "40P01", "55P03") }

// IsDuplicate says whether err is a row's that is there already.
func IsDuplicate(err error) bool { return is(err, "23505") }

// IsNoTable says whether a statement names a table that is not there.
func IsNoTable(err error) bool { return is(err, "42P01") }

// isDenied says whether the server does not let us at the database, or has none of that name.
func isDenied(err error) bool { return is(err, "3D000", "28000", "28P01", "42501", "25006") }

// Fault turns what the driver and the server say into a fault. What isn't listed is a mistake of ours and stays as it
// is, which the caller sees as internal; so do faults, and the end of a context. The texts are what callers are told:
// what is larger than the database takes, and that it is away.
func Fault(err error, tooLarge, away string) error {
	if _, ok := errors.AsType[*fault.Error](err); err == nil || ok || errors.Is(err, context.Canceled) {
		return err
	}
	switch {
	case errors.Is(err, pgconn.ErrReadOnlyConnection), is(err, "25006"):
		away = serverdb.TakesNoWrites
	case is(err, "42501"):
		away = serverdb.LacksRight
	case is(err, "3D000", "28000", "28P01"):
		away = serverdb.LetsNobodyIn
	case is(err, "57014"):
		away = serverdb.TookTooLong + " (statement_timeout)"
	}
	switch {
	case isDenied(err), IsAway(err), IsConflict(err):
		f := fault.Wrap(err, fault.StoreUnavailable, "%s", away)
		f.RetryAfter = 2 * time.Second
		return f
	case is(err, "53100", "53400"):
		return fault.Wrap(err, fault.StoreFull, "%s", serverdb.HasNoSpace)
	case is(err, "54000", "22001"):
		return fault.Wrap(err, fault.BodyTooLarge, "%s", tooLarge)
	case is(err, "42P01", "42703", "XX001", "XX002"):
		return fault.Wrap(err, fault.StoreCorrupt,
			"a table of the database is missing, damaged or was changed; an operator must restore it")
	}
	return err
}
