package notices

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// DatabaseName is the name of the file.
const DatabaseName = "notices.db"

// Folder is the outbox in a folder.
type Folder struct{ Store }

// Open opens the outbox in a folder, which it makes if needed. One process at a time may have it.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := folder.Make(dir); err != nil {
		return nil, err
	}
	file := File(dir)
	db, err := sqldb.Open(ctx, sqldb.Options{File: &file, Log: log})
	if err != nil {
		return nil, fmt.Errorf("open the outbox of notices: %w", err)
	}
	return &Folder{Store{db: db, log: log}}, nil
}

// Close waits for what has begun.
func (f *Folder) Close() error { return f.db.Close() }

// Freeze implements sqlitedb.Freezer.
func (f *Folder) Freeze(ctx context.Context) (thaw func(), err error) { return f.db.Freeze(ctx) }

// File is the outbox in a folder, which is absolute.
func File(dir string) sqldb.File {
	return sqldb.File{Migrate: migrate, File: sqlitedb.File{
		Path: filepath.Join(dir, DatabaseName), ApplicationID: 0x486f6c6e, Shrinks: true, Pragmas: []string{ // "Holn"
			"auto_vacuum(FULL)", // what was told gives its space back
			"journal_size_limit(4194304)",
		},
	}}
}

func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	s := schema.Schema{Steps: migrations, Dialect: goose.DialectSQLite3, Of: "outbox of notices"}
	return s.Migrate(ctx, db, log)
}

// Shapes say how any database keeps the notices that wait, and how far the audit log was read for them.
func Shapes() []moving.Shape {
	waiting := moving.Table{Name: "notices", Key: append(moving.Texts("org"), moving.Ints("sequence", "at")...),
		Rest: moving.Blobs("event")}
	position := moving.Table{Name: "position of notices", Key: moving.Ints("id"), Rest: moving.Ints("sequence")}
	return []moving.Shape{{Table: waiting, Into: "notices"}, {Table: position, Into: "notice_position"}}
}
