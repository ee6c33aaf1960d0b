package dual

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

// databaseFile describes the outbox at path; a test reads the pragmas back.
func databaseFile(path string) sqlitedb.File {
	return sqlitedb.File{Path: path, ApplicationID: 0x486f6c6f, Shrinks: true, Pragmas: []string{ // "Holo"
		"auto_vacuum(FULL)", // a backlog that was paid gives its space back
		"secure_delete(1)",  // resources may hold secrets
		"journal_size_limit(33554432)",
	}}
}

// migrate brings the schema up to date.
func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	s := schema.Schema{Steps: migrations, Dialect: goose.DialectSQLite3, Of: "outbox"}
	return s.Migrate(ctx, db, log)
}
