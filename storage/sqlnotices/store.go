// Package sqlnotices is the outbox of notices that several nodes share, and whose turn it is to tell
// them: one node's at a time.
package sqlnotices

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/storage/sqldb"
)

const (
	// turn is what the turn to tell notices is called.
	turn = "notices"
	// held is for how long a node has its turn after it has taken it: so long nobody tells anything
	// when it dies. It is renewed when half of that is over.
	held = 10 * time.Second
	// patience bounds what a stop waits for.
	patience = 5 * time.Second
)

// Store implements webhook.Outbox and webhook.Turn for one node.
type Store struct {
	db   *sqldb.DB
	node string
	log  *slog.Logger
}

// New returns it for a node that is called so nowhere else.
func New(db *sqldb.DB, node uuid.UUID, log *slog.Logger) *Store {
	return &Store{db, node.String(), log}
}

// errNotMine says that another node has the turn by now.
var errNotMine = errors.New("it is another node's turn to tell notices")

// Take implements webhook.Turn.
func (s *Store) Take(ctx context.Context) (mine bool, err error) {
	others := false
	err = s.db.Ask(ctx, uuid.Nil, func(q sqldb.Querier) error {
		holder, left, err := turnOf(q)
		mine, others = holder == s.node && left > held/2, holder != s.node && left > 0
		return err
	})
	if mine || others || err != nil {
		return mine, err
	}
	err = s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		mine = false
		holder, left, err := turnOf(tx)
		if err != nil || holder != s.node && left > 0 {
			return err
		}
		var now int64
		if _, err := sqldb.One(tx, []any{&now}, "SELECT "+tx.Dialect().Now()); err != nil {
			return err
		}
		mine = true
		_, err = tx.Exec(tx.Dialect().Upsert("node_turns", []string{"name"}, []string{"holder", "until"}), turn, s.node, now+
			held.Microseconds())
		return err
	})
	return mine && err == nil, err
}

// turnOf returns whose turn it is, and for how much longer by the database's time.
func turnOf(q sqldb.Querier) (holder string, left time.Duration, err error) {
	var micros int64
	_, err = sqldb.One(q, []any{&holder, &micros}, "SELECT holder, until - "+q.Dialect().Now()+
		" FROM node_turns WHERE name = ?", turn)
	return holder, time.Duration(micros) * time.Microsecond, err
}

// Leave implements webhook.Turn.
func (s *Store) Leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		_, err := tx.Exec("DELETE FROM node_turns WHERE name = ? AND holder = ?", turn, s.node)
		return err
	})
}

// Load implements webhook.Outbox.
func (s *Store) Load(ctx context.Context) (position uint64, known bool, waiting []audit.Event, err error) {
	err = s.db.Read(ctx, uuid.Nil, func(q sqldb.Querier) error {
		var err error
		if known, err = sqldb.One(q, []any{&position}, "SELECT sequence FROM notice_position WHERE id = 1"); err != nil {
			return err
		}
		waiting, err = s.waiting(ctx, q)
		return err
	})
	return position, known, waiting, err
}

// waiting reads the notices that wait. One that is damaged is passed over and stays, for a person to look
// at: all the others would wait behind it for ever.
func (s *Store) waiting(ctx context.Context, q sqldb.Querier) (all []audit.Event, err error) {
	_, err = sqldb.All(q, func(rows *sql.Rows) (struct{}, error) {
		var org string
		var sequence int64
		var text []byte
		var e audit.Event
		if err := rows.Scan(&org, &sequence, &text); err != nil {
			return struct{}{}, err
		}
		if err := json.Unmarshal(text, &e); err != nil {
			s.log.ErrorContext(ctx, "a notice that waits is damaged; it is told to nobody, and stays in the table notices",
				"org", org, "sequence", sequence, "error", err)
			return struct{}{}, nil
		}
		all = append(all, e)
		return struct{}{}, nil
	}, "SELECT org, sequence, event FROM notices ORDER BY sequence, at")
	return all, err
}

// Keep implements webhook.Outbox. It is refused when the turn has gone to another node, which has
// read on: the position of a node that was stopped for a while would go back.
func (s *Store) Keep(ctx context.Context, position uint64, notices []audit.Event) error {
	return s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		holder, _, err := turnOf(tx)
		if err != nil {
			return err
		}
		if holder != s.node {
			return errNotMine
		}
		if _, err := tx.Exec(tx.Dialect().Upsert("notice_position", []string{"id"}, []string{"sequence"}), 1,
			position); err != nil {
			return err
		}
		for _, n := range notices {
			if err := keep(tx, n); err != nil {
				return err
			}
		}
		return nil
	})
}

func keep(tx sqldb.Tx, n audit.Event) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	_, err = sqldb.Insert(tx, "INSERT INTO notices (org, sequence, at, event) VALUES (?, ?, ?, ?)", n.Org.String(),
		n.Sequence, n.At.UnixMicro(), text)
	return err
}

// Remove implements webhook.Outbox.
func (s *Store) Remove(ctx context.Context, n audit.Event) error {
	return s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		_, err := tx.Exec("DELETE FROM notices WHERE org = ? AND sequence = ? AND at = ?", n.Org.String(), n.Sequence,
			n.At.UnixMicro())
		return err
	})
}

// Shred implements webhook.Outbox. What the server keeps in its files of rows that are gone is the
// server's.
func (s *Store) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	err = s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		const key = "org, sequence, at"
		n, err := sqldb.Count(tx, tx.Dialect().DeleteSome("notices", key, "org = ?", key), org.String(), limit)
		removed = int(n)
		return err
	})
	return removed, err
}
