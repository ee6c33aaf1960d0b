package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"log/slog"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/storage/schema"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date. The directory's lock keeps others out meanwhile.
func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	s := schema.Schema{Steps: migrations, Dialect: goose.DialectSQLite3, Of: "state store"}
	return s.Migrate(ctx, db, log)
}
