package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage/dump"
	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/mysqldump"
	"github.com/holdfast/holdfast/storage/pgdump"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/states"
)

// LoadDump makes what a dump has in the database of the settings, which has to be empty.
func LoadDump(ctx context.Context, settings configs.Settings, from io.Reader, log *slog.Logger) error {
	return loadDump(ctx, settings, from, log, nil)
}

// LoadDumpAt is LoadDump, with what Rewind does to the states. All of both is done in the end, or nothing is.
func LoadDumpAt(ctx context.Context, settings configs.Settings, from io.Reader, at time.Time,
	log *slog.Logger) (done Rewound, err error) {
	settings.State.Storage = settings.Database.Engine()
	err = loadDump(ctx, settings, from, log, func(ctx context.Context) (err error) {
		if err := hasStates(ctx, settings, log); err != nil {
			return err
		}
		done, err = Rewind(ctx, settings, at, log)
		return err
	})
	return done, err
}

func loadDump(ctx context.Context, settings configs.Settings, from io.Reader, log *slog.Logger,
	do func(context.Context) error) error {
	rest := dump.Rest{Table: markTable, Make: markColumns(dialectOf(settings.Database)), Mark: markLoad, Marked: isLoad,
		Unmark: unmarkLoad, Do: do}
	if settings.Database.Engine() == configs.Postgres {
		return pgdump.Load(ctx, postgresOptions(settings.Database, log), postgresSchemas(), from, rest)
	}
	o, err := serverOptions(settings.Database, log).WithDefaults()
	if err != nil {
		return err
	}
	return mysqldump.Load(ctx, o, from, rest)
}

// hasStates refuses a database in which no server has kept states.
func hasStates(ctx context.Context, settings configs.Settings, log *slog.Logger) (err error) {
	errNone := errors.New("there were no states in the database: `holdfast restore --at` rolls back those that a " +
		"folder has; nothing was loaded")
	of := states.Schema(dialectOf(settings.Database))
	db, err := openPool(settings.Database, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var some bool
	if err = db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+of.Table+")").Scan(&some); isNoTable(err) {
		return errNone
	}
	return err
}

// aLoad is what a mark calls the other end of a load that is not finished. No place is called so: none moves to it, and
// servers wait until the mark is gone.
const aLoad = "a backup (holdfast backup load)"

// markLoad marks the database as the target of a move. It fails where the dump has such a mark already.
func markLoad(tx sqldb.Tx, table string) error {
	text, err := json.Marshal(Mark{Role: markTarget, Other: aLoad, At: time.Now().UTC()})
	if err != nil {
		return err
	}
	if _, err = tx.Exec("INSERT INTO "+table+" (role, mark) VALUES (?, ?)", markTarget, text); err != nil {
		return fmt.Errorf("mark the database as not finished, unless a move to it was not when it was backed up: %w", err)
	}
	return nil
}

// isLoad reports whether the database has what a load has left that did not end.
func isLoad(q moving.Querier) (bool, error) {
	marks, err := sqldb.All(q, func(rows *sql.Rows) (m Mark, err error) {
		var text []byte
		if err = rows.Scan(&text); err == nil {
			err = json.Unmarshal(text, &m)
		}
		return m, err
	}, "SELECT mark FROM "+markTable+" WHERE role = ?", markTarget)
	return err == nil && len(marks) > 0 && marks[0].Other == aLoad, err
}

// isWhole refuses a database of which a load that did not end has left a part.
func isWhole(ctx context.Context, moment *dump.Moment) error {
	if !moment.Has(markTable) {
		return nil
	}
	return moment.Look(ctx, func(q moving.Querier) error {
		left, err := isLoad(q)
		if left {
			err = errors.New("the database has what a `holdfast backup load --at` has left that did not end: run it again")
		}
		return err
	})
}

func unmarkLoad(tx sqldb.Tx) error {
	_, err := tx.Exec("DELETE FROM "+markTable+" WHERE role = ?", markTarget)
	return err
}
