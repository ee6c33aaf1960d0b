package mysqldb

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"

	mysqldriver "github.com/go-sql-driver/mysql"
)

// The errors of MySQL, MariaDB (some of the 1900s and 4000s) and TiDB (8000 and above).
const (
	errUnknownDatabase = 1049
	errNoSuchTable     = 1146
)

// IsAway says whether the connection or the server behind it is lost, or does not answer:
// nothing is wrong with the statement, and its outcome is unknown.
func IsAway(err error) bool {
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, mysqldriver.ErrInvalidConn) ||
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
		1969, 3024, // it has ended a statement that took too long
		1047,                               // a Galera node without its cluster
		3100,                               // a server that its group does not answer
		9001, 9002, 9003, 9004, 9005, 9010, // TiDB's store is away or busy
	}, Number(err))
}

// IsConflict says whether the transaction lost against another one and may be tried again.
func IsConflict(err error) bool {
	return slices.Contains([]uint16{
		1205, 1213, 3572, // lock wait timeout, deadlock, NOWAIT
		1020,                         // MariaDB: the row changed since it was read
		1412,                         // the table was changed since the transaction began to read
		3101,                         // the group of servers has undone the transaction at its COMMIT
		8002, 8022, 8027, 8028, 9007, // TiDB: write conflict, or the schema changed meanwhile
	}, Number(err))
}

// IsDenied says whether the server does not let us at the database, or has none of that name:
// it may be restored from a backup just now.
func IsDenied(err error) bool {
	return slices.Contains([]uint16{errUnknownDatabase, 1044, 1045, 1142, 1143, 1227, 1290, 1396, 1698, 1792, 1820, 1836,
		1862, 3118, 3159}, Number(err))
}

// IsDistrusted says whether client and server could not agree on a connection, because a
// certificate has expired say.
func IsDistrusted(err error) bool {
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

// IsTooLarge says whether a packet, a row or a transaction is larger than the server takes.
func IsTooLarge(err error) bool {
	return errors.Is(err, mysqldriver.ErrPktTooLarge) ||
		slices.Contains([]uint16{1153, 1301, 1118, 8004, 8025},
			Number(err)) // of a packet, a row; TiDB: a transaction, an entry
}

// IsFull says whether the server has no space left.
func IsFull(err error) bool { return slices.Contains([]uint16{1021, 1114}, Number(err)) }

// IsDuplicate says whether err is a row's that is there already.
func IsDuplicate(err error) bool { return slices.Contains([]uint16{1062, 1586}, Number(err)) }

// IsDamage says whether a table or a column is missing or damaged.
func IsDamage(err error) bool {
	return slices.Contains([]uint16{errNoSuchTable, 1054, 1034, 1035, 1194, 1195, 1712, 1932, 1877}, Number(err))
}

// Number returns the server's error number, 0 for an error of another kind.
func Number(err error) uint16 {
	if e, ok := errors.AsType[*mysqldriver.MySQLError](err); ok {
		return e.Number
	}
	return 0
}

// IsNoTable says whether a statement names a table that is not there.
func IsNoTable(err error) bool { return Number(err) == errNoSuchTable }
