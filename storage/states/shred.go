package states

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// An organization's states are doomed first, as Expunge dooms one: nobody finds them from then on,
// and what each of them has goes piece by piece. Its events come last.
const (
	sqlToDoom       = `SELECT id, newest IS NOT NULL AND deleted_at IS NULL, is_locked, coalesce(lock_raw, '') FROM state_heads WHERE org = ? ORDER BY name LIMIT ? FOR UPDATE`
	sqlFindShredded = `SELECT id, owner FROM state_heads WHERE org = '' AND owner = ? LIMIT 1 FOR UPDATE`

	// The rows stay, since their times and sequences are searched by halves; nothing else does.
	sqlBlank = `UPDATE state_events` + blanked
	blanked  = ` SET org = '00000000-0000-0000-0000-000000000000', action = '', state = '', version = 0, lock_id = '',
		refused = '', reason = '', note = '', key_id = '', key_name = '', subject = '', role = '', address = '', request = ''`

	// Who has the log locked is the only one that adds to what is counted.
	sqlShredUsage      = `DELETE FROM state_usage WHERE org = ?`
	sqlShredChain      = `DELETE FROM state_chains WHERE org = ?`
	sqlShredCheckpoint = `DELETE FROM state_checkpoints WHERE org = ?`
	sqlShredRoom       = `DELETE FROM state_rooms WHERE org = ?`
	sqlJournalOf       = `SELECT COUNT(*) FROM state_journal WHERE org = ?`
)

const (
	// shreddedBytes is how much of bodies goes in one transaction, but for the one with which it
	// gets there.
	shreddedBytes = 4 << 20
	// shreddedCandidates is how many candidates go in one, whose bytes are not counted.
	shreddedCandidates = 4
)

// Shred implements state.Store. Rows are deleted, and what the server's files keep of them is left
// to the server.
func (s *Store) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	if err := s.gate.Enter(); err != nil {
		return 0, err
	}
	defer s.gate.Leave()
	if err := s.acks.forget(func(one ack) bool { return one.Org == org }); err != nil {
		return 0, err
	}
	s.rewinds.forget(org)
	if err := s.moved(ctx); err != nil { // so that the log has all of its events
		return 0, s.explain(ctx, err)
	}
	err = s.transact(ctx, state.Ref{Org: org}, 0, func(t *tx) error {
		removed, err = t.shred(org, limit)
		return err
	})
	s.bodies.Bases.DropOrg(org)
	s.bodies.Seals.Forget(org)
	return removed, err
}

// shred takes a piece of what an organization has.
func (t *tx) shred(org uuid.UUID, limit int) (removed int, err error) {
	if removed, err = t.affected(sqlShredKeys, org.String()); err != nil || removed > 0 {
		return removed, err
	}
	rewinds := t.sql.DeleteSome("state_rewinds", "org, name", "org = ?", "name")
	if removed, err = t.affected(rewinds, org.String(), limit); err != nil || removed > 0 {
		return removed, err
	}
	removed, err = t.doomAll(org, limit)
	if err != nil || removed > 0 {
		return removed, err
	}
	id, _, err := t.doomed(sqlFindShredded, org.String())
	if err != nil {
		return 0, err
	}
	if id != 0 {
		return t.shredState(org, id, limit)
	}
	blank := t.sql.Some("UPDATE ", "state_events", blanked, "sequence", "org = ?", "sequence")
	if removed, err = t.affected(blank, org.String(), limit); err != nil || removed > 0 {
		return removed, err
	}
	return t.shredCounts(org)
}

// affected runs a statement and returns how many rows it has changed.
func (t *tx) affected(statement string, args ...any) (int, error) {
	result, err := t.Exec(statement, args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// shredCounts takes what is counted, once the journal has nothing more of it.
func (t *tx) shredCounts(org uuid.UUID) (removed int, err error) {
	if _, err := t.lockLog(); err != nil {
		return 0, err
	}
	var left int
	if _, err := t.One([]any{&left}, sqlJournalOf, org.String()); err != nil || left > 0 {
		return left, err
	}
	rooms, err := t.affected(sqlShredRoom, org.String())
	if err != nil {
		return 0, err
	}
	chains, err := t.affected(sqlShredChain, org.String())
	if err != nil {
		return 0, err
	}
	if _, err := t.affected(sqlShredCheckpoint, org.String()); err != nil {
		return 0, err
	}
	removed, err = t.affected(sqlShredUsage, org.String())
	return min(removed+rooms+chains, 1), err
}

// doomAll dooms some states of an organization, which count no more from then on.
func (t *tx) doomAll(org uuid.UUID, limit int) (doomed int, err error) {
	rows, err := t.Query(sqlToDoom, org.String(), limit)
	if err != nil {
		return 0, err
	}
	type one struct {
		id               int64
		readable, locked bool
		raw              []byte
	}
	var some []one
	err = stateengine.Each(rows, func(scan stateengine.Scan) (o one, err error) {
		return o, scan(&o.id, &o.readable, &o.locked, &o.raw)
	}, func(o one) bool {
		some = append(some, o)
		return true
	})
	for _, o := range some {
		t.states -= counted(o.readable)
		t.locks -= counted(o.locked)
		t.grow(org, -state.LockBytes(&state.Lock{Info: state.LockInfo{Raw: o.raw}}))
		err = errors.Join(err, t.doom(o.id))
	}
	return len(some), err
}

// shredState takes a piece of a doomed state, and at last its own row.
func (t *tx) shredState(org uuid.UUID, id int64, limit int) (removed int, err error) {
	versions, err := t.someVersions(id, limit, shreddedBytes)
	if err != nil || len(versions) > 0 {
		return len(versions), errors.Join(err, t.dropVersions(org, id, versions))
	}
	if removed, err = t.dropCandidates(org, id, min(limit, shreddedCandidates)); err != nil || removed > 0 {
		return removed, err
	}
	for _, rest := range []string{t.sql.DeleteSome("state_lock_ids", "state, id", "state = ?", "id"),
		t.sql.DeleteSome("state_purged", "state, digest", "state = ?", "digest")} {
		if removed, err = t.affected(rest, id, limit); err != nil || removed > 0 {
			return removed, err
		}
	}
	return 1, t.dropRest(org, id)
}
