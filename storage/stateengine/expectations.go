package stateengine

import (
	"database/sql"
	"encoding/json"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// expectedRow is a state.Expectation in its column. Times are microseconds.
type expectedRow struct {
	Findings string `json:"findings"`
	Since    int64  `json:"since"`
	Until    int64  `json:"until"`
	Reason   string `json:"reason"`
	Key      string `json:"key"`
	KeyName  string `json:"key_name,omitempty"`
	Subject  string `json:"subject,omitempty"`
	Lock     string `json:"lock,omitempty"`
}

// ExpectedValue returns what the column holds: null for nothing that is expected.
func ExpectedValue(e *state.Expectation) (any, error) {
	if e == nil {
		return nil, nil
	}
	text, err := json.Marshal(expectedRow{
		Findings: e.Findings.String(), Since: e.Since.UnixMicro(), Until: e.Until.UnixMicro(),
		Reason: e.Reason, Key: e.KeyID, KeyName: e.KeyName, Subject: e.Subject, Lock: e.LockID,
	})
	return string(text), err
}

// ExpectedIn reads the column.
func ExpectedIn(column sql.NullString) (*state.Expectation, error) {
	if !column.Valid {
		return nil, nil
	}
	var r expectedRow
	if err := json.Unmarshal([]byte(column.String), &r); err != nil {
		return nil, fault.Wrap(err, fault.StateCorrupt,
			"what describes an expected change is damaged; an operator must restore it")
	}
	return &state.Expectation{
		Findings: state.ParseWarnings(r.Findings), Since: FromMicros(r.Since), Until: FromMicros(r.Until),
		Reason: r.Reason, KeyID: r.Key, KeyName: r.KeyName, Subject: r.Subject, LockID: r.Lock,
	}, nil
}
