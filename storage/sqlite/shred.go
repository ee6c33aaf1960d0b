package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// An organization's keys go first, then its states are doomed, as Expunge dooms one: nobody finds them from then on,
// and what each of them has goes piece by piece. Its events come last.
const (
	sqlToDoom       = `SELECT id, name, newest IS NOT NULL AND deleted_at IS NULL, lock_id IS NOT NULL FROM states WHERE org = ? LIMIT ?`
	sqlFindShredded = `SELECT id FROM states WHERE org = '` + nobody + `' AND owner = ? LIMIT 1`
	sqlShreddedRows = `SELECT v.id, coalesce(length(b.bytes), 0) FROM versions v LEFT JOIN bodies b ON b.id = v.id WHERE v.state = ? LIMIT ?`

	sqlShredCandidates = `DELETE FROM candidates WHERE row IN (SELECT row FROM candidates WHERE state = ? LIMIT ?)`
	sqlShredLockIDs    = `DELETE FROM lock_ids WHERE state = ?1 AND id IN (SELECT id FROM lock_ids WHERE state = ?1 LIMIT ?2)`
	sqlShredPurged     = `DELETE FROM purged WHERE state = ?1 AND digest IN (SELECT digest FROM purged WHERE state = ?1 LIMIT ?2)`

	// The rows stay, since their times and sequences are searched by halves; nothing else does.
	sqlBlankEvents = `UPDATE events SET org = '` + blankOrg + `', action = '', state = '', version = 0, lock_id = '',
		refused = '', reason = '', note = '', key_id = '', key_name = '', subject = '', role = '', address = '', request = ''
		WHERE sequence IN (SELECT sequence FROM events `
	sqlBlankListed   = sqlBlankEvents + inOrg + ` AND org = ?1 LIMIT ?2)`
	sqlBlankUnlisted = sqlBlankEvents +
		`NOT INDEXED WHERE listed = 0 AND org = ?1 AND sequence >= (SELECT max(sequence) FROM events) - ?3 LIMIT ?2)`

	sqlShredUsage = `DELETE FROM usage WHERE org = ?1`
)

// blankOrg is the organization of events of which nothing is left, as their rows have it.
const blankOrg = "00000000-0000-0000-0000-000000000000"

const (
	// shreddedBytes is how much of bodies goes in one transaction, but for the one with which it
	// gets there: what is deleted is overwritten.
	shreddedBytes = 4 << 20
	// shreddedCandidates is how many candidates go in one, whose bytes are not counted.
	shreddedCandidates = 4
)

// Shred implements state.Store. As Purge does, it owes a sweep for what it has destroyed, and the
// call that finds nothing any more waits for that.
func (s *Store) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	if err := s.gate.Enter(); err != nil {
		return 0, err
	}
	defer s.gate.Leave()
	var owed bool
	err = s.transact(ctx, org, func(t *session) (err error) {
		t.heads.forgetAll()
		if removed, err = t.shred(org, limit); err != nil {
			return err
		}
		if removed > 0 {
			return t.run(sqlOweSweep)
		}
		return t.queryRow(sqlOwesSweep).Scan(&owed)
	})
	s.bodies.Bases.DropOrg(org)
	s.bodies.Seals.Forget(org)
	if err != nil || !owed {
		return removed, err
	}
	return 0, s.swept(ctx)
}

// shred takes a piece of what an organization has.
func (t *session) shred(org uuid.UUID, limit int) (removed int, err error) {
	if n, err := t.change(sqlShredKeys, org.String()); err != nil || n > 0 {
		return int(n), err
	}
	doomed, err := t.doomAll(org, limit)
	if err != nil || doomed > 0 {
		return doomed, err
	}
	var id int64
	err = t.queryRow(sqlFindShredded, org.String()).Scan(&id)
	if err == nil {
		return t.shredState(id, limit)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	for _, rest := range []struct {
		text string
		args []any
	}{
		{sqlBlankListed, []any{org.String(), limit}},
		{sqlBlankUnlisted, []any{org.String(), limit, unlisted}},
		{sqlShredUsage, []any{org.String()}},
	} {
		if n, err := t.change(rest.text, rest.args...); err != nil || n > 0 {
			return int(n), err
		}
	}
	return t.shredChain(org)
}

// shredChain takes the organization's chain, also one that the transaction has only begun. Before that it
// goes on: what jobs before this one have added to it has to be written.
func (t *session) shredChain(org uuid.UUID) (removed int, err error) {
	n, err := t.change(sqlShredChain, org.String())
	if err != nil {
		return 0, err
	}
	if err := t.run(sqlShredCheckpoint, org.String()); err != nil {
		return 0, err
	}
	if begun := t.chains.forget(org); begun || n > 0 {
		removed = 1
	}
	return removed, nil
}

// doomAll dooms some states of an organization, which count no more from then on.
func (t *session) doomAll(org uuid.UUID, limit int) (doomed int, err error) {
	some, err := t.toDoom(org, limit)
	for _, one := range some {
		if _, err := t.rowsOf(one.ref).run(sqlDoom, one.id); err != nil {
			return 0, err
		}
		t.census.Note(one.ref, one.head, state.Head{})
	}
	return len(some), err
}

// doomedState is one that is to go, with as much of its head as is counted.
type doomedState struct {
	id   int64
	ref  state.Ref
	head state.Head
}

func (t *session) toDoom(org uuid.UUID, limit int) (some []doomedState, err error) {
	rows, err := t.conn.QueryContext(context.Background(), sqlToDoom, org.String(), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		one := doomedState{ref: state.Ref{Org: org}}
		var readable, locked bool
		if err := rows.Scan(&one.id, &one.ref.Name, &readable, &locked); err != nil {
			return nil, err
		}
		if readable {
			one.head.Version.Number = 1
		}
		if locked {
			one.head.Lock = &state.Lock{}
		}
		some = append(some, one)
	}
	return some, rows.Err()
}

// shredState takes a piece of a doomed state, and at last its own row.
func (t *session) shredState(id int64, limit int) (removed int, err error) {
	rows := t.rowsOf(state.Ref{}) // nobody finds it any more
	versions, err := t.someVersions(id, limit)
	if err != nil || len(versions) > 0 {
		return len(versions), errors.Join(err, rows.DropVersions(versions))
	}
	for _, rest := range []struct {
		text  string
		limit int
	}{{sqlShredCandidates, min(limit, shreddedCandidates)}, {sqlShredLockIDs, limit}, {sqlShredPurged, limit}} {
		if n, err := t.change(rest.text, id, rest.limit); err != nil || n > 0 {
			return int(n), err
		}
	}
	n, err := rows.run(sqlDropState, id)
	return int(n), err
}

// someVersions returns rows of a state's versions, as many as one transaction takes.
func (t *session) someVersions(id int64, limit int) (ids []int64, err error) {
	rows, err := t.conn.QueryContext(context.Background(), sqlShreddedRows, id, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for bytes := int64(0); bytes < shreddedBytes && rows.Next(); {
		var row, length int64
		if err := rows.Scan(&row, &length); err != nil {
			return nil, err
		}
		ids, bytes = append(ids, row), bytes+length
	}
	return ids, rows.Err()
}
