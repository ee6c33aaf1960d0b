package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date. Each step and the note that it was taken are one
// transaction, so a kill in the middle leaves a step done or not begun, and the next start
// goes on from there. The directory's lock keeps others out meanwhile.
func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, steps,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	have, want, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	if have > want {
		return fmt.Errorf("it was made by a newer holdfast: its schema is at %d, and this program knows %d; run the newer one, or restore a backup from before", have, want)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate the schema from %d to %d: %w", have, want, err)
	}
	for _, step := range results {
		log.InfoContext(ctx, "state store migrated", "to", step.Source.Version, "took", step.Duration)
	}
	return nil
}
