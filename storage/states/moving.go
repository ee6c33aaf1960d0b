package states

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// Side is a database of a server's with the states that it keeps.
func Side(db moving.Database, in sqldb.Dialect) moving.Side {
	if in == sqldb.Postgres {
		db = inBytes{db}
	}
	return moving.Side{Database: db, Shapes: shapes()}
}

// inBytes has all texts that a database is asked about, or is to keep, be bytes, as its columns are.
type inBytes struct{ moving.Database }

func (b inBytes) Look(ctx context.Context, fn func(moving.Querier) error) error {
	return b.Database.Look(ctx, func(q moving.Querier) error { return fn(bytesOf{q}) })
}

func (b inBytes) Change(ctx context.Context, bytes int, fn func(moving.Tx) error) error {
	return b.Database.Change(ctx, bytes, func(tx moving.Tx) error { return fn(bytesTx{bytesOf{tx}, tx}) })
}

type bytesOf struct{ moving.Querier }

func (b bytesOf) Query(query string, args ...any) (*sql.Rows, error) {
	return b.Querier.Query(query, toBytes(args)...)
}

type bytesTx struct {
	bytesOf
	tx moving.Tx
}

func (b bytesTx) Exec(query string, args ...any) (sql.Result, error) {
	return b.tx.Exec(query, toBytes(args)...)
}

func toBytes(args []any) []any {
	all := slices.Clone(args)
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			all[i] = []byte(text)
		}
	}
	return all
}

// shapes say how a server's database keeps the records of states. What the journal has is in none of them:
// whoever reads the log has it empty first.
func shapes() []moving.Shape {
	return []moving.Shape{headShape(), versionShape(), baseShape(), newestShape(),
		{Table: stateengine.LockIDRecords(), Into: "state_lock_ids"},
		{Table: stateengine.PurgedRecords(), Into: "state_purged"},
		candidateShape(),
		{Table: stateengine.EventRecords(), Into: "state_events"},
		{Table: stateengine.LinkRecords(), Into: "state_links"},
		{Table: stateengine.ChainRecords(), Into: "state_chains"},
		{Table: stateengine.CheckpointRecords(), Into: "state_checkpoints"},
		{Table: stateengine.KeyRecords(), Into: "state_data_keys"},
		{Table: stateengine.SealRecords(), Into: "state_sealing"},
	}
}

func headShape() moving.Shape {
	table := stateengine.HeadRecords()
	is := func(name, of string) moving.Derived {
		return moving.Derived{Name: name, Value: func(r moving.Row) any { return table.Of(r, of) != nil }}
	}
	return moving.Shape{Table: table, Into: "state_heads", More: []moving.Derived{
		is("is_deleted", "deleted_at"), is("is_locked", "lock_id"), is("is_expected", "expected"),
	}}
}

// storedBytes is the column that is called otherwise here: the word is reserved in MySQL.
func storedBytes() map[string]string { return map[string]string{"stored": "stored_bytes"} }

// versionShape has a version's bytes in pieces, under the same key.
func versionShape() moving.Shape {
	shape := moving.Shape{Table: stateengine.VersionRecords(), Into: "state_versions", Real: storedBytes()}
	return inPieces(shape, func(key moving.Row) (state, number any) { return key[0], key[1] })
}

// candidateShape has a candidate's bytes in pieces, under the number of its row below zero.
func candidateShape() moving.Shape {
	table := stateengine.CandidateRecords()
	shape := moving.Shape{Table: table, Into: "state_candidates", Real: storedBytes(), More: []moving.Derived{
		{Name: "is_open", Value: func(r moving.Row) any { return fmt.Sprintf("%s", table.Of(r, "status")) == "open" }},
	}}
	shape = inPieces(shape, func(row moving.Row) (state, number any) {
		seq, _ := row[0].(int64)
		return table.Of(row, "state"), -seq
	})
	shape.Delete = func(tx moving.Tx, key moving.Row) error {
		if _, err := tx.Exec(`DELETE FROM state_bodies WHERE (state, number) IN (SELECT state, -seq FROM state_candidates
			WHERE seq = ?)`, key...); err != nil {
			return err
		}
		_, err := tx.Exec("DELETE FROM state_candidates WHERE seq = ?", key...)
		return err
	}
	return shape
}

// inPieces has a shape's body in state_bodies, under the state and number of its row.
func inPieces(shape moving.Shape, of func(moving.Row) (state, number any)) moving.Shape {
	encoding := shape.Table
	shape.BodyOf = func(q moving.Querier, row moving.Row) ([]byte, error) {
		if kept, _ := encoding.Of(row, "encoding").([]byte); len(kept) == 0 {
			return nil, nil
		}
		return readPieces(q, of, row)
	}
	shape.Insert = func(tx moving.Tx, row moving.Row) error {
		last := len(row) - 1
		if err := shape.InsertInto(tx, row[:last]); err != nil {
			return err
		}
		body, _ := row[last].([]byte)
		state, number := of(row)
		for piece := 0; piece*pieceBytes < len(body); piece++ {
			part := body[piece*pieceBytes : min((piece+1)*pieceBytes, len(body))]
			if _, err := tx.Exec(sqlAddPiece, state, number, piece, part); err != nil {
				return err
			}
		}
		return nil
	}
	shape.Delete = func(tx moving.Tx, key moving.Row) error {
		if _, err := tx.Exec(sqlDropBody, key...); err != nil {
			return err
		}
		_, err := tx.Exec("DELETE FROM state_versions WHERE state = ? AND number = ?", key...)
		return err
	}
	return shape
}

// readPieces puts a body together. It is never nil.
func readPieces(q moving.Querier, of func(moving.Row) (state, number any), row moving.Row) ([]byte, error) {
	state, number := of(row)
	rows, err := q.Query("SELECT bytes FROM state_bodies WHERE state = ? AND number = ? ORDER BY piece", state, number)
	if err != nil {
		return nil, err
	}
	body := []byte{}
	return body, stateengine.Each(rows, func(scan stateengine.Scan) (part []byte, err error) {
		return part, scan(&part)
	}, func(part []byte) bool {
		body = append(body, part...)
		return true
	})
}

// Complete makes what follows from the records, once all of them are there.
func Complete(in sqldb.Dialect) func(moving.Tx) error {
	statements := completing()
	if in == sqldb.Postgres {
		for _, one := range [][2]string{{"state_heads", "id"}, {"state_candidates", "seq"}} {
			statements = append(statements, fmt.Sprintf("SELECT setval(pg_get_serial_sequence('%[1]s', '%[2]s'), "+
				"(SELECT coalesce(MAX(%[2]s), 0) + 1 FROM %[1]s), false)", one[0], one[1]))
		}
	}
	return func(tx moving.Tx) error {
		for _, statement := range statements {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	}
}

func completing() []string {
	return []string{
		"DELETE FROM state_usage",
		`INSERT INTO state_usage (org, bytes) SELECT org, SUM(bytes) FROM (
			SELECT coalesce(owner, org) AS org, 512 + 2 * (GREATEST(coalesce(LENGTH(lock_raw), 0), 1024) - 1024) AS bytes FROM state_heads
			UNION ALL SELECT coalesce(s.owner, s.org), 512 + v.stored_bytes FROM state_versions v JOIN state_heads s ON s.id = v.state
			UNION ALL SELECT coalesce(s.owner, s.org), 512 + c.stored_bytes FROM state_candidates c JOIN state_heads s ON s.id = c.state
		) kept GROUP BY org`,
		`UPDATE state_log SET
			sequence = (SELECT coalesce(MAX(sequence), 0) FROM state_events),
			newest = (SELECT coalesce(MAX(at), -9223372036854775808) FROM state_events),
			states = (SELECT COUNT(*) FROM state_heads WHERE newest IS NOT NULL AND deleted_at IS NULL AND org <> ''),
			locks = (SELECT COUNT(*) FROM state_heads WHERE lock_id IS NOT NULL AND org <> '')
			WHERE id = 1`,
	}
}

// baseShape is a column of versions, which has it by then.
func baseShape() moving.Shape {
	return moving.Shape{
		Table: stateengine.BaseRecords(), Into: "state_versions", Where: "base IS NOT NULL",
		Insert: func(tx moving.Tx, row moving.Row) error {
			_, err := tx.Exec("UPDATE state_versions SET base = ? WHERE state = ? AND number = ?", row[2], row[0], row[1])
			return err
		},
		Delete: func(tx moving.Tx, key moving.Row) error {
			_, err := tx.Exec("UPDATE state_versions SET base = NULL WHERE state = ? AND number = ?", key...)
			return err
		},
	}
}

func newestShape() moving.Shape {
	return moving.Shape{
		Table: stateengine.NewestRecords(), Into: "state_heads", Where: "newest IS NOT NULL",
		Expr: map[string]string{"state": "id", "number": "newest"},
		Insert: func(tx moving.Tx, row moving.Row) error {
			_, err := tx.Exec("UPDATE state_heads SET newest = ? WHERE id = ?", row[1], row[0])
			return err
		},
		Delete: func(tx moving.Tx, key moving.Row) error {
			_, err := tx.Exec("UPDATE state_heads SET newest = NULL WHERE id = ?", key...)
			return err
		},
	}
}

// UsageShape is what Complete has counted, for who compares it.
func UsageShape() moving.Shape {
	return moving.Shape{Table: stateengine.UsageRecords(), Into: "state_usage", Where: "bytes <> 0"}
}
