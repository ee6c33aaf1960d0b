package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"

	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/sqlitedb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// File is the database of the states in a folder, which is absolute, and what brings it up to date.
func File(dir string) (sqlitedb.File, func(context.Context, *sql.DB, *slog.Logger) error) {
	return databaseFile(filepath.Join(dir, databaseName)), migrate
}

// Hold keeps stores from a folder, as a store that is open keeps others.
func Hold(dir string) (release func() error, err error) {
	lock, err := folder.Take(dir, lockName)
	if err != nil {
		return nil, err
	}
	return lock.Close, nil
}

// Shapes say how the database keeps the records of states.
func Shapes() []moving.Shape {
	return []moving.Shape{headShape(), versionShape(), baseShape(), newestShape(),
		{Table: stateengine.LockIDRecords(), Into: "lock_ids"},
		{Table: stateengine.PurgedRecords(), Into: "purged"},
		candidateShape(),
		{Table: stateengine.EventRecords(), Into: "events"}, linkShape(),
		{Table: stateengine.ChainRecords(), Into: "chains"},
		{Table: stateengine.CheckpointRecords(), Into: "audit_checkpoints"},
		{Table: stateengine.KeyRecords(), Into: "data_keys"},
		{Table: stateengine.SealRecords(), Into: "sealing"},
	}
}

func headShape() moving.Shape {
	return moving.Shape{Table: stateengine.HeadRecords(), Into: "states", Delete: dropHead}
}

// dropHead lets versions be without their state until the transaction ends: it may come back otherwise.
func dropHead(tx moving.Tx, key moving.Row) error {
	_, err := tx.Exec("PRAGMA defer_foreign_keys = 1")
	if err == nil {
		_, err = tx.Exec("DELETE FROM states WHERE id = ?", key...)
	}
	return err
}

// versionShape has a version in two rows. What its base is called depends on the database.
func versionShape() moving.Shape {
	table := stateengine.VersionRecords()
	return moving.Shape{
		Table: table, Into: "versions",
		From: "versions v LEFT JOIN bodies b ON b.id = v.id LEFT JOIN versions w ON w.id = b.base",
		Expr: qualified("v", table, map[string]string{
			"encoding": "coalesce(b.encoding, '')", "base": "w.number", "bytes": "b.bytes",
			"stored": "coalesce(length(b.bytes) - 53, 0)",
		}),
		Insert: func(tx moving.Tx, row moving.Row) error { return insertVersion(tx, table, row) },
		Delete: func(tx moving.Tx, key moving.Row) error {
			_, err := tx.Exec("DELETE FROM bodies WHERE id = (SELECT id FROM versions WHERE state = ? AND number = ?)", key...)
			if err == nil {
				_, err = tx.Exec("DELETE FROM versions WHERE state = ? AND number = ?", key...)
			}
			return err
		},
	}
}

// qualified has columns read from a table by its alias, but for some.
func qualified(alias string, t moving.Table, others map[string]string) map[string]string {
	for _, c := range append(append([]moving.Column{}, t.Key...), t.Rest...) {
		if _, ok := others[c.Name]; !ok {
			others[c.Name] = alias + ".`" + c.Name + "`"
		}
	}
	return others
}

// insertVersion adds a version's row, and one of its bytes if they are not gone.
func insertVersion(tx moving.Tx, t moving.Table, row moving.Row) error {
	own := moving.Shape{Table: moving.Table{Key: t.Key, Rest: t.Rest[:len(t.Rest)-3]}, Into: "versions"}
	if err := own.InsertInto(tx, row[:len(t.Key)+len(own.Rest)]); err != nil {
		return err
	}
	encoding, _ := t.Of(row, "encoding").([]byte)
	if len(encoding) == 0 {
		return nil
	}
	body, _ := t.Of(row, "bytes").([]byte)
	_, err := tx.Exec(`INSERT INTO bodies (id, encoding, bytes, base) SELECT id, ?, ?,
		(SELECT w.id FROM versions w WHERE w.state = v.state AND w.number = ?) FROM versions v WHERE v.state = ? AND v.number = ?`,
		string(encoding), orEmpty(body), t.Of(row, "base"), row[0], row[1])
	return err
}

// baseShape has the base of a delta that came before it.
func baseShape() moving.Shape {
	const own = "(SELECT id FROM versions WHERE state = ? AND number = ?)"
	return moving.Shape{
		Table: stateengine.BaseRecords(), Into: "bodies",
		From: "versions v JOIN bodies b ON b.id = v.id JOIN versions w ON w.id = b.base",
		Expr: map[string]string{"state": "v.state", "number": "v.number", "base": "w.number"},
		Insert: func(tx moving.Tx, row moving.Row) error {
			_, err := tx.Exec("UPDATE bodies SET base = "+own+" WHERE id = "+own, row[0], row[2], row[0], row[1])
			return err
		},
		Delete: func(tx moving.Tx, key moving.Row) error {
			_, err := tx.Exec("UPDATE bodies SET base = NULL WHERE id = "+own, key...)
			return err
		},
	}
}

// orEmpty is no null.
func orEmpty(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}

func newestShape() moving.Shape {
	return moving.Shape{
		Table: stateengine.NewestRecords(), Into: "states",
		From: "states s JOIN versions v ON v.id = s.newest",
		Expr: map[string]string{"state": "s.id", "number": "v.number"},
		Insert: func(tx moving.Tx, row moving.Row) error {
			_, err := tx.Exec("UPDATE states SET newest = (SELECT id FROM versions WHERE state = ? AND number = ?) WHERE id = ?",
				row[0], row[1], row[0])
			return err
		},
		Delete: func(tx moving.Tx, key moving.Row) error {
			_, err := tx.Exec("UPDATE states SET newest = NULL WHERE id = ?", key...)
			return err
		},
	}
}

// linkShape has an event's place in its chain in the event's row, which is there by then.
func linkShape() moving.Shape {
	return moving.Shape{
		Table: stateengine.LinkRecords(), Into: "events", Where: "place > 0",
		Insert: func(tx moving.Tx, row moving.Row) error {
			_, err := tx.Exec("UPDATE events SET place = ?, hash = ? WHERE sequence = ?", row[1], row[2], row[0])
			return err
		},
		Delete: func(tx moving.Tx, key moving.Row) error {
			_, err := tx.Exec("UPDATE events SET place = 0, hash = NULL WHERE sequence = ?", key...)
			return err
		},
	}
}

// candidateShape has the bytes of settled candidates null, and their encoding kept or not.
func candidateShape() moving.Shape {
	table := stateengine.CandidateRecords()
	shape := moving.Shape{
		Table: table, Into: "candidates", Real: map[string]string{"seq": "row"},
		Expr: map[string]string{"encoding": "CASE WHEN bytes IS NULL THEN '' ELSE encoding END",
			"stored": "coalesce(length(bytes) - 53, 0)"},
	}
	shape.Insert = func(tx moving.Tx, row moving.Row) error {
		own := shape
		own.Rest = table.Rest[:len(table.Rest)-1] // without stored
		values := append(append(moving.Row{}, row[:len(row)-2]...), row[len(row)-1])
		if encoding, _ := table.Of(row, "encoding").([]byte); len(encoding) == 0 {
			values[len(values)-1] = nil
		}
		return own.InsertInto(tx, values)
	}
	return shape
}

// Complete makes what follows from the records, once all of them are there.
func Complete(tx moving.Tx) error {
	if _, err := tx.Exec("DELETE FROM usage"); err != nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO usage (org, bytes)
		SELECT org, sum(bytes) FROM (
			SELECT coalesce(s.owner, s.org) AS org, 512 + 2 * (max(coalesce(length(s.lock_raw), 0), 1024) - 1024) AS bytes FROM states s
			UNION ALL SELECT coalesce(s.owner, s.org), 512 + coalesce(length(b.bytes) - 53, 0)
				FROM versions v JOIN states s ON s.id = v.state LEFT JOIN bodies b ON b.id = v.id
			UNION ALL SELECT coalesce(s.owner, s.org), 512 + coalesce(length(c.bytes) - 53, 0)
				FROM candidates c JOIN states s ON s.id = c.state)
		GROUP BY 1`)
	return err
}

// UsageShape is what Complete has counted, for who compares it.
func UsageShape() moving.Shape {
	return moving.Shape{Table: stateengine.UsageRecords(), Into: "usage", Where: "bytes <> 0"}
}

// Freeze implements sqlitedb.Freezer.
func (s *Store) Freeze(ctx context.Context) (thaw func(), err error) { return s.writer.Freeze(ctx) }
