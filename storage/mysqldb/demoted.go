package mysqldb

import (
	"database/sql"
	"errors"
)

// Demoted is true in a statement at a server that takes no writes. A failover leaves the old server like
// that, with the sessions that it has: another one may have newer data, so nothing that must be current is
// read from it. All engines have the variable; TiDB, whose nodes are one database, has it for show.
const Demoted = `CONCAT(@@global.read_only) NOT IN ('0', 'OFF')`

// ErrDemoted is what a read of such a server is worth.
var ErrDemoted = errors.New("the database takes no writes (read_only): another server may have what is newer, " +
	"so nothing is read from this one")

// Redial ends the connections of a pool that nobody uses, so that new ones go to where the address leads
// now.
func (o Options) Redial(db *sql.DB) {
	db.SetMaxIdleConns(0)
	db.SetMaxIdleConns(o.MaxIdleConns)
}
