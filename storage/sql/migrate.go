package sqluploads

import (
	"embed"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/storage/schema"
)

//go:embed migrations
var migrations embed.FS

// schemaTable notes which migrations were run.
const schemaTable = "inventory_schema"

// Schema is that of uploads in a database of MySQL's or PostgreSQL's. Of PostgreSQL's it also makes an organization's
// table.
func Schema(dialect goose.Dialect) schema.Schema {
	s := schema.Schema{Steps: migrations, Folder: "migrations/mysql", Dialect: dialect, Table: schemaTable,
		Of: "upload database"}
	if dialect == goose.DialectPostgres {
		s.Folder, s.Further = "migrations/postgres", postgresTable
	}
	return s
}
