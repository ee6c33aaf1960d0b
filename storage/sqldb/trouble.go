package sqldb

import (
	"errors"

	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/pgdb"
)

// IsConflict says of a server's error that the transaction lost against another one and may be tried again.
func (d Dialect) IsConflict(err error) bool {
	return d == MySQL && mysqldb.IsConflict(err) || d == Postgres && pgdb.IsConflict(err)
}

// IsAway says of a server's error that the connection or the server is lost: the statement's outcome is unknown.
func (d Dialect) IsAway(err error) bool {
	return d == MySQL && mysqldb.IsAway(err) || d == Postgres && pgdb.IsAway(err)
}

// IsDuplicate says of a server's error that a row is there already.
func (d Dialect) IsDuplicate(err error) bool {
	return d == MySQL && mysqldb.IsDuplicate(err) || d == Postgres && pgdb.IsDuplicate(err)
}

// IsUndone says whether a transaction whose COMMIT a server answered with err has not happened for sure: it lost
// against another, or one of its rows is there already. Other errors a server may also have on the way from its log
// to its files, when what was to be committed may be there after all.
func (d Dialect) IsUndone(err error) bool { return d.IsConflict(err) || d.IsDuplicate(err) }

// IsNoTable says of a server's error that there is no such table.
func (d Dialect) IsNoTable(err error) bool {
	return d == MySQL && mysqldb.IsDamage(err) || d == Postgres && pgdb.Code(err) == "42P01"
}

// IsServers says that it is the server that has answered with err.
func (d Dialect) IsServers(err error) bool {
	return d == MySQL && mysqldb.Number(err) != 0 || d == Postgres && pgdb.Code(err) != ""
}

// Fault turns what a server and its driver say into a fault. The texts are what callers are told: what is larger than
// the database takes, and that it is away.
func (d Dialect) Fault(err error, tooLarge, away string) error {
	if errors.Is(err, ErrUndone) { // cut off again and again
		return d.Unavailable(err, away)
	}
	if d == Postgres {
		return pgdb.Fault(err, tooLarge, away)
	}
	return mysqldb.Texts{TooLarge: tooLarge, Away: away}.Fault(err)
}

// Unavailable is the fault of a server that is away.
func (d Dialect) Unavailable(err error, away string) error {
	return mysqldb.Texts{Away: away}.Unavailable(err)
}
