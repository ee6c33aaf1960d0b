package sqluploads

import (
	"embed"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqldb"
)

//go:embed migrations
var migrations embed.FS

// schemaTable notes which migrations were run.
const schemaTable = "inventory_schema"

// Schema is that of uploads in a database of MySQL's or PostgreSQL's. Of PostgreSQL's it also makes an organization's
// table.
func Schema(in sqldb.Dialect) schema.Schema {
	s := schema.Schema{Steps: migrations, Folder: "migrations/mysql", Dialect: goose.DialectMySQL, Table: schemaTable,
		Of: "upload database"}
	if in == sqldb.Postgres {
		s.Folder, s.Dialect, s.Further = "migrations/postgres", goose.DialectPostgres, postgresTable
	}
	return s
}
