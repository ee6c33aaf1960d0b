package index

import (
	"context"
	"database/sql"
	"embed"
	"log/slog"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// databaseFile describes the database at path; a test reads the pragmas back.
func databaseFile(path string) sqlitedb.File {
	return sqlitedb.File{Path: path, ApplicationID: 0x48665570, // "HfUp"
		Pragmas: []string{"journal_size_limit(67108864)"}}
}

// migrate brings the schema up to date.
func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	s := schema.Schema{Steps: migrations, Dialect: goose.DialectSQLite3, Of: "upload index"}
	return s.Migrate(ctx, db, log)
}
