package sqluploads

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// dialect is which SQL a server speaks, for the statements that differ. All others are the same text, with ? for
// their values.
type dialect struct{ sqldb.Dialect }

func (d dialect) isPostgres() bool { return d.Dialect == sqldb.Postgres }

// querier is what both a pool and a connection of it can do.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// unprepared has a statement of many rows not be prepared: its text hardly comes again, and is long.
func (d dialect) unprepared(args []any) []any {
	if d.isPostgres() {
		return append([]any{pgdb.Unprepared}, args...)
	}
	return args
}

// lockOrganization is a query for the time of the organization's newest record, and how many bytes it uses, which has
// its other transactions wait for this one. Once PostgreSQL has the lock, only the locked row is as of then: it does
// not say the bytes here, and is asked for usedBytes.
func (d dialect) lockOrganization() string {
	if d.isPostgres() {
		return "SELECT newest, CAST(NULL AS BIGINT) FROM inventory_organizations WHERE org = ? FOR UPDATE"
	}
	return `SELECT o.newest, u.bytes FROM inventory_organizations o
		LEFT JOIN inventory_usage u ON u.org = o.org WHERE o.org = ? FOR UPDATE`
}

// usedBytes is a query for how many bytes an organization uses.
const usedBytes = "SELECT bytes FROM inventory_usage WHERE org = ?"

// jsonValue is the placeholder of a JSON text.
func (d dialect) jsonValue() string {
	if d.isPostgres() {
		return "CAST(? AS json)"
	}
	return "?"
}

// attributesText is the exact text of a record's attributes.
func (d dialect) attributesText() string {
	if d.isPostgres() {
		return "CAST(attributes AS text)" // which is how the type json keeps them
	}
	return "COALESCE(attributes_text, attributes)"
}

// adding returns what follows the rows of an INSERT: a row whose key is there gets the new one's count added, and its
// other values.
func (d dialect) adding(table, key, count string, others ...string) string {
	sets := []string{count + " = " + table + "." + count + " + " + d.Given(count)}
	for _, column := range others {
		sets = append(sets, column+" = "+d.Given(column))
	}
	return d.Or(key, strings.Join(sets, ", "))
}

// hasTable is a query for how many tables of a name the database has.
func (d dialect) hasTable() string {
	schema := "DATABASE()"
	if d.isPostgres() {
		schema = "current_schema()"
	}
	return "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = " + schema + " AND table_name = ?"
}

// tableOf returns the name of the organization's table. It needs no quotes.
func tableOf(org uuid.UUID) string { return "org_" + strings.ReplaceAll(org.String(), "-", "_") }

// createTable returns the statements that make the organization's table, unless it is there, and that then enter the
// organization: whoever finds it entered finds the table. The collation compares names byte for byte.
func (d dialect) createTable(org uuid.UUID, collation string) []string {
	table := tableOf(org)
	enter := d.InsertNew("inventory_organizations (org) VALUES ('" + org.String() + "')")
	if d.isPostgres() {
		// It is one transaction, so another node may be at it just now: two at once would both miss the table, and one
		// fail.
		lock := sha256.Sum256([]byte("holdfast table " + table))
		statements := []string{fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", int64(binary.BigEndian.Uint64(lock[:8])))}
		statements = append(append(statements, postgresTable(table)...), enter)
		return []string{strings.Join(statements, ";\n")}
	}
	name := "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE " + collation + " NOT NULL"
	// The last comment is for TiDB, whose IDs would else grow only as seen from one of its
	// nodes.
	return []string{"CREATE TABLE IF NOT EXISTS " + table + ` (
		id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
		timestamp DATETIME(6) NOT NULL,
		org_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
		provider ` + name + `,
		category ` + name + `,
		resource_type ` + name + `,
		resource_name ` + name + `,
		attributes JSON NOT NULL,
		attributes_text LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
			COMMENT 'the exact text, where attributes is not',
		KEY idx_timestamp (timestamp),
		KEY idx_resource_type (resource_type)
		) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 /*T![auto_id_cache] AUTO_ID_CACHE 1 */`, enter}
}

// postgresTable returns the statements that make an organization's table in PostgreSQL, unless it is there; none where
// no organization's table has that name. Names of indexes are the schema's there, so each has the table's in front.
func postgresTable(table string) []string {
	text, isOurs := strings.CutPrefix(table, "org_")
	org, err := uuid.Parse(strings.ReplaceAll(text, "_", "-"))
	if !isOurs || err != nil || tableOf(org) != table {
		return nil
	}
	return []string{
		"CREATE TABLE IF NOT EXISTS " + table + ` (
			id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
			timestamp TIMESTAMPTZ NOT NULL,
			org_id CHAR(36) COLLATE "C" NOT NULL,
			provider VARCHAR(255) COLLATE "C" NOT NULL,
			category VARCHAR(255) COLLATE "C" NOT NULL,
			resource_type VARCHAR(255) COLLATE "C" NOT NULL,
			resource_name VARCHAR(255) COLLATE "C" NOT NULL,
			attributes JSON NOT NULL
		)`,
		"CREATE INDEX IF NOT EXISTS " + table + "_idx_timestamp ON " + table + " (timestamp)",
		"CREATE INDEX IF NOT EXISTS " + table + "_idx_resource_type ON " + table + " (resource_type)",
	}
}
