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

// Value returns the candidate, of e's state. Its number may be zero: there was no version yet.
func (r *CandidateRow) Value(e Envelope) (state.Candidate, error) {
	c, number := r.candidate, r.version.number
	r.version.number = max(number, 1)
	version, err := r.version.Value(e)
	version.Number = uint64(number)
	c.Version = version
	if err == nil {
		c.Content, err = e.Content(r.content)
	}
	if r.decided.Valid {
		c.Decided = FromMicros(r.decided.Int64)
	}
	return c, err
}

// CandidateValues returns what the columns id, source, status, those of VersionNames and content
// hold of a candidate whose body is stored as it says.
func CandidateValues(c *state.Candidate, body Stored) []any {
	values := append([]any{c.ID, string(c.Source), string(c.Status)}, VersionValues(c.Version, body)...)
	return append(values, body.Content)
}
