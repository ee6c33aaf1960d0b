package stateengine

import (
	"database/sql"

	"github.com/holdfast/holdfast/state"
)

// CandidateRow receives CandidateColumns.
type CandidateRow struct {
	candidate state.Candidate
	decided   sql.NullInt64
	content   []byte
	version   VersionRow
}

// Fields receive CandidateColumns.
func (r *CandidateRow) Fields() []any {
	c := &r.candidate
	return append([]any{&c.ID, &c.Source, &c.Status, &r.decided, &r.content}, r.version.Fields()...)
}

// Value returns the candidate. Its number may be zero: there was no version yet.
func (r *CandidateRow) Value() (state.Candidate, error) {
	c, number := r.candidate, r.version.number
	r.version.number = max(number, 1)
	version, err := r.version.Value()
	version.Number = uint64(number)
	c.Version = version
	copy(c.Content[:], r.content)
	if r.decided.Valid {
		c.Decided = FromMicros(r.decided.Int64)
	}
	return c, err
}

// ScanCandidate reads a row of CandidateColumns.
func ScanCandidate(scan Scan) (state.Candidate, error) {
	var row CandidateRow
	if err := scan(row.Fields()...); err != nil {
		return state.Candidate{}, err
	}
	return row.Value()
}

// CandidateValues returns what the columns id, source, status, those of VersionNames and content
// hold of a candidate.
func CandidateValues(c *state.Candidate) []any {
	values := append([]any{c.ID, string(c.Source), string(c.Status)}, VersionValues(c.Version)...)
	return append(values, c.Content[:])
}
