package notices

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"

	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// File is the outbox in a folder, which is absolute, and what brings it up to date.
func File(dir string) (sqlitedb.File, func(context.Context, *sql.DB, *slog.Logger) error) {
	return databaseFile(filepath.Join(dir, DatabaseName)), migrate
}

// Records are the notices that wait, and how far the audit log was read for them.
func Records() (waiting, position moving.Table) {
	waiting = moving.Table{Name: "notices", Key: append(moving.Texts("org"), moving.Ints("sequence", "at")...),
		Rest: moving.Texts("event")}
	return waiting, moving.Table{Name: "position of notices", Key: moving.Ints("id"), Rest: moving.Ints("sequence")}
}

// Shapes say how the file keeps them.
func Shapes() []moving.Shape {
	waiting, position := Records()
	return []moving.Shape{{Table: waiting, Into: "notices"}, {Table: position, Into: "position"}}
}

// Freeze implements sqlitedb.Freezer.
func (s *Store) Freeze(ctx context.Context) (thaw func(), err error) { return s.writer.Freeze(ctx) }
