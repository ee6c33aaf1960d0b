package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqlitedb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlFindVersion = `SELECT v.id, v.digest, v.purged, s.id FROM states s JOIN versions v ON v.state = s.id
		WHERE s.org = ? AND s.name = ? AND v.number = ?`
	sqlMarkPurged rowWrite = `UPDATE versions SET purged = 1 WHERE id = ?`
	sqlDropBody   rowWrite = `DELETE FROM bodies WHERE id = ?`
	// Its bytes are not to come back unasked.
	sqlKeepDigest          = `INSERT OR IGNORE INTO purged (state, digest) VALUES (?, ?)`
	sqlMarkState  rowWrite = `UPDATE states SET purges = 1 WHERE id = ?`
	// A candidate of the same bytes is the same leak.
	sqlDropTwins = `UPDATE candidates SET status = 'discarded', decided_at = ?, bytes = NULL
		WHERE state = ? AND digest = ? AND status = 'open'`

	sqlOldest = `SELECT v.id, v.number, v.created_at, v.id = s.newest FROM states s JOIN versions v ON v.state = s.id
		WHERE s.org = ? AND s.name = ? ORDER BY v.number LIMIT ?`
	sqlDropVersion rowWrite = `DELETE FROM versions WHERE id = ?`

	// One with an open candidate is not to go.
	sqlFindDeleted = `SELECT s.id, s.deleted_at, s.lock_id IS NOT NULL FROM states s WHERE s.org = ? AND s.name = ?
		AND s.deleted_at IS NOT NULL AND NOT EXISTS (SELECT 1 ` + openCandidates + `)`
	sqlFindDoomed          = `SELECT id FROM states WHERE org = '` + nobody + `' LIMIT 1`
	sqlDoom       rowWrite = `UPDATE states SET owner = org, org = '` + nobody + `', name = id, newest = NULL WHERE id = ?`
	sqlDoomedRows          = `SELECT id FROM versions WHERE state = ? LIMIT ?`

	// The state's own row comes last: the others refer to it.
	sqlDropCandidates          = `DELETE FROM candidates WHERE state = ?`
	sqlDropLockIDs             = `DELETE FROM lock_ids WHERE state = ?`
	sqlDropPurged              = `DELETE FROM purged WHERE state = ?`
	sqlDropState      rowWrite = `DELETE FROM states WHERE id = ?`
)

// nobody is the organization of states that are being expunged in pieces: their names are
// free again, and no caller finds them. It sorts before all others.
const nobody = ""

// write runs work in a transaction of the writer's, in the organization's turn, and returns
// what it returns: a refusal, a fault that is not the store's, undoes nothing of others.
func (s *Store) write(ctx context.Context, org uuid.UUID, work func(*session) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.transact(ctx, org, work)
}

// submit has the writer run work in the organization's turn, and returns when it is durable.
// bytes is about how much it writes.
func (s *Store) submit(ctx context.Context, org uuid.UUID, bytes int, work func(*session) error) error {
	return s.writer.Submit(ctx,
		sqlitedb.Job{Org: org, Bytes: bytes, Run: func(*sqlitedb.Tx) error { return work(s.session) }})
}

// transact is write for a call that is let in already.
func (s *Store) transact(ctx context.Context, org uuid.UUID, work func(*session) error) error {
	var refusal error
	err := s.submit(ctx, org, 0, func(t *session) error {
		err := work(t)
		refusal = nil
		if _, ok := errors.AsType[*fault.Error](err); ok {
			refusal, err = err, nil
		}
		return err
	})
	return errors.Join(err, refusal)
}

// Purge implements state.Store. Deleted rows are overwritten (secure_delete); copies that
// SQLite left of them when it moved rows about, and what the WAL still has, go with a sweep.
// Without anything to destroy, and with no sweep owed, it only records that it was asked.
func (s *Store) Purge(ctx context.Context, ref state.Ref, number uint64, event audit.Event) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	event.Org, event.State = ref.Org, string(ref.Name)
	var owed bool
	for needed := true; needed; {
		s.bodies.Bases.Drop(ref)
		if err := s.detach(ctx, ref, number, 0); err != nil {
			return err
		}
		err := s.transact(ctx, ref.Org, func(t *session) (err error) {
			needed, owed, err = t.purge(ref, number, event)
			return err
		})
		if err != nil {
			return err
		}
	}
	s.bodies.Bases.Drop(ref) // a write that looked for a base may have kept it since
	if !owed {
		return nil
	}
	return s.swept(ctx)
}

// purge does nothing, and says so, when other versions are deltas of this one. owed says
// that a sweep has to follow.
func (t *session) purge(ref state.Ref, number uint64, event audit.Event) (needed, owed bool, err error) {
	v, err := t.findDoomed(ref, number)
	if err != nil {
		return false, false, err
	}
	if !v.purged { // else no version is a delta of it any more
		err = t.queryRow(sqlIsNeeded, v.state, int64(number)-stateengine.GroupLength, int64(number)+stateengine.GroupLength,
			v.row).Scan(&needed)
	}
	if err != nil || needed {
		return needed, false, err
	}
	if err := t.destroy(ref, v, event.At); err != nil {
		return false, false, err
	}
	if err := t.recordEvent(event); err != nil {
		return false, false, err
	}
	err = t.queryRow(sqlOwesSweep).Scan(&owed)
	return false, owed, err
}

// doomed is a version that is to be purged, or was.
type doomed struct {
	row, state int64
	digest     []byte
	purged     bool
}

func (t *session) findDoomed(ref state.Ref, number uint64) (v doomed, err error) {
	err = t.queryRow(sqlFindVersion, ref.Org.String(), string(ref.Name), int64(number)).Scan(&v.row, &v.digest, &v.purged,
		&v.state)
	if errors.Is(err, sql.ErrNoRows) {
		err = stateengine.ErrNoVersion(number)
	}
	return v, err
}

// destroy takes away a version's bytes, with those of candidates that have the same. If there
// were any, it keeps their digest, by which they are known again, and owes a sweep.
func (t *session) destroy(ref state.Ref, v doomed, at time.Time) error {
	destroyed, err := t.change(sqlDropTwins, at.UnixMicro(), v.state, v.digest)
	if err != nil {
		return err
	}
	if !v.purged {
		destroyed++
		if _, err := t.rowsOf(ref).run(sqlMarkPurged, v.row); err != nil {
			return err
		}
		if _, err := t.rowsOf(ref).run(sqlDropBody, v.row); err != nil {
			return err
		}
	}
	if destroyed == 0 {
		return nil
	}
	_, err = t.rowsOf(ref).run(sqlMarkState, v.state)
	return errors.Join(err, t.run(sqlKeepDigest, v.state, v.digest), t.run(sqlOweSweep))
}

// Prune implements state.Store.
func (s *Store) Prune(ctx context.Context, ref state.Ref, p state.Pruning, event audit.Event) (removed int, err error) {
	if err := s.gate.Enter(); err != nil {
		return 0, err
	}
	defer s.gate.Leave()
	event.Org, event.State = ref.Org, string(ref.Name)
	for {
		var base, last uint64
		err = s.transact(ctx, ref.Org, func(t *session) (err error) {
			removed, base, last, err = stateengine.Prune(t.rowsOf(ref), p, event)
			return err
		})
		if err != nil || base == 0 {
			return removed, err
		}
		s.bodies.Bases.Drop(ref)
		if err := s.detach(ctx, ref, base, last); err != nil {
			return 0, err
		}
	}
}

// Expunge implements state.Store. The first piece takes the state's name away; the next
// ones take what is left of it, or of any other state that was begun with and not
// finished, before a crash say.
func (s *Store) Expunge(ctx context.Context, ref state.Ref, before time.Time, limit int,
	event audit.Event) (done bool, err error) {
	event.Org, event.State = ref.Org, string(ref.Name)
	s.bodies.Bases.Drop(ref)
	err = s.write(ctx, ref.Org, func(t *session) error {
		done = false
		if err := t.doom(ref, before, event); err != nil {
			return err
		}
		done, err = t.dropDoomed(limit)
		return err
	})
	return done, err
}

func (t *session) doom(ref state.Ref, before time.Time, event audit.Event) error {
	var id, deleted int64
	var locked bool
	err := t.queryRow(sqlFindDeleted, ref.Org.String(), string(ref.Name)).Scan(&id, &deleted, &locked)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (locked || stateengine.FromMicros(deleted).After(before)) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := t.rowsOf(ref).run(sqlDoom, id); err != nil {
		return err
	}
	return t.recordEvent(event)
}

// dropDoomed takes a piece of a doomed state.
func (t *session) dropDoomed(limit int) (done bool, err error) {
	var id int64
	err = t.queryRow(sqlFindDoomed).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	ids, err := t.ids(sqlDoomedRows, id, limit)
	if err != nil {
		return false, err
	}
	rows := t.rowsOf(state.Ref{}) // nobody finds it any more
	if err := rows.DropVersions(ids); err != nil || len(ids) == limit {
		return false, err
	}
	for _, rest := range []string{sqlDropCandidates, sqlDropLockIDs, sqlDropPurged} {
		if err := t.run(rest, id); err != nil {
			return false, err
		}
	}
	_, err = rows.run(sqlDropState, id)
	return false, err // there may be another one
}

func (t *session) ids(query string, args ...any) (ids []int64, err error) {
	rows, err := t.conn.QueryContext(context.Background(), query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// queryRow and run are for statements that are too rare to be prepared.
func (t *session) queryRow(query string, args ...any) *sql.Row {
	return t.conn.QueryRowContext(context.Background(), query, args...)
}

func (t *session) run(statement string, args ...any) error {
	_, err := t.change(statement, args...)
	return err
}

// change is run for who wants to know how many rows have changed.
func (t *session) change(statement string, args ...any) (rows int64, err error) {
	result, err := t.conn.ExecContext(context.Background(), statement, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
