package states

import (
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// dialect is the SQL that the servers don't have in common. All other texts in this package mean the same to both.
type dialect struct{ sqldb.Dialect }

func (d dialect) isPostgres() bool { return d.Dialect == sqldb.Postgres }

// index has an index be used: with many rows a server of MySQL's protocol may prefer to read them all.
func (d dialect) index(name string) string {
	if d.isPostgres() {
		return ""
	}
	return " FORCE INDEX (" + name + ")"
}

// text is the placeholder of a text where no column says that it is one.
func (d dialect) text() string {
	if d.isPostgres() {
		return "CAST(? AS BYTEA)"
	}
	return "?"
}

// integer has a sum be a whole number.
func (d dialect) integer(sum string) string {
	if d.isPostgres() {
		return "CAST(" + sum + " AS BIGINT)"
	}
	return "CAST(" + sum + " AS SIGNED)"
}

// picked is state.StatesQuery.Picks. Names are bytes of ASCII, which have no small letters in MySQL; what they
// contain is compared as bytes, whatever those are.
func (d dialect) picked() string {
	if d.isPostgres() {
		const lower = `convert_to(lower(convert_from(s.name, 'UTF8') COLLATE "C"), 'UTF8')`
		return ` AND position(CAST(? AS BYTEA) IN ` + lower + `) > 0` +
			` AND (CAST(? AS BIGINT) < 0 OR position('/' IN substring(s.name FROM CAST(? AS INT) + 1)) = 0)` +
			` AND (CAST(? AS INT) = 0 OR EXISTS (SELECT 1 ` + openCandidates + `))`
	}
	return ` AND LOCATE(CAST(? AS BINARY), CAST(LOWER(CONVERT(s.name USING latin1)) AS BINARY)) > 0` +
		` AND (? < 0 OR LOCATE('/', SUBSTRING(s.name, ? + 1)) = 0)` +
		` AND (? = 0 OR EXISTS (SELECT 1 ` + openCandidates + `))`
}

// lockLog has nobody else move the journal on, in a transaction that sees one moment, which begins with it, and that
// takes as long as there is much to count.
func (d dialect) lockLog() string {
	if d.isPostgres() {
		return "SET LOCAL statement_timeout = 0; LOCK TABLE state_log IN EXCLUSIVE MODE"
	}
	return "SELECT id FROM state_log FOR UPDATE"
}

const isDemoted = 2

// unlessDemoted has a query, whose rows begin with a mark, return one more row at a server that takes no
// writes: first, with its own mark and so many fields of no meaning. One of PostgreSQL's ends its sessions before it
// is one.
func (d dialect) unlessDemoted(fields int, query string) string {
	if d.isPostgres() {
		return query
	}
	return `SELECT ` + strconv.Itoa(isDemoted) + strings.Repeat(`, 0`, fields) + ` FROM DUAL WHERE ` + mysqldb.Demoted +
		` UNION ALL ` + query
}

// demoted asks whether the server takes no writes.
func (d dialect) demoted() string {
	if d.isPostgres() {
		return "SELECT pg_is_in_recovery()"
	}
	return "SELECT " + mysqldb.Demoted
}

// texts are the queries that come all the time. What must be current is looked up by a statement that says in the
// same moment whether the server is one to ask: isDemoted is the mark of the row that it has instead of an answer.
type texts struct{ head, current, version, newestOfOne, candidate, lockHead string }

func (d dialect) texts() texts {
	// A row that was waited for is looked at anew, and what is joined with it is not: PostgreSQL locks it before.
	lockHead := sqlLockedHead
	if !d.isPostgres() {
		lockHead += ` FOR UPDATE`
	}
	return texts{
		head: d.unlessDemoted(len(new(stateengine.HeadScan).Fields()),
			`SELECT 0, `+stateengine.HeadColumns+fromHeads+ofRef),
		current: d.unlessDemoted(pieceFields, ownPieces+newestOf+joinOwn+ofRef+isReadable+` UNION ALL `+
			basePieces+newestOf+joinBase+ofRef+isReadable),
		version: d.unlessDemoted(pieceFields, ownPieces+versionOf+joinOwn+ofRef+isNumber+` UNION ALL `+
			basePieces+versionOf+joinBase+ofRef+isNumber),
		newestOfOne: d.newest(1),
		candidate:   d.unlessDemoted(5+len(new(stateengine.CandidateRow).Fields()), sqlCandidate),
		lockHead:    lockHead,
	}
}
