package notices

import (
	"context"
	"time"

	"github.com/google/uuid"

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

// isMine returns errNotMine where there are several nodes, and it is another one's turn.
func (s *Store) isMine(tx sqldb.Tx) error {
	if s.node == "" {
		return nil
	}
	holder, _, err := turnOf(tx)
	if err == nil && holder != s.node {
		err = errNotMine
	}
	return err
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
