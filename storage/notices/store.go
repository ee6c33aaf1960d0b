// Package notices is the outbox of notices: an SQLite database with those that wait to be told,
// and how far the audit log was read for them.
package notices

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// DatabaseName is the name of the file.
const DatabaseName = "notices.db"

// Store implements webhook.Outbox.
type Store struct {
	log    *slog.Logger
	writer *sqlitedb.Writer
	dirt   sqlitedb.Dirt // what was deleted
}

// Open opens the outbox in a folder, which it makes if needed. One process at a time may have it.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := folder.Make(dir); err != nil {
		return nil, err
	}
	writer, err := sqlitedb.NewWriter(ctx,
		sqlitedb.Options{File: databaseFile(filepath.Join(dir, DatabaseName)), Migrate: migrate, Log: log})
	if err != nil {
		return nil, fmt.Errorf("open the outbox of notices: %w", err)
	}
	return &Store{log: log, writer: writer}, nil
}

func databaseFile(path string) sqlitedb.File {
	return sqlitedb.File{Path: path, ApplicationID: 0x486f6c6e, Shrinks: true, Pragmas: []string{ // "Holn"
		"auto_vacuum(FULL)", // what was told gives its space back
		"journal_size_limit(4194304)",
	}}
}

func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	s := schema.Schema{Steps: migrations, Dialect: goose.DialectSQLite3, Of: "outbox of notices"}
	return s.Migrate(ctx, db, log)
}

// Close waits for what has begun.
func (s *Store) Close() error { return s.writer.Close() }

// Keep implements webhook.Outbox.
func (s *Store) Keep(ctx context.Context, position uint64, notices []audit.Event) error {
	return s.do(ctx, func(t *sqlitedb.Tx) error {
		_, err := t.Exec(`INSERT INTO position (id, sequence) VALUES (1, ?) ON CONFLICT DO UPDATE SET sequence = excluded.sequence`, int64(position))
		for _, n := range notices {
			if err != nil {
				return err
			}
			err = keep(t, n)
		}
		return err
	})
}

func keep(t *sqlitedb.Tx, n audit.Event) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	_, err = t.Exec(`INSERT INTO notices (org, sequence, at, event) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		n.Org.String(), int64(n.Sequence), n.At.UnixMicro(), string(text))
	return err
}

// Remove implements webhook.Outbox.
func (s *Store) Remove(ctx context.Context, n audit.Event) error {
	defer s.dirt.Add()
	return s.do(ctx, func(t *sqlitedb.Tx) error {
		_, err := t.Exec(`DELETE FROM notices WHERE org = ? AND sequence = ? AND at = ?`, n.Org.String(), int64(n.Sequence),
			n.At.UnixMicro())
		return err
	})
}

// Load implements webhook.Outbox.
func (s *Store) Load(ctx context.Context) (position uint64, known bool, waiting []audit.Event, err error) {
	err = s.do(ctx, func(t *sqlitedb.Tx) error {
		waiting, known = nil, true // there may have been a try before
		err := t.QueryRow(`SELECT sequence FROM position`).Scan(&position)
		if errors.Is(err, sql.ErrNoRows) {
			known, err = false, nil
		}
		if err == nil {
			waiting, err = s.load(ctx, t)
		}
		return err
	})
	return position, known, waiting, err
}

// load reads the notices that wait. One that is damaged is passed over and stays, for a person to look
// at: all the others would wait behind it for ever.
func (s *Store) load(ctx context.Context, t *sqlitedb.Tx) (waiting []audit.Event, err error) {
	rows, err := t.Conn().QueryContext(context.WithoutCancel(ctx),
		`SELECT org, sequence, event FROM notices ORDER BY sequence, at`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var org string
		var sequence int64
		var text []byte
		var n audit.Event
		if err := rows.Scan(&org, &sequence, &text); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &n); err != nil {
			s.log.ErrorContext(ctx, "a notice that waits is damaged; it is told to nobody, and stays in "+DatabaseName, "org",
				org, "sequence", sequence, "error", err)
			continue
		}
		waiting = append(waiting, n)
	}
	return waiting, rows.Err()
}

// do has the work done in a transaction, and returns when it is durable. All of it is the
// server's own work, whoever is told: what an organization may have waiting is bounded before.
func (s *Store) do(ctx context.Context, run func(*sqlitedb.Tx) error) error {
	return s.writer.Submit(ctx, sqlitedb.Job{Run: run})
}
