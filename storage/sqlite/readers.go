package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// reader is a connection that can't write. One call uses it at a time.
type reader struct {
	db   *sql.DB
	conn *sql.Conn
	head *headQuery

	current, version, base, probe *sql.Stmt
	lastSequence, eventAt, usage  *sql.Stmt
}

// openReaders opens as many as there is room for.
func openReaders(ctx context.Context, path string, idle chan *reader) error {
	for range cap(idle) {
		r, err := openReader(ctx, path)
		if err != nil {
			return err
		}
		idle <- r
	}
	return nil
}

func openReader(ctx context.Context, path string) (*reader, error) {
	db, err := databaseFile(path).OpenReader()
	if err != nil {
		return nil, err
	}
	r := &reader{db: db, head: &headQuery{}}
	if r.conn, err = db.Conn(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := prepare(ctx, r.conn, r.statements()); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *reader) statements() []statement {
	return []statement{
		{&r.head.stmt, sqlHead}, {&r.current, sqlCurrent}, {&r.version, sqlVersion}, {&r.base, sqlBase},
		{&r.probe, sqlReadProbe},
		{&r.lastSequence, sqlLastSequence}, {&r.eventAt, sqlEventAt},
		{&r.usage, sqlUsage},
	}
}

func (r *reader) close() error {
	return errors.Join(closeConn(r.conn, r.statements()), r.db.Close())
}

// read lends an idle reader to do. A read that has begun is not interrupted: it is short,
// and to watch its context would cost more than it saves.
func (s *Store) read(ctx context.Context, do func(*reader) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.borrow(ctx, do)
}

// borrow is read for a call that is let in already.
func (s *Store) borrow(ctx context.Context, do func(*reader) error) error {
	select {
	case r := <-s.readers:
		defer func() { s.readers <- r }()
		return storeError(do(r))
	case <-ctx.Done():
		return ctx.Err()
	}
}

// snapshot reads one version with its bytes by a reader's statement, in the organization's
// turn. The reader is given back before the bytes are decoded, which takes a second for a
// large state: nobody waits for it meanwhile, and it keeps no purge from emptying the WAL.
func (s *Store) snapshot(ctx context.Context, ref state.Ref, of func(*reader) *sql.Stmt,
	args ...any) (state.Snapshot, error) {
	var found storedVersion
	in := s.bodies.Seals.Of(ctx, ref)
	release, err := s.bodyTurn(ctx, ref.Org)
	if err != nil {
		return state.Snapshot{}, err
	}
	defer release()
	err = s.borrow(ctx, func(r *reader) (err error) {
		found, err = scanStored(in, of(r), append([]any{ref.Org.String(), string(ref.Name)}, args...))
		return err
	})
	if err != nil {
		return state.Snapshot{}, err
	}
	if found.version.Purged {
		return state.Snapshot{}, stateengine.ErrPurged(found.version.Number)
	}
	place := stateengine.Place{Number: found.version.Number}
	body, err := s.bodies.Decode(in, place, found.version, found.own, found.base)
	if err != nil {
		return state.Snapshot{}, err
	}
	return state.Snapshot{Version: found.version, Body: body}, nil
}

// bodyTurn lets a call in, when it is its organization's turn to read a body. It leaves by
// release.
func (s *Store) bodyTurn(ctx context.Context, org uuid.UUID) (release func(), err error) {
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	turn, err := s.bodyTurns.Acquire(ctx, org)
	if err != nil {
		s.gate.Leave()
		return nil, err
	}
	return func() { turn(); s.gate.Leave() }, nil
}

// storedVersion is a version as the database keeps it.
type storedVersion struct {
	version   state.Version
	own, base stateengine.Stored
}

func scanStored(in stateengine.Envelope, query *sql.Stmt, args []any) (found storedVersion, err error) {
	rows, err := query.QueryContext(context.Background(), args...)
	if err != nil {
		return found, err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return found, err
		}
		return found, fault.New(fault.StateNotFound, "there is no such state, or no such version of it")
	}
	var (
		own, base stateengine.StoredRow
		row       stateengine.VersionRow
	)
	if err := rows.Scan(slices.Concat(own.WithBase(), base.Fields(), row.Fields())...); err != nil {
		return found, err
	}
	found.version, err = row.Value(in)
	found.own, found.base = own.Copied(), base.Copied()
	return found, err
}

// readProbe reads one row.
func (r *reader) readProbe() error {
	var newest int64
	return r.probe.QueryRowContext(context.Background()).Scan(&newest)
}
