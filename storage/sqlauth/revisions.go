// Package sqlauth keeps in a database what nodes share of auth.cfg: its text, which copy of it each
// node has in force, and when keys were last used. bcrypt hashes of keys are in the text: who may
// read these tables may try to guess keys, as who may read the file.
package sqlauth

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// keptRevisions is how many are kept, for who wants to know what was changed last.
const keptRevisions = 20

// Store is it. Make it with New.
type Store struct {
	db     *sqldb.DB
	master *seal.Master // nil for none
}

var _ authfile.Revisions = (*Store)(nil)

// New returns it in a database. With master keys it marks what it writes, and believes nothing that has no mark
// of theirs: who may write the database alone makes no keys, and speaks for no node.
func New(db *sqldb.DB, master *seal.Master) *Store { return &Store{db, master} }

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// Tip implements authfile.Revisions.
func (s *Store) Tip(ctx context.Context) (number uint64, digest string, err error) {
	err = s.db.Ask(ctx, uuid.Nil, func(q sqldb.Querier) (err error) {
		number, digest, err = tip(q)
		return err
	})
	return number, digest, err
}

func tip(q sqldb.Querier) (number uint64, digest string, err error) {
	_, err = sqldb.One(q, []any{&number, &digest},
		"SELECT number, digest FROM auth_revisions ORDER BY number DESC LIMIT 1")
	return number, digest, err
}

// Newest implements authfile.Revisions.
func (s *Store) Newest(ctx context.Context) (r authfile.Revision, err error) {
	var unproven bool
	err = s.db.Read(ctx, uuid.Nil, func(q sqldb.Querier) error {
		r = authfile.Revision{}
		var at, size int64
		var digest string
		found, err := sqldb.One(q, []any{&r.Number, &at, &size, &digest, &r.By},
			"SELECT number, at, size, digest, made_by FROM auth_revisions ORDER BY number DESC LIMIT 1")
		if err != nil || !found {
			return err
		}
		var mark []byte
		if _, err := sqldb.One(q, []any{&mark}, "SELECT mark FROM auth_marks WHERE what = ?",
			markOfRevision(r.Number)); err != nil {
			return err
		}
		unproven = !s.proven(mark, markRevision, revisionParts(r.Number, digest, r.By))
		if unproven {
			return nil
		}
		pieces, err := sqldb.All(q, func(rows *sql.Rows) (piece []byte, err error) {
			err = rows.Scan(&piece)
			return piece, err
		}, "SELECT bytes FROM auth_pieces WHERE number = ? ORDER BY piece", r.Number)
		if err != nil {
			return err
		}
		var text strings.Builder
		for _, piece := range pieces {
			text.Write(piece)
		}
		r.Text, r.At = text.String(), time.UnixMicro(at).UTC()
		if int64(len(r.Text)) != size || digestOf(r.Text) != digest {
			return fmt.Errorf("auth.cfg in the database is damaged: revision %d does not have the digest %s", r.Number, digest)
		}
		return nil
	})
	if err != nil {
		return authfile.Revision{}, err
	}
	if unproven {
		return r, authfile.ErrUnproven
	}
	return r, nil
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Add implements authfile.Revisions.
func (s *Store) Add(ctx context.Context, after uint64, text, by string) (added bool, err error) {
	err = s.db.WriteOwn(ctx, func(tx sqldb.Tx) error {
		added = false
		number, _, err := tip(tx)
		if err != nil || number != after {
			return err
		}
		if err := s.mayAdd(tx, after); err != nil {
			return err
		}
		number++
		first, err := sqldb.Insert(tx, "INSERT INTO auth_revisions (number, at, size, digest, made_by) VALUES (?, "+
			tx.Dialect().Now()+", ?, ?, ?)", number, len(text), digestOf(text), by)
		if err != nil || !first {
			return err
		}
		if err := s.mark(tx, markOfRevision(number), markRevision, revisionParts(number, digestOf(text), by)); err != nil {
			return err
		}
		for piece, rest := 0, []byte(text); len(rest) > 0; piece++ {
			n := min(len(rest), sqldb.MaxRow)
			if _, err := tx.Exec("INSERT INTO auth_pieces (number, piece, bytes) VALUES (?, ?, ?)", number, piece,
				rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		added = true
		return forget(tx, number)
	})
	return added && err == nil, err
}

// forget removes the revisions that are too old to be of interest.
func forget(tx sqldb.Tx, newest uint64) error {
	if newest <= keptRevisions {
		return nil
	}
	for _, table := range []string{"auth_pieces", "auth_revisions"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE number <= ?", newest-keptRevisions); err != nil {
			return err
		}
	}
	return unmark(tx, newest-keptRevisions)
}

func scanText(rows *sql.Rows) (text string, err error) {
	err = rows.Scan(&text)
	return text, err
}
