// Package sqlsessions keeps the sessions of people in a database of package sqldb. It is a
// session.Store.
package sqlsessions

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// Store is a session.Store. Make it with New.
type Store struct{ db *sqldb.DB }

var _ session.Store = (*Store)(nil)

// New returns the sessions of a database, which it shares with others.
func New(db *sqldb.DB) *Store { return &Store{db} }

const columns = "hash, login, began_at, seen_at, ends_at, address, agent"

// Add implements session.Store.
func (s *Store) Add(ctx context.Context, one session.Session, limit int) (gone []session.Session, err error) {
	login, err := json.Marshal(one.Login)
	if err != nil {
		return nil, err
	}
	org, holder := one.Login.Org.String(), keyOf(one.Holder())
	err = s.db.Write(ctx, one.Login.Org, func(tx sqldb.Tx) error {
		gone = nil
		had, err := sqldb.All(tx, scanRow, "SELECT "+columns+
			" FROM sessions WHERE org = ? AND holder = ? ORDER BY seen_at DESC, hash", org, holder)
		if err != nil {
			return err
		}
		gone = slices.Clone(had[min(len(had), max(limit-1, 0)):])
		for _, old := range gone {
			if _, err := remove(tx, org, old.Hash); err != nil {
				return err
			}
		}
		_, err = tx.Exec("INSERT INTO sessions (org, holder, "+columns+") VALUES ("+sqldb.Places(9)+")", org, holder,
			one.Hash.String(), string(login), one.Began.UnixMicro(), one.Seen.UnixMicro(), one.Ends.UnixMicro(), one.Address,
			one.Agent)
		return err
	})
	if err != nil {
		return nil, err
	}
	return gone, nil
}

// Session implements session.Store.
func (s *Store) Session(ctx context.Context, org uuid.UUID,
	h session.Hash) (one session.Session, found bool, err error) {
	err = s.db.Ask(ctx, org, func(q sqldb.Querier) (err error) {
		one, err = scan(q.QueryRow("SELECT "+columns+" FROM sessions WHERE org = ? AND hash = ?", org.String(),
			h.String()).Scan)
		if found = err == nil; err == sql.ErrNoRows {
			return nil
		}
		return err
	})
	return one, found && err == nil, err
}

// Sessions implements session.Store.
func (s *Store) Sessions(ctx context.Context, of session.Holder) (all []session.Session, err error) {
	err = s.db.Ask(ctx, of.Org, func(q sqldb.Querier) (err error) {
		all, err = sqldb.All(q, scanRow, "SELECT "+columns+
			" FROM sessions WHERE org = ? AND holder = ? ORDER BY seen_at DESC, hash", of.Org.String(), keyOf(of))
		return err
	})
	return all, err
}

// Touch implements session.Store.
func (s *Store) Touch(ctx context.Context, org uuid.UUID, h session.Hash, at time.Time) error {
	return s.db.Write(ctx, org, func(tx sqldb.Tx) error {
		_, err := tx.Exec("UPDATE sessions SET seen_at = ? WHERE org = ? AND hash = ? AND seen_at < ?", at.UnixMicro(),
			org.String(), h.String(), at.UnixMicro())
		return err
	})
}

// Remove implements session.Store.
func (s *Store) Remove(ctx context.Context, org uuid.UUID, h session.Hash) (removed bool, err error) {
	err = s.db.Write(ctx, org, func(tx sqldb.Tx) (err error) {
		removed, err = remove(tx, org.String(), h)
		return err
	})
	return removed && err == nil, err
}

func remove(tx sqldb.Tx, org string, h session.Hash) (bool, error) {
	return sqldb.Change(tx, "DELETE FROM sessions WHERE org = ? AND hash = ?", org, h.String())
}

// RemoveAll implements session.Store.
func (s *Store) RemoveAll(ctx context.Context, of session.Holder) (removed int, err error) {
	err = s.db.Write(ctx, of.Org, func(tx sqldb.Tx) error {
		n, err := sqldb.Count(tx, "DELETE FROM sessions WHERE org = ? AND holder = ?", of.Org.String(), keyOf(of))
		removed = int(n)
		return err
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// Sweep implements session.Store.
func (s *Store) Sweep(ctx context.Context, now, idle time.Time, limit int) (removed int, err error) {
	err = s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		removed = 0
		for _, old := range []struct {
			condition string
			than      time.Time
		}{{"seen_at < ?", idle}, {"ends_at <= ?", now}} {
			n, err := sweep(tx, old.condition, old.than, limit-removed)
			if err != nil {
				return err
			}
			removed += n
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// sweep removes each only while the condition holds of it: it may be in use again by now.
func sweep(tx sqldb.Tx, condition string, than time.Time, limit int) (removed int, err error) {
	type key struct{ org, hash string }
	old, err := sqldb.All(tx, func(rows *sql.Rows) (k key, err error) {
		err = rows.Scan(&k.org, &k.hash)
		return k, err
	}, "SELECT org, hash FROM sessions WHERE "+condition+" LIMIT ?", than.UnixMicro(), limit)
	if err != nil {
		return 0, err
	}
	for _, k := range old {
		gone, err := sqldb.Change(tx, "DELETE FROM sessions WHERE org = ? AND hash = ? AND "+condition, k.org, k.hash,
			than.UnixMicro())
		if err != nil {
			return 0, err
		}
		if gone {
			removed++
		}
	}
	return removed, nil
}

// keyOf is a holder as a column has it: a subject may be long.
func keyOf(h session.Holder) string {
	sum := sha256.Sum256([]byte(h.KeyID + "\x00" + h.Subject))
	return hex.EncodeToString(sum[:])
}

func scanRow(rows *sql.Rows) (session.Session, error) { return scan(rows.Scan) }

func scan(row func(...any) error) (s session.Session, err error) {
	var (
		hash, login       string
		began, seen, ends int64
	)
	if err := row(&hash, &login, &began, &seen, &ends, &s.Address, &s.Agent); err != nil {
		return session.Session{}, err
	}
	if _, err := hex.Decode(s.Hash[:], []byte(hash)); err != nil {
		return session.Session{}, err
	}
	s.Began, s.Seen, s.Ends = time.UnixMicro(began).UTC(), time.UnixMicro(seen).UTC(), time.UnixMicro(ends).UTC()
	return s, json.Unmarshal([]byte(login), &s.Login)
}
