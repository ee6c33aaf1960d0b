// Package notices is the outbox of notices: those that wait to be told, and how far the audit log was read for them. It
// is in a folder, or in a database that nodes share; there one node at a time has the turn to tell them.
package notices

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// Store implements webhook.Outbox, and webhook.Turn for one of several nodes.
type Store struct {
	db   *sqldb.DB
	node string // empty where there is one
	log  *slog.Logger
}

// New returns the outbox in a database, for a node that is called so nowhere else.
func New(db *sqldb.DB, node uuid.UUID, log *slog.Logger) *Store {
	return &Store{db, node.String(), log}
}

// errNotMine says that another node has the turn by now.
var errNotMine = errors.New("it is another node's turn to tell notices")

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
		if err := s.isMine(tx); err != nil {
			return err
		}
		if _, err := tx.Exec(tx.Dialect().Upsert("notice_position", []string{"id"}, []string{"sequence"}), 1,
			int64(position)); err != nil {
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
		int64(n.Sequence), n.At.UnixMicro(), text)
	return err
}

// Remove implements webhook.Outbox.
func (s *Store) Remove(ctx context.Context, n audit.Event) error {
	defer s.db.Deleted()
	return s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		_, err := tx.Exec("DELETE FROM notices WHERE org = ? AND sequence = ? AND at = ?", n.Org.String(), int64(n.Sequence),
			n.At.UnixMicro())
		return err
	})
}

// Shred implements webhook.Outbox. Notices that were told before have left their bytes in the files of a folder too,
// which the call that finds no row any more overwrites with the others. Those of a server are the server's.
func (s *Store) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	err = s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		const key = "org, sequence, at"
		n, err := sqldb.Count(tx, tx.Dialect().DeleteSome("notices", key, "org = ?", key), org.String(), limit)
		removed = int(n)
		return err
	})
	if err != nil {
		return 0, err
	}
	if removed > 0 {
		s.db.Deleted()
		return removed, nil
	}
	return 0, s.db.Scrub(ctx)
}
