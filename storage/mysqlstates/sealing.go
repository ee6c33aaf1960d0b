package mysqlstates

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlSealStatus = `SELECT ifnull((SELECT status FROM state_sealing WHERE id = 1), ''),
		ifnull((SELECT mark FROM state_sealing WHERE id = 1), ''), EXISTS (SELECT 1 FROM state_data_keys)`
	sqlSetSealing = `INSERT INTO state_sealing (id, status, mark) VALUES (1, ?, ?)
		ON DUPLICATE KEY UPDATE status = VALUES(status), mark = VALUES(mark)`
	sqlIsNew = `SELECT NOT EXISTS (SELECT 1 FROM state_heads) AND NOT EXISTS (SELECT 1 FROM state_events)
		AND NOT EXISTS (SELECT 1 FROM state_journal)`

	// What is sealed has longer digests.
	sqlPlain = `SELECT
		(SELECT COUNT(*) FROM state_versions v JOIN state_heads s ON s.id = v.state WHERE LENGTH(v.digest) = 32 AND s.org <> '') +
		(SELECT COUNT(*) FROM state_candidates c JOIN state_heads s ON s.id = c.state WHERE LENGTH(c.digest) = 32 AND s.org <> '') +
		(SELECT COUNT(*) FROM state_purged p JOIN state_heads s ON s.id = p.state WHERE LENGTH(p.digest) = 32 AND s.org <> '')`
	sqlStatesAfter = `SELECT org, name FROM state_heads WHERE org > ? OR org = ? AND name > ? ORDER BY org, name LIMIT ?`

	sqlPlainVersions = `SELECT number, number, '', digest, '', encoding, stored_bytes FROM state_versions
		WHERE state = ? AND LENGTH(digest) = 32 ORDER BY number LIMIT ?`
	sqlSealVersion = `UPDATE state_versions SET digest = ?, encoding = ?, stored_bytes = ? WHERE state = ? AND number = ?`

	sqlPlainCandidates = `SELECT -seq, 0, id, digest, content, encoding, stored_bytes FROM state_candidates
		WHERE state = ? AND LENGTH(digest) = 32 ORDER BY seq LIMIT ?`
	sqlSealCandidate = `UPDATE state_candidates SET digest = ?, content = ?, encoding = ?, stored_bytes = ? WHERE seq = ?`

	sqlPlainPurged = `SELECT 0, 0, '', digest, '', '', 0 FROM state_purged WHERE state = ? AND LENGTH(digest) = 32 LIMIT ?`
	sqlDropPlain   = `DELETE FROM state_purged WHERE state = ? AND digest = ?`

	sqlPieces = `SELECT bytes FROM state_bodies WHERE state = ? AND number = ? ORDER BY piece`
)

const (
	// sealedRows and sealedBytes are how much one transaction seals at most, but for the row with which it gets there.
	sealedRows  = 32
	sealedBytes = 1 << 20
	// sealingEvery is how often a node asks whether another one seals.
	sealingEvery = 5 * time.Second
	// sealingKnown is after how long all nodes know, and no transaction is under way that began before.
	sealingKnown = sealingEvery + insistFor + attemptTimeout
)

// beginSealing finds out whether the database is sealed. A new one is, where it may be.
func (s *Store) beginSealing(ctx context.Context) error {
	o := s.options
	if o.Master != nil {
		s.bodies.Seals.Use(seal.New(o.Master, s.keys), s.log)
	}
	s.master.Store(o.Master)
	mode, err := s.askSealing(ctx)
	if err != nil {
		return err
	}
	s.bodies.Seals.Become(mode)
	if mode != stateengine.Unsealed || o.Master == nil || o.Plain {
		return nil
	}
	var isNew bool
	if err := s.keys.db.QueryRowContext(ctx, sqlIsNew).Scan(&isNew); err != nil || !isNew {
		return err
	}
	return s.setSealing(ctx, stateengine.Sealed)
}

func (s *Store) askSealing(ctx context.Context) (stateengine.SealMode, error) {
	var status stateengine.SealStatus
	err := s.keys.db.QueryRowContext(ctx, sqlSealStatus).Scan(&status.Status, &status.Mark, &status.Keys)
	if err != nil {
		return 0, err
	}
	return status.Mode(s.master.Load())
}

// watchSealing asks whether another node has begun to seal, or has ended it. Who can't seal writes nothing then.
func (s *Store) watchSealing(ctx context.Context) {
	now := time.Now()
	if now.Sub(s.sealingAsked) < sealingEvery {
		return
	}
	s.sealingAsked = now
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	mode, err := s.askSealing(ctx)
	switch {
	case err == nil && mode > s.bodies.Seals.Mode():
		s.bodies.Seals.Become(mode)
	case err != nil && stateengine.CannotSeal(err) && s.bodies.Seals.Mode() == stateengine.Unsealed:
		s.bodies.Seals.Become(stateengine.Sealing)
		s.log.ErrorContext(ctx, "another node seals states, and this one can't", "error", err)
	}
}

// SealMode says how far the database is sealed.
func (s *Store) SealMode() stateengine.SealMode { return s.bodies.Seals.Mode() }

// Seal seals what is plain, while the database is used. tell is told how far it has come.
func (s *Store) Seal(ctx context.Context, tell func(stateengine.SealProgress)) error {
	return s.bodies.Seals.SealAll(ctx, s, tell)
}

// Turn has these master keys wrap and unwrap from now on; false if there are none to this day.
func (s *Store) Turn(master *seal.Master) bool {
	sealer := s.bodies.Seals.Sealer()
	if sealer == nil {
		return false
	}
	sealer.Turn(master)
	s.master.Store(master)
	return true
}

// Rewrap has a new master key wrap what older ones have wrapped, and says how many data keys that were.
func (s *Store) Rewrap(ctx context.Context, master *seal.Master) (changed int, err error) {
	if !s.Turn(master) {
		return 0, nil
	}
	if mode := s.bodies.Seals.Mode(); mode != stateengine.Unsealed {
		if err := s.setSealing(ctx, mode); err != nil {
			return 0, err
		}
	}
	orgs, err := s.keys.owners(ctx)
	if err != nil {
		return 0, err
	}
	return s.bodies.Seals.Rewrap(ctx, orgs)
}

// UnopenedKeys says which organizations have data keys that can't be opened, and why.
func (s *Store) UnopenedKeys(ctx context.Context) (map[uuid.UUID]error, error) {
	orgs, err := s.keys.owners(ctx)
	if err != nil {
		return nil, err
	}
	return s.bodies.Seals.Check(ctx, orgs), nil
}

// SetSealing implements stateengine.Sealable. It waits until other nodes know that they are to seal.
func (s *Store) SetSealing(ctx context.Context, mode stateengine.SealMode) error {
	if err := s.setSealing(ctx, mode); err != nil || mode != stateengine.Sealing {
		return err
	}
	pause(ctx, s.sealingKnown)
	return ctx.Err()
}

func (s *Store) setSealing(ctx context.Context, mode stateengine.SealMode) error {
	status := stateengine.Marked(s.master.Load(), mode)
	err := s.write(ctx, state.Ref{}, func(t *tx) error { return t.later(sqlSetSealing, status.Status, status.Mark) })
	if err == nil {
		s.bodies.Seals.Become(mode)
	}
	return err
}

// Plain implements stateengine.Sealable.
func (s *Store) Plain(ctx context.Context) (n int64, err error) {
	return n, explain(ctx, s.readers.QueryRowContext(ctx, sqlPlain).Scan(&n))
}

// StatesAfter implements stateengine.Sealable.
func (s *Store) StatesAfter(ctx context.Context, after state.Ref, limit int) ([]state.Ref, error) {
	org, name := "", stateengine.AboveNames
	if after != (state.Ref{}) {
		org, name = after.Org.String(), string(after.Name)
	}
	read := func(scan stateengine.Scan) (ref state.Ref, err error) {
		var org string
		if err := scan(&org, &ref.Name); err != nil {
			return ref, err
		}
		ref.Org, err = uuid.Parse(org)
		return ref, err
	}
	return collect(ctx, s, uuid.Nil, read, sqlStatesAfter, org, org, name, limit)
}

// SealSome implements stateengine.Sealable.
func (s *Store) SealSome(ctx context.Context, in stateengine.Envelope) (n int, err error) {
	s.bodies.Bases.Drop(in.Ref())
	err = s.write(ctx, in.Ref(), func(t *tx) error {
		n, err = t.sealSome(in)
		return err
	})
	return n, err
}

func (t *tx) sealSome(in stateengine.Envelope) (n int, err error) {
	id, err := t.lock()
	if err != nil || id == 0 {
		return 0, err
	}
	for _, some := range []func(stateengine.Envelope, int64) (int, error){t.sealVersions, t.sealCandidates, t.sealPurged} {
		if n, err = some(in, id); err != nil || n > 0 {
			return n, err
		}
	}
	return 0, nil
}

// plainRow is a row that is to be sealed.
type plainRow struct {
	body            int64 // number of its pieces
	place           stateengine.Place
	digest, content []byte
	encoding        string
	stored          int64
}

// plainRows reads as many rows as one transaction seals.
func (t *tx) plainRows(query string, id int64) (all []plainRow, err error) {
	rows, err := t.query(query, id, sealedRows)
	if err != nil {
		return nil, err
	}
	bytes := int64(0)
	err = stateengine.Each(rows, func(scan stateengine.Scan) (r plainRow, err error) {
		return r, scan(&r.body, &r.place.Number, &r.place.Candidate, &r.digest, &r.content, &r.encoding, &r.stored)
	}, func(r plainRow) bool {
		all, bytes = append(all, r), bytes+r.stored
		return bytes < sealedBytes
	})
	return all, err
}

func (t *tx) sealVersions(in stateengine.Envelope, id int64) (int, error) {
	all, err := t.plainRows(sqlPlainVersions, id)
	for _, r := range all {
		if err != nil {
			return 0, err
		}
		err = t.sealRow(in, id, r, func(s stateengine.Stored) error {
			return t.later(sqlSealVersion, s.Digest, s.Encoding, s.Counted(), id, r.body)
		})
	}
	return len(all), err
}

func (t *tx) sealCandidates(in stateengine.Envelope, id int64) (int, error) {
	all, err := t.plainRows(sqlPlainCandidates, id)
	for _, r := range all {
		if err != nil {
			return 0, err
		}
		err = t.sealRow(in, id, r, func(s stateengine.Stored) error {
			return t.later(sqlSealCandidate, s.Digest, s.Content, s.Encoding, s.Counted(), -r.body)
		})
	}
	return len(all), err
}

// sealRow puts sealed pieces in the place of plain ones, if there are any, and has set change the row.
func (t *tx) sealRow(in stateengine.Envelope, id int64, r plainRow, set func(stateengine.Stored) error) (err error) {
	var own stateengine.Stored
	if r.encoding != "" {
		if own.Bytes, err = t.body(id, r.body); err != nil {
			return err
		}
		own.Encoding = r.encoding
		if own, err = in.Seal(r.place, own); err != nil {
			return err
		}
		if err := t.later(sqlDropBody, id, r.body); err != nil {
			return err
		}
		if err := t.addPieces(id, r.body, own.Bytes); err != nil {
			return err
		}
		t.grow(t.ref.Org, int64(own.Counted())-r.stored)
	}
	if own.Digest, own.Content, err = in.HideKept(r.digest, r.content); err != nil {
		return err
	}
	return set(own)
}

// body returns the pieces of a body in turn.
func (t *tx) body(id, number int64) (body []byte, err error) {
	rows, err := t.query(sqlPieces, id, number)
	if err != nil {
		return nil, err
	}
	body = []byte{}
	return body, stateengine.Each(rows, func(scan stateengine.Scan) (part []byte, err error) {
		return part, scan(&part)
	}, func(part []byte) bool {
		body = append(body, part...)
		return true
	})
}

func (t *tx) sealPurged(in stateengine.Envelope, id int64) (int, error) {
	all, err := t.plainRows(sqlPlainPurged, id)
	for _, r := range all {
		if err != nil {
			return 0, err
		}
		hidden, _, failed := in.HideKept(r.digest, nil)
		if failed != nil {
			return 0, failed
		}
		err = t.all(statement{sqlKeepDigest, []any{id, hidden}}, statement{sqlDropPlain, []any{id, r.digest}})
	}
	return len(all), err
}

// Overwrite implements stateengine.Sealable. What the server's files keep of replaced rows is left to the server.
func (s *Store) Overwrite(context.Context) error { return nil }
