package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	// All open ones and the newest of those that were decided: each part reads an index of
	// its own, up to state.MaxOpenCandidates and up to the limit.
	sqlCandidates = `SELECT ` + stateengine.CandidateColumns + ` FROM candidates v WHERE v.row IN (
			SELECT c.row FROM candidates c JOIN states s ON s.id = c.state
				WHERE s.org = ?1 AND s.name = ?2 AND c.status = 'open' AND ?4 = ''
			UNION ALL SELECT row FROM (SELECT c.row FROM candidates c JOIN states s ON s.id = c.state
				WHERE s.org = ?1 AND s.name = ?2 AND c.status <> 'open'
					AND c.row < CASE ?4 WHEN '' THEN 9223372036854775807
						ELSE COALESCE((SELECT a.row FROM candidates a WHERE a.state = s.id AND a.id = ?4), 0) END
				ORDER BY c.row DESC LIMIT ?3))
		ORDER BY v.row DESC`

	sqlCandidate = `SELECT v.encoding, v.bytes, ` + stateengine.CandidateColumns +
		` FROM candidates v JOIN states s ON s.id = v.state
		WHERE s.org = ? AND s.name = ? AND v.id = ?`
)

// Candidates implements state.Store.
func (s *Store) Candidates(ctx context.Context, ref state.Ref, after string, limit int) ([]state.Candidate, error) {
	return list(ctx, s, ref.Org, sqlCandidates, []any{ref.Org.String(), string(ref.Name), limit, after},
		s.bodies.Seals.Of(ctx, ref).ScanCandidate)
}

// Candidate implements state.Store.
func (s *Store) Candidate(ctx context.Context, ref state.Ref, id string) (found state.CandidateBody, err error) {
	release, err := s.bodyTurn(ctx, ref.Org)
	if err != nil {
		return found, err
	}
	defer release()
	var kept stateengine.Stored
	in := s.bodies.Seals.Of(ctx, ref)
	err = s.borrow(ctx, func(r *reader) error {
		var row stateengine.CandidateRow
		err := r.conn.QueryRowContext(context.Background(), sqlCandidate, ref.Org.String(), string(ref.Name), id).
			Scan(append([]any{&kept.Encoding, &kept.Bytes}, row.Fields()...)...)
		if errors.Is(err, sql.ErrNoRows) {
			return stateengine.ErrNoCandidate(id)
		}
		if err != nil {
			return err
		}
		found.Candidate, err = row.Value(in)
		return err
	})
	if err == nil && found.Status == state.Open {
		place := stateengine.Place{Candidate: id}
		found.Body, err = s.bodies.Decode(in, place, found.Version, kept, stateengine.Stored{})
	}
	return found, err
}
