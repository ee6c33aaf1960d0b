package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// candidateColumns are read by candidateRow; what versions have too is spelled as theirs.
const candidateColumns = `v.id, v.source, v.status, v.decided_at, v.content, ` + versionColumns

const (
	// All open ones and the newest of those that were decided: each part reads an index of
	// its own, up to state.MaxOpenCandidates and up to the limit.
	sqlCandidates = `SELECT ` + candidateColumns + ` FROM candidates v WHERE v.row IN (
			SELECT c.row FROM candidates c JOIN states s ON s.id = c.state
				WHERE s.org = ?1 AND s.name = ?2 AND c.status = 'open' AND ?4 = ''
			UNION ALL SELECT row FROM (SELECT c.row FROM candidates c JOIN states s ON s.id = c.state
				WHERE s.org = ?1 AND s.name = ?2 AND c.status <> 'open'
					AND c.row < CASE ?4 WHEN '' THEN 9223372036854775807
						ELSE COALESCE((SELECT a.row FROM candidates a WHERE a.state = s.id AND a.id = ?4), 0) END
				ORDER BY c.row DESC LIMIT ?3))
		ORDER BY v.row DESC`

	sqlCandidate = `SELECT v.encoding, v.bytes, ` + candidateColumns + ` FROM candidates v JOIN states s ON s.id = v.state
		WHERE s.org = ? AND s.name = ? AND v.id = ?`
)

// candidateRow receives candidateColumns.
type candidateRow struct {
	candidate state.Candidate
	decided   sql.NullInt64
	content   []byte
	version   versionRow
}

func (r *candidateRow) fields() []any {
	c := &r.candidate
	return append([]any{&c.ID, &c.Source, &c.Status, &r.decided, &r.content}, r.version.fields()...)
}

// value returns the candidate. Its number may be zero: there was no version yet.
func (r *candidateRow) value() (state.Candidate, error) {
	c, number := r.candidate, r.version.number
	r.version.number = max(number, 1)
	version, err := r.version.value()
	version.Number = uint64(number)
	c.Version = version
	copy(c.Content[:], r.content)
	if r.decided.Valid {
		c.Decided = fromMicros(r.decided.Int64)
	}
	return c, err
}

// Candidates implements state.Store.
func (s *Store) Candidates(ctx context.Context, ref state.Ref, after string, limit int) ([]state.Candidate, error) {
	return list(ctx, s, ref.Org, sqlCandidates, []any{ref.Org.String(), string(ref.Name), limit, after}, func(scan scan) (state.Candidate, error) {
		var row candidateRow
		if err := scan(row.fields()...); err != nil {
			return state.Candidate{}, err
		}
		return row.value()
	})
}

// Candidate implements state.Store.
func (s *Store) Candidate(ctx context.Context, ref state.Ref, id string) (found state.CandidateBody, err error) {
	release, err := s.bodies(ctx, ref.Org)
	if err != nil {
		return found, err
	}
	defer release()
	var kept stored
	err = s.borrow(ctx, func(r *reader) error {
		var row candidateRow
		err := r.conn.QueryRowContext(context.Background(), sqlCandidate, ref.Org.String(), string(ref.Name), id).
			Scan(append([]any{&kept.encoding, &kept.bytes}, row.fields()...)...)
		if errors.Is(err, sql.ErrNoRows) {
			return errNoCandidate(id)
		}
		if err != nil {
			return err
		}
		found.Candidate, err = row.value()
		return err
	})
	if err == nil && found.Status == state.Open {
		found.Body, err = s.codec.decode(found.Version, kept, stored{})
	}
	return found, err
}

func errNoCandidate(id string) error {
	return fault.New(fault.CandidateNotFound, "the state has no candidate %.40q", id)
}

// recordCandidate makes the rows of a candidate that came and of one that was decided.
func (u *update) recordCandidate(t *session, id int64, change state.Change) error {
	if c := change.Candidate; c != nil {
		status, err := t.statusOf(id, c.ID)
		if err != nil || status != "" {
			return err
		}
		row := append([]any{id, c.ID, string(c.Source), string(c.Status)}, versionValues(c.Version)...)
		if _, err := t.insert(t.addCandidate, append(row, u.body.encoding, u.body.bytes, c.Content[:])...); err != nil {
			return err
		}
	}
	s := change.Settle
	if s == nil {
		return nil
	}
	if s.Content != (state.Digest{}) {
		if _, err := t.conn.ExecContext(context.Background(), sqlSettleTwins, string(s.Status), s.At.UnixMicro(), id, s.Content[:]); err != nil {
			return err
		}
	}
	return t.exec(t.settle, string(s.Status), s.At.UnixMicro(), id, s.ID)
}

// statusOf returns a candidate's status; empty when there is no such candidate.
func (t *session) statusOf(id int64, candidate string) (status state.CandidateStatus, err error) {
	err = t.candidateStatus.QueryRowContext(context.Background(), id, candidate).Scan(&status)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return status, err
}

// forbids says what of the state's own history stands against a change. The row's id is zero
// for a state without history. err is the store's own.
func (t *session) forbids(row headRow, change state.Change) (refusal, err error) {
	id := row.id
	if digest, some := change.Brings(); some && row.purges {
		if refusal, err = t.wasPurged(id, digest); refusal != nil || err != nil {
			return refusal, err
		}
	}
	if change.Lock != nil {
		if used, err := t.lockIDUsed(id, change, row.head); used || err != nil {
			return fault.New(fault.LockIDUsed, "a lock with this ID was released before; an ID is good for one lock"), err
		}
	}
	if change.Candidate != nil {
		if refusal, err = t.crowded(id, change.Candidate.ID); refusal != nil || err != nil {
			return refusal, err
		}
	}
	if s := change.Settle; s != nil && s.ID != "" {
		status, err := t.statusOf(id, s.ID)
		switch {
		case err != nil:
			return nil, err
		case status == "":
			return errNoCandidate(s.ID), nil
		case status != state.Open:
			return fault.New(fault.CandidateSettled, "candidate %s was %s already", s.ID, status), nil
		}
	}
	return nil, nil
}

// wasPurged is for a statement that is too rare to be prepared: few states have a purge.
func (t *session) wasPurged(id int64, digest state.Digest) (refusal, err error) {
	var purged bool
	if err := t.queryRow(sqlIsPurged, id, digest[:]).Scan(&purged); err != nil || !purged {
		return nil, err
	}
	return fault.New(fault.BytesPurged, "these bytes were purged from the state"), nil
}

// lockIDUsed also counts the ID that the very change releases.
func (t *session) lockIDUsed(id int64, change state.Change, h state.Head) (used bool, err error) {
	if change.Release && h.Lock.Info.ID == change.Lock.Info.ID {
		return true, nil
	}
	err = t.lockUsed.QueryRowContext(context.Background(), id, change.Lock.Info.ID).Scan(&used)
	return used, err
}

func (t *session) crowded(id int64, candidate string) (refusal, err error) {
	status, err := t.statusOf(id, candidate)
	if err != nil || status != "" {
		return nil, err
	}
	var open int
	if err := t.openCandidates.QueryRowContext(context.Background(), id).Scan(&open); err != nil {
		return nil, err
	}
	if open >= state.MaxOpenCandidates {
		return fault.New(fault.CandidatesFull, "the state has %d open candidates; promote or discard one first", open), nil
	}
	return nil, nil
}
