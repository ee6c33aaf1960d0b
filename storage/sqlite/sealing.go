package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlSealStatus = `SELECT ifnull((SELECT status FROM sealing), ''), (SELECT mark FROM sealing),
		EXISTS (SELECT 1 FROM data_keys)`
	sqlSetSealing = `INSERT INTO sealing (id, status, mark) VALUES (1, ?, ?)
		ON CONFLICT (id) DO UPDATE SET status = excluded.status, mark = excluded.mark`
	sqlIsNew = `SELECT NOT EXISTS (SELECT 1 FROM states) AND NOT EXISTS (SELECT 1 FROM events)`

	// What is sealed has longer digests.
	sqlPlain = `SELECT (SELECT count(*) FROM versions WHERE length(digest) = 32) +
		(SELECT count(*) FROM candidates WHERE length(digest) = 32) +
		(SELECT count(*) FROM purged WHERE length(digest) = 32)`
	sqlStatesAfter = `SELECT org, name FROM states WHERE (org, name) > (?, ?) ORDER BY org, name LIMIT ?`
	sqlStateID     = `SELECT id FROM states WHERE org = ? AND name = ?`

	sqlPlainVersions = `SELECT v.id, v.number, v.digest, b.encoding, b.bytes FROM versions v LEFT JOIN bodies b ON b.id = v.id
		WHERE v.state = ? AND length(v.digest) = 32 ORDER BY v.number LIMIT ?`
	sqlSealVersion rowWrite = `UPDATE versions SET digest = ? WHERE id = ?`
	sqlSealBody    rowWrite = `UPDATE bodies SET encoding = ?, bytes = ? WHERE id = ?`

	sqlPlainCandidates = `SELECT row, id, digest, content, encoding, bytes FROM candidates
		WHERE state = ? AND length(digest) = 32 ORDER BY row LIMIT ?`
	sqlSealCandidate = `UPDATE candidates SET digest = ?, content = ?, encoding = ?, bytes = ? WHERE row = ?`

	sqlPlainPurged = `SELECT digest FROM purged WHERE state = ? AND length(digest) = 32 LIMIT ?`
	sqlSealPurged  = `UPDATE OR REPLACE purged SET digest = ? WHERE state = ? AND digest = ?`
)

const (
	// sealedRows and sealedBytes are how much one transaction seals at most, but for the row with which it gets there.
	sealedRows  = 64
	sealedBytes = 2 << 20
)

// beginSealing finds out whether the store is sealed. A new one is, where it may be.
func (s *Store) beginSealing(ctx context.Context, o Options) error {
	db, err := databaseFile(s.path).OpenReader()
	if err != nil {
		return err
	}
	s.keys = &keys{s, db}
	if o.Master != nil {
		s.bodies.Seals.Use(seal.New(o.Master, s.keys), s.log)
	}
	s.master.Store(o.Master)
	var status stateengine.SealStatus
	if err := db.QueryRowContext(ctx, sqlSealStatus).Scan(&status.Status, &status.Mark, &status.Keys); err != nil {
		return err
	}
	mode, err := status.Mode(o.Master)
	if err != nil {
		return err
	}
	s.bodies.Seals.Become(mode)
	if mode != stateengine.Unsealed || o.Master == nil || o.Plain {
		return nil
	}
	var isNew bool
	if err := db.QueryRowContext(ctx, sqlIsNew).Scan(&isNew); err != nil || !isNew {
		return err
	}
	return s.SetSealing(ctx, stateengine.Sealed)
}

// SealMode says how far the store is sealed.
func (s *Store) SealMode() stateengine.SealMode { return s.bodies.Seals.Mode() }

// Seal seals what is plain, while the store is used. tell is told how far it has come.
func (s *Store) Seal(ctx context.Context, tell func(stateengine.SealProgress)) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(s.sweeper.ctx, stop)() // the store closes
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
	if err := s.gate.Enter(); err != nil {
		return 0, err
	}
	defer s.gate.Leave()
	if !s.Turn(master) {
		return 0, nil
	}
	if mode := s.bodies.Seals.Mode(); mode != stateengine.Unsealed {
		if err := s.SetSealing(ctx, mode); err != nil {
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

// SetSealing implements stateengine.Sealable. The mode changes once the database says so, and within the writer, so
// that no transaction behind it writes what is plain.
func (s *Store) SetSealing(ctx context.Context, mode stateengine.SealMode) error {
	status := stateengine.Marked(s.master.Load(), mode)
	err := s.submit(ctx, server(), 0, func(t *session) error { return t.run(sqlSetSealing, status.Status, status.Mark) })
	if err != nil {
		return err
	}
	return s.submit(ctx, server(), 0, func(*session) error {
		s.bodies.Seals.Become(mode)
		return nil
	})
}

// Plain implements stateengine.Sealable. What is on its way out goes first.
func (s *Store) Plain(ctx context.Context) (n int64, err error) {
	for done := false; !done; {
		err := s.submit(ctx, server(), 0, func(t *session) (err error) {
			done, err = t.dropDoomed(sealedRows)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	err = s.borrow(ctx, func(r *reader) error { return r.conn.QueryRowContext(ctx, sqlPlain).Scan(&n) })
	return n, err
}

// StatesAfter implements stateengine.Sealable.
func (s *Store) StatesAfter(ctx context.Context, after state.Ref, limit int) (refs []state.Ref, err error) {
	org, name := nobody, stateengine.AboveNames
	if after != (state.Ref{}) {
		org, name = after.Org.String(), string(after.Name)
	}
	return list(ctx, s, server(), sqlStatesAfter, []any{org, name, limit}, func(scan stateengine.Scan) (state.Ref, error) {
		var org string
		var ref state.Ref
		err := scan(&org, &ref.Name)
		if err == nil {
			ref.Org, err = uuid.Parse(org)
		}
		return ref, err
	})
}

// SealSome implements stateengine.Sealable.
func (s *Store) SealSome(ctx context.Context, in stateengine.Envelope) (n int, err error) {
	s.bodies.Bases.Drop(in.Ref())
	err = s.transact(ctx, in.Ref().Org, func(t *session) (err error) {
		n, err = t.sealSome(in)
		return err
	})
	return n, err
}

func (t *session) sealSome(in stateengine.Envelope) (n int, err error) {
	var id int64
	ref := in.Ref()
	err = t.queryRow(sqlStateID, ref.Org.String(), string(ref.Name)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	for _, some := range []func(stateengine.Envelope, int64) (int, error){t.sealVersions, t.sealCandidates, t.sealPurged} {
		if err == nil && n == 0 {
			n, err = some(in, id)
		}
	}
	return n, err
}

// plainRow is a row that is to be sealed.
type plainRow struct {
	id        int64
	place     stateengine.Place
	content   []byte
	own       stateengine.Stored
	encoding  sql.NullString
	digestNow []byte
}

func (t *session) sealVersions(in stateengine.Envelope, id int64) (int, error) {
	all, err := t.plainRows(sqlPlainVersions, id, func(scan stateengine.Scan) (r plainRow, err error) {
		return r, scan(&r.id, &r.place.Number, &r.digestNow, &r.encoding, &r.own.Bytes)
	})
	if err != nil {
		return 0, err
	}
	for _, r := range all {
		if err = r.seal(in); err != nil {
			break
		}
		rows := t.rowsOf(in.Ref())
		if _, err = rows.run(sqlSealVersion, r.own.Digest, r.id); err != nil {
			break
		}
		if !r.encoding.Valid {
			continue
		}
		if _, err = rows.run(sqlSealBody, r.own.Encoding, r.own.Bytes, r.id); err != nil {
			break
		}
	}
	return len(all), err
}

func (t *session) sealCandidates(in stateengine.Envelope, id int64) (int, error) {
	all, err := t.plainRows(sqlPlainCandidates, id, func(scan stateengine.Scan) (r plainRow, err error) {
		return r, scan(&r.id, &r.place.Candidate, &r.digestNow, &r.content, &r.encoding, &r.own.Bytes)
	})
	if err != nil {
		return 0, err
	}
	for _, r := range all {
		if err = r.seal(in); err != nil {
			break
		}
		var bytes any
		if r.own.Bytes != nil {
			bytes = r.own.Bytes
		}
		if err = t.run(sqlSealCandidate, r.own.Digest, r.own.Content, r.own.Encoding, bytes, r.id); err != nil {
			break
		}
	}
	return len(all), err
}

// seal makes of what is plain what takes its place. The bytes of a settled candidate are gone, and stay so.
func (r *plainRow) seal(in stateengine.Envelope) (err error) {
	own := stateengine.Stored{Encoding: r.encoding.String, Bytes: r.own.Bytes}
	if own.Bytes != nil {
		if own, err = in.Seal(r.place, own); err != nil {
			return err
		}
	}
	if own.Digest, own.Content, err = in.HideKept(r.digestNow, r.content); err != nil {
		return fmt.Errorf("row %d: %w", r.id, err)
	}
	r.own = own
	return nil
}

func (t *session) sealPurged(in stateengine.Envelope, id int64) (int, error) {
	all, err := t.plainRows(sqlPlainPurged, id, func(scan stateengine.Scan) (r plainRow, err error) {
		return r, scan(&r.digestNow)
	})
	if err != nil {
		return 0, err
	}
	for _, r := range all {
		hidden, _, err := in.HideKept(r.digestNow, nil)
		if err == nil {
			err = t.run(sqlSealPurged, hidden, id, r.digestNow)
		}
		if err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// plainRows reads as many rows as one transaction seals.
func (t *session) plainRows(query string, id int64,
	read func(stateengine.Scan) (plainRow, error)) (all []plainRow, err error) {
	rows, err := t.conn.QueryContext(context.Background(), query, id, sealedRows)
	if err != nil {
		return nil, err
	}
	bytes := 0
	err = stateengine.Each(rows, read, func(r plainRow) (more bool) {
		all, bytes = append(all, r), bytes+len(r.own.Bytes)
		return bytes < sealedBytes
	})
	return all, err
}

// Overwrite implements stateengine.Sealable.
func (s *Store) Overwrite(ctx context.Context) error {
	if err := s.submit(ctx, server(), 0, func(t *session) error { return t.run(sqlOweSweep) }); err != nil {
		return err
	}
	return s.swept(ctx)
}
