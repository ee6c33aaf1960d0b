package states

import (
	"embed"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqldb"
)

//go:embed migrations/mysql/*.sql migrations/postgres/*.sql
var migrations embed.FS

// schemaTable notes which migrations were run.
const schemaTable = "state_schema"

// Schema is what a database is to look like.
func Schema(in sqldb.Dialect) schema.Schema {
	s := schema.Schema{Steps: migrations, Folder: "migrations/mysql", Dialect: goose.DialectMySQL, Table: schemaTable,
		Of: "state database"}
	if in == sqldb.Postgres {
		s.Folder, s.Dialect = "migrations/postgres", goose.DialectPostgres
	}
	return s
}
