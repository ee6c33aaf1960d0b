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
	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldump"
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
	settings.State.Storage = configs.MySQL
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
	o, err := serverOptions(settings.Database, log).WithDefaults()
	if err != nil {
		return err
	}
	return mysqldump.Load(ctx, o, from, mysqldump.Rest{Table: markTable, Make: markColumns, Mark: markLoad,
		Marked: isLoad, Unmark: unmarkLoad, Do: do})
}

// hasStates refuses a database in which no server has kept states.
func hasStates(ctx context.Context, settings configs.Settings, log *slog.Logger) (err error) {
	o, err := serverOptions(settings.Database, log).WithDefaults()
	if err != nil {
		return err
	}
	db, err := o.OpenPool(o.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var some bool
	err = db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+states.Schema(sqldb.MySQL).Table+")").Scan(&some)
	if mysqldb.IsNoTable(err) {
		return errors.New("there were no states in the database: `holdfast restore --at` rolls back those that a folder has; " +
			"nothing was loaded")
	}
	return err
}

// aLoad is what a mark calls the other end of a load that is not finished. No place is called so: none moves to it, and
// servers wait until the mark is gone.
const aLoad = "a backup (holdfast backup load)"

// markLoad marks the database as the target of a move. It fails where the dump has such a mark already.
func markLoad(ctx context.Context, conn *sql.Conn, table string) error {
	text, err := json.Marshal(Mark{Role: markTarget, Other: aLoad, At: time.Now().UTC()})
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "INSERT INTO "+table+" (role, mark) VALUES (?, ?)", markTarget, text)
	if err != nil {
		return fmt.Errorf("mark the database as not finished, unless a move to it was not when it was backed up: %w", err)
	}
	return nil
}

func isLoad(ctx context.Context, conn *sql.Conn) (bool, error) {
	var text []byte
	err := conn.QueryRowContext(ctx, "SELECT mark FROM "+markTable+" WHERE role = ?", markTarget).Scan(&text)
	if mysqldb.IsNoTable(err) || errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	var m Mark
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m.Other == aLoad, err
}

// isWhole refuses a database of which a load that did not end has left a part.
func isWhole(ctx context.Context, dump *mysqldump.Dump) error {
	if !dump.Has(markTable) {
		return nil
	}
	return dump.Look(ctx, func(q moving.Querier) error {
		others, err := sqldb.All(q, func(rows *sql.Rows) (m Mark, err error) {
			var text []byte
			if err = rows.Scan(&text); err == nil {
				err = json.Unmarshal(text, &m)
			}
			return m, err
		}, "SELECT mark FROM "+markTable+" WHERE role = ?", markTarget)
		if err == nil && len(others) > 0 && others[0].Other == aLoad {
			err = errors.New("the database has what a `holdfast backup load --at` has left that did not end: run it again")
		}
		return err
	})
}

func unmarkLoad(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "DELETE FROM "+markTable+" WHERE role = ?", markTarget)
	return err
}
