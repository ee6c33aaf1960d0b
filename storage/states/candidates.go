package states

import (
	"bytes"
	"strings"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// AddCandidate implements stateengine.StateTx.
func (t *tx) AddCandidate(id int64, c *state.Candidate, body stateengine.Stored) error {
	args := append([]any{id}, stateengine.CandidateValues(c, body)...)
	args = append(args, c.Status == state.Open, body.Encoding, body.Counted())
	row, err := t.added("seq", sqlAddCandidate+tuple(len(args)), args...)
	if err != nil {
		return err
	}
	t.grow(t.ref.Org, state.RowBytes+int64(body.Counted()))
	return t.addPieces(id, -row, body.Bytes)
}

// openCandidate is what is known of one that may have to be settled.
type openCandidate struct {
	row             int64
	id              string
	content, digest []byte
	stored          int64
}

func (t *tx) openCandidates(id int64) (all []openCandidate, err error) {
	rows, err := t.query(sqlOpenBodies, id)
	if err != nil {
		return nil, err
	}
	err = stateengine.Each(rows, func(scan stateengine.Scan) (c openCandidate, err error) {
		return c, scan(&c.row, &c.id, &c.content, &c.digest, &c.stored)
	}, func(c openCandidate) bool {
		all = append(all, c)
		return true
	})
	return all, err
}

// Settle implements stateengine.StateTx.
func (t *tx) Settle(id int64, s state.Settlement, twins []byte) error {
	return t.settleOpen(id, s.Status, s.At.UnixMicro(), func(c openCandidate) bool {
		return c.id == s.ID && s.ID != "" || twins != nil && bytes.Equal(twins, c.content)
	})
}

// settleOpen ends the open candidates that are chosen, and takes their bytes away.
func (t *tx) settleOpen(id int64, status state.CandidateStatus, at int64, chosen func(openCandidate) bool) error {
	open, err := t.openCandidates(id)
	if err != nil {
		return err
	}
	for _, c := range open {
		if !chosen(c) {
			continue
		}
		if err := t.later(sqlSettle, string(status), at, c.row); err != nil {
			return err
		}
		if err := t.later(sqlDropBody, id, -c.row); err != nil {
			return err
		}
		t.grow(t.ref.Org, -c.stored)
	}
	return nil
}

func join(parts []string) string { return strings.Join(parts, ", ") }
