package mysql

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/holdfast/holdfast/fault"
)

// retryAfter is what a caller is told while the database is away.
const retryAfter = 2 * time.Second

// The errors of MySQL, MariaDB (some of the 1900s and 4000s) and TiDB (8000 and above).
const (
	errUnknownDatabase = 1049
	errNoSuchTable     = 1146
)

// storeError turns what the driver and the server say into a fault. What isn't listed is a
// mistake of ours and stays as it is, which the caller sees as internal.
func storeError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	switch number := numberOf(err); {
	case isAway(err), isConflict(err), isDenied(number), isDistrusted(err):
		return unavailable(err)
	case number == 1021, number == 1114: // disk full, table full
		return fault.Wrap(err, fault.StoreFull, "the database has no space left")
	case isTooLarge(err):
		return fault.Wrap(err, fault.BodyTooLarge, "the upload is larger than the database takes")
	case isDamage(number):
		return fault.Wrap(err, fault.StoreCorrupt, "a table of the database is missing, damaged or was changed; an operator must restore it")
	}
	return err
}

func unavailable(err error) error {
	f := fault.Wrap(err, fault.StoreUnavailable, "the database can't be reached or can't work right now; try again")
	f.RetryAfter = retryAfter
	return f
}

func errClosed() error { return fault.New(fault.StoreUnavailable, "the store is closed") }

// isAway says whether the connection or the server behind it is lost, or does not answer:
// nothing is wrong with the statement, and its outcome is unknown.
func isAway(err error) bool {
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, mysqldriver.ErrInvalidConn) ||
		errors.Is(err, mysqldriver.ErrMalformPkt) || errors.Is(err, mysqldriver.ErrPktSync) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return slices.Contains([]uint16{
		1040, 1203, 1226, // too many connections
		1037, 1041, // the server is out of memory
		1053, 1079, 1317, 1927, // it shuts down, or somebody ended the statement or connection
		1152, 1158, 1159, 1160, 1161, 1184, // it lost the connection
		1129, 1130, 4031, // it refuses this host, or has dropped an idle session
		1047,                               // a Galera node without its cluster
		9001, 9002, 9003, 9004, 9005, 9010, // TiDB's store is away or busy
	}, numberOf(err))
}

// isConflict says whether the transaction lost against another one and may be tried again.
func isConflict(err error) bool {
	return slices.Contains([]uint16{
		1205, 1213, 3572, // lock wait timeout, deadlock, NOWAIT
		1020,                         // MariaDB: the row changed since it was read
		8002, 8022, 8027, 8028, 9007, // TiDB: write conflict, or the schema changed meanwhile
	}, numberOf(err))
}

// isDenied says whether the server does not let us at the database, or has none of that name:
// it may be restored from a backup just now.
func isDenied(number uint16) bool {
	return slices.Contains([]uint16{errUnknownDatabase, 1044, 1045, 1142, 1143, 1227, 1290, 1396, 1698, 1792, 1820, 1836, 1862, 3118, 3159}, number)
}

// isDistrusted says whether client and server could not agree on a connection, because a
// certificate has expired say.
func isDistrusted(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	return slices.ContainsFunc([]error{
		mysqldriver.ErrNoTLS, mysqldriver.ErrCleartextPassword, mysqldriver.ErrNativePassword,
		mysqldriver.ErrOldPassword, mysqldriver.ErrOldProtocol, mysqldriver.ErrUnknownPlugin,
	}, func(known error) bool { return errors.Is(err, known) })
}

func isTooLarge(err error) bool {
	return errors.Is(err, mysqldriver.ErrPktTooLarge) ||
		slices.Contains([]uint16{1153, 1301, 1118, 8004, 8025}, numberOf(err)) // of a packet, a row; TiDB: a transaction, an entry
}

func isDamage(number uint16) bool {
	return slices.Contains([]uint16{errNoSuchTable, 1054, 1034, 1035, 1194, 1195, 1712, 1932, 1877}, number)
}

// isRefusedJSON says whether the server takes the text for no JSON of its kind: a number
// beyond a double (MySQL, TiDB) or half of a surrogate pair (all of them).
func isRefusedJSON(err error) bool {
	return slices.Contains([]uint16{3140, 3141, 3146, 3157, 3903, 4025, 4038}, numberOf(err))
}

// numberOf returns the server's error number, 0 for an error of another kind.
func numberOf(err error) uint16 {
	if e, ok := errors.AsType[*mysqldriver.MySQLError](err); ok {
		return e.Number
	}
	return 0
}
