package sqlite

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlCheckpoint    = `SELECT sequence, place, hash, at FROM audit_checkpoints WHERE org = ?`
	sqlSetCheckpoint = `INSERT INTO audit_checkpoints (` + stateengine.CheckpointNames + `) VALUES (?, ?, ?, ?, ?) ON CONFLICT (org)
		DO UPDATE SET sequence = excluded.sequence, place = excluded.place, hash = excluded.hash, at = excluded.at`
	sqlShredCheckpoint = `DELETE FROM audit_checkpoints WHERE org = ?`

	// The rows stay until all before them are gone, since times and sequences are searched by halves.
	sqlBlankSome  = sqlBlankEvents + `WHERE sequence IN (SELECT value FROM json_each(?)))`
	sqlUnlinkSome = `UPDATE events SET place = 0, hash = NULL WHERE sequence IN (SELECT value FROM json_each(?))`
	sqlLogStart   = `SELECT sequence, org = '` + blankOrg + `' AND action = '' FROM events ORDER BY sequence LIMIT ?`
	sqlDropStart  = `DELETE FROM events WHERE sequence <= ?`
)

// PruneEvents implements state.Store.
func (s *Store) PruneEvents(ctx context.Context, org uuid.UUID, before time.Time, limit int,
	event audit.Event) (removed int, err error) {
	err = s.write(ctx, org, func(t *session) (err error) {
		removed, err = t.pruneEvents(org, before, limit, event)
		return err
	})
	return removed, err
}

func (t *session) pruneEvents(org uuid.UUID, before time.Time, limit int, event audit.Event) (int, error) {
	chain, err := t.chainOf(org)
	if err != nil {
		return 0, err
	}
	if chain.Removed, err = stateengine.ScanCheckpoint(t.queryRow(sqlCheckpoint, org.String()).Scan); err != nil {
		return 0, err
	}
	query, args := listFor(org, audit.Query{}).links(stateengine.Key(chain.Removed.Sequence+1), math.MaxInt64, limit)
	rows, err := t.conn.QueryContext(context.Background(), query, args...)
	if err != nil {
		return 0, err
	}
	gone, to, err := stateengine.Oldest(rows, chain, before)
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	if err := t.removeEvents(org, to, gone); err != nil {
		return 0, err
	}
	if err := t.recordEvent(to.Of(org, event)); err != nil {
		return 0, err
	}
	return len(gone), t.trimLog(to, 2*limit)
}

// removeEvents leaves of events what others are searched by, and sets the checkpoint.
func (t *session) removeEvents(org uuid.UUID, to audit.Checkpoint, gone []audit.Link) error {
	sequences := make([]uint64, len(gone))
	for i, l := range gone {
		sequences[i] = l.Sequence
	}
	list, err := json.Marshal(sequences)
	if err != nil {
		return err
	}
	for _, text := range []string{sqlUnlinkSome, sqlBlankSome} {
		if err := t.run(text, string(list)); err != nil {
			return err
		}
	}
	return t.run(sqlSetCheckpoint, stateengine.CheckpointValues(org, to)...)
}

// trimLog takes away the log's first rows of which nothing is left, looking at so many. The last row of the log is
// never one of them: that is the event of the removal.
func (t *session) trimLog(to audit.Checkpoint, limit int) error {
	rows, err := t.conn.QueryContext(context.Background(), sqlLogStart, limit)
	if err != nil {
		return err
	}
	last, err := stateengine.LastBlank(rows, to)
	if err != nil || last.Sequence == 0 {
		return err
	}
	if err := t.run(sqlDropStart, int64(last.Sequence)); err != nil {
		return err
	}
	return t.run(sqlSetCheckpoint, stateengine.CheckpointValues(uuid.Nil, last)...)
}

// steadyChain reads a part of a chain, and its checkpoint of the same moment.
func steadyChain(ctx context.Context, r *reader, org uuid.UUID, read func() error) (audit.Checkpoint, error) {
	return stateengine.Steady(func() (audit.Checkpoint, error) {
		row := r.conn.QueryRowContext(ctx, sqlCheckpoint, org.String())
		return stateengine.ScanCheckpoint(row.Scan)
	}, read)
}
