package sqlruns

import (
	"context"

	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// Store is a runs.Store. Make it with New.
type Store struct{ db *sqldb.DB }

var _ runs.Store = (*Store)(nil)

// New returns a store in a database, which it shares with others.
func New(db *sqldb.DB) *Store { return &Store{db} }

// Ready says whether a run could be stored now.
func (s *Store) Ready(ctx context.Context) error { return s.db.Ready(ctx) }

// Close does nothing: whoever opened the database closes it.
func (s *Store) Close() error { return nil }

// write runs fn in a transaction of an organization's, as sqldb.DB.Write does. An error that fn
// refuses with is returned as it is.
func (s *Store) write(ctx context.Context, ref runs.Ref, bytes int, fn func(tx) error) error {
	var refused error
	err := s.db.WriteBytes(ctx, ref.Org, bytes, func(t sqldb.Tx) error {
		refused = nil // of a run of fn before
		err := fn(tx{t, ref.Org.String()})
		if r, ok := err.(refusal); ok {
			refused = r.error
		}
		return err
	})
	if refused != nil {
		return refused
	}
	return err
}

// refusal marks what a caller's own function says.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// tx is a transaction of one organization.
type tx struct {
	sqldb.Tx
	org string
}

// exec runs a statement whose effect can't be missed.
func (t tx) exec(query string, args ...any) error {
	_, err := t.Exec(query, args...)
	return err
}
