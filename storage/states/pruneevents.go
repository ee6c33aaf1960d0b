package states

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlCheckpoint = `SELECT sequence, place, hash, at FROM state_checkpoints WHERE org = ?`
	addCheckpoint = `INSERT INTO state_checkpoints (` + stateengine.CheckpointNames + `) VALUES (?, ?, ?, ?, ?)`
	sqlBlankSome  = sqlBlank + ` WHERE sequence IN `
	sqlUnlinkSome = `DELETE FROM state_links WHERE sequence IN `
	sqlLogStart   = `SELECT sequence, org = '00000000-0000-0000-0000-000000000000' AND action = '' FROM state_events
		ORDER BY sequence LIMIT ?`
	sqlDropStart      = `DELETE FROM state_events WHERE sequence <= ?`
	sqlDropStartLinks = `DELETE FROM state_links WHERE sequence <= ?`
)

// PruneEvents implements state.Store. Who has the log locked is the only one that moves a checkpoint, or adds to a
// chain; writers don't wait for it.
func (s *Store) PruneEvents(ctx context.Context, org uuid.UUID, before time.Time, limit int,
	event audit.Event) (removed int, err error) {
	if err := s.gate.Enter(); err != nil {
		return 0, err
	}
	defer s.gate.Leave()
	if err := s.moved(ctx); err != nil {
		return 0, s.explain(ctx, err)
	}
	err = s.transact(ctx, state.Ref{Org: org}, 0, func(t *tx) error {
		removed, err = t.pruneEvents(org, before, limit, event)
		return err
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

func (t *tx) pruneEvents(org uuid.UUID, before time.Time, limit int, event audit.Event) (int, error) {
	log, err := t.lockLog()
	if err != nil {
		return 0, err
	}
	chains, err := t.chainsOf([]uuid.UUID{org})
	if err != nil {
		return 0, err
	}
	chain, high := chains[org], log.sequence
	if chain.Place > 0 {
		high = stateengine.Key(chain.Head.Sequence)
	}
	if chain.Removed, err = t.checkpoint(org); err != nil {
		return 0, err
	}
	rows, err := t.Query(t.sql.links(), org.String(), stateengine.Key(chain.Removed.Sequence+1), high, limit)
	if err != nil {
		return 0, err
	}
	gone, to, err := stateengine.Oldest(rows, chain, before)
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	return len(gone), errors.Join(t.removeEvents(org, to, gone), t.trimLog(to, log.sequence, 2*limit),
		t.AddEvent(to.Of(org, event)))
}

func (t *tx) checkpoint(org uuid.UUID) (c audit.Checkpoint, err error) {
	return stateengine.ScanCheckpoint(t.QueryRow(sqlCheckpoint+` FOR UPDATE`, org.String()).Scan)
}

func (t *tx) setCheckpoint(org uuid.UUID, c audit.Checkpoint) error {
	set := t.sql.OrSet("org", "sequence", "place", "hash", "at")
	return t.Later(addCheckpoint+set, stateengine.CheckpointValues(org, c)...)
}

// removeEvents leaves of events what others are searched by, and sets the checkpoint.
func (t *tx) removeEvents(org uuid.UUID, to audit.Checkpoint, gone []audit.Link) error {
	sequences := make([]any, len(gone))
	for i, l := range gone {
		sequences[i] = int64(l.Sequence)
	}
	for _, statement := range []string{sqlUnlinkSome, sqlBlankSome} {
		if err := t.Later(statement+tuple(len(sequences)), sequences...); err != nil {
			return err
		}
	}
	return t.setCheckpoint(org, to)
}

// trimLog takes away the log's first rows of which nothing is left, looking at so many, and never its last one.
func (t *tx) trimLog(to audit.Checkpoint, newest int64, limit int) error {
	rows, err := t.Query(sqlLogStart, limit)
	if err != nil {
		return err
	}
	if to.Sequence == uint64(newest) {
		to.Sequence--
	}
	last, err := stateengine.LastBlank(rows, to)
	if err != nil || last.Sequence == 0 {
		return err
	}
	for _, statement := range []string{sqlDropStart, sqlDropStartLinks} {
		if err := t.Later(statement, int64(last.Sequence)); err != nil {
			return err
		}
	}
	return t.setCheckpoint(uuid.Nil, last)
}
