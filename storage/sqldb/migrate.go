package sqldb

import (
	"embed"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/storage/schema"
)

//go:embed migrations
var migrations embed.FS

// Schema is what the database is to look like in a dialect.
func Schema(d Dialect) schema.Schema {
	if d == Postgres {
		return schema.Schema{Steps: migrations, Folder: "migrations/postgres", Dialect: goose.DialectPostgres,
			Table: "run_schema", Of: "run database"}
	}
	if d == MySQL {
		return schema.Schema{Steps: migrations, Folder: "migrations/mysql", Dialect: goose.DialectMySQL, Table: "run_schema",
			Of: "run database"}
	}
	return schema.Schema{Steps: migrations, Folder: "migrations/sqlite", Dialect: goose.DialectSQLite3, Of: "run database"}
}
