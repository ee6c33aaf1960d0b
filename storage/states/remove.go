package states

import (
	"bytes"
	"context"
	"database/sql"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlFindVersion = `SELECT digest, purged, stored_bytes FROM state_versions WHERE state = ? AND number = ?`
	sqlIsNeeded    = `SELECT EXISTS (SELECT 1 FROM state_versions WHERE state = ? AND number > ? AND number < ? AND base = ?)`
	sqlMarkPurged  = `UPDATE state_versions SET purged = 1, encoding = '', stored_bytes = 0, base = NULL WHERE state = ? AND number = ?`
	newPurged      = `state_purged (state, digest) VALUES (?, ?)`

	sqlOldest = `SELECT v.number, v.number, v.created_at, v.number = s.newest` + versionOf +
		` WHERE s.id = ? ORDER BY v.number LIMIT ?`
	sqlNeeded = `SELECT base FROM state_versions WHERE state = ? AND number > ? AND number < ? AND base <= ? LIMIT 1`

	sqlSizes       = `SELECT COUNT(*), coalesce(SUM(stored_bytes), 0) FROM state_versions WHERE state = ? AND number IN `
	sqlDropBodies  = `DELETE FROM state_bodies WHERE state = ? AND number IN `
	sqlDropVersion = `DELETE FROM state_versions WHERE state = ? AND number IN `
)

// Purge implements state.Store. Rows are deleted, and what the server's files keep of them is left
// to the server.
func (s *Store) Purge(ctx context.Context, ref state.Ref, number uint64, event audit.Event) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	event.Org, event.State = ref.Org, string(ref.Name)
	for needed := true; needed; {
		s.bodies.Bases.Drop(ref)
		if err := s.detach(ctx, ref, number, 0); err != nil {
			return err
		}
		err := s.transact(ctx, ref, 0, func(t *tx) (err error) {
			needed, err = t.purge(int64(number), event)
			return err
		})
		if err != nil {
			return err
		}
	}
	s.bodies.Bases.Drop(ref) // a write that looked for a base may have kept it since
	return nil
}

// purge does nothing, and says so, when other versions are deltas of this one.
func (t *tx) purge(number int64, event audit.Event) (needed bool, err error) {
	id, err := t.lock()
	if err != nil {
		return false, err
	}
	var (
		digest []byte
		purged bool
		stored int64
	)
	found, err := t.One([]any{&digest, &purged, &stored}, sqlFindVersion, id, number)
	if err == nil && !found {
		err = stateengine.ErrNoVersion(uint64(number))
	}
	if err == nil && !purged { // else no version is a delta of it any more
		_, err = t.One([]any{&needed}, sqlIsNeeded, id, number-stateengine.GroupLength, number+stateengine.GroupLength,
			number)
	}
	if err != nil || needed {
		return needed, err
	}
	destroyed := !purged
	// A candidate of the same bytes is the same leak.
	err = t.settleOpen(id, state.Discarded, event.At.UnixMicro(), func(c openCandidate) bool {
		same := bytes.Equal(digest, c.digest)
		destroyed = destroyed || same
		return same
	})
	if err != nil {
		return false, err
	}
	if !purged {
		t.grow(t.ref.Org, -stored)
		if err := t.all(statement{sqlMarkPurged, []any{id, number}}, statement{sqlDropBody, []any{id, number}}); err != nil {
			return false, err
		}
	}
	if destroyed {
		t.set(id, "purges", true)
		if err := t.Later(t.sql.InsertNew(newPurged), id, digest); err != nil {
			return false, err
		}
	}
	return false, t.AddEvent(event)
}

// statement is one that is kept back with others.
type statement struct {
	text string
	args []any
}

func (t *tx) all(statements ...statement) error {
	for _, s := range statements {
		if err := t.Later(s.text, s.args...); err != nil {
			return err
		}
	}
	return nil
}

// Prune implements state.Store.
func (s *Store) Prune(ctx context.Context, ref state.Ref, p state.Pruning, event audit.Event) (removed int, err error) {
	if err := s.gate.Enter(); err != nil {
		return 0, err
	}
	defer s.gate.Leave()
	event.Org, event.State = ref.Org, string(ref.Name)
	for removed < p.Limit {
		n, most, err := s.prune(ctx, ref, p, p.Limit-removed, event)
		if removed += n; err != nil || n == 0 || n < most {
			return removed, err
		}
	}
	return removed, nil
}

// prune is Prune in one transaction, which removes at most limit, and about as many bytes as any may; most is how
// many that were.
func (s *Store) prune(ctx context.Context, ref state.Ref, p state.Pruning, limit int,
	event audit.Event) (removed, most int, err error) {
	for {
		var base, last uint64
		err = s.transact(ctx, ref, 0, func(t *tx) error {
			id, err := t.lock()
			if err != nil {
				return err
			}
			some, err := t.someVersions(id, limit, shreddedBytes)
			if err != nil {
				return err
			}
			p.Limit, most = max(len(some), 1), len(some)
			removed, base, last, err = stateengine.Prune(pruned{t, id}, p, event)
			return err
		})
		if err != nil || base == 0 {
			return removed, most, err
		}
		s.bodies.Bases.Drop(ref)
		if err := s.detach(ctx, ref, base, last); err != nil {
			return 0, most, err
		}
	}
}

// pruned is a stateengine.PruneTx.
type pruned struct {
	*tx
	id int64
}

// Oldest implements stateengine.PruneTx.
func (p pruned) Oldest(limit int) (*sql.Rows, error) { return p.Query(sqlOldest, p.id, limit) }

// NeededUpTo implements stateengine.PruneTx.
func (p pruned) NeededUpTo(last uint64) (base uint64, err error) {
	_, err = p.One([]any{&base}, sqlNeeded, p.id, int64(last), int64(last)+stateengine.GroupLength, int64(last))
	return base, err
}

// DropVersions implements stateengine.PruneTx.
func (p pruned) DropVersions(numbers []int64) error {
	return p.dropVersions(p.ref.Org, p.id, numbers)
}
