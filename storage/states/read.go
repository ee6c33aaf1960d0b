package states

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	// askTimeout bounds a small read, and bodyTimeout one of a body: 100 MB over a slow network.
	askTimeout  = 10 * time.Second
	bodyTimeout = 2 * time.Minute
)

// ask makes a small read, in the organization's turn.
func (s *Store) ask(ctx context.Context, org uuid.UUID, do func(context.Context) error) error {
	return s.read(ctx, s.heading, org, askTimeout, do)
}

// read makes a read in the organization's turn, once more if the connection is lost meanwhile, or leads
// to a server that another one has replaced. do may run twice.
func (s *Store) read(ctx context.Context, places *turns.Turns, org uuid.UUID, bound time.Duration,
	do func(context.Context) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	release, err := places.Acquire(ctx, org)
	if err != nil {
		return err
	}
	defer release()
	bounded, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	err = do(bounded)
	demoted := errors.Is(err, mysqldb.ErrDemoted)
	if demoted {
		s.server.redial(s.readers)
	}
	if (demoted || s.sql.IsAway(err)) && bounded.Err() == nil {
		err = do(bounded)
	}
	return s.explain(ctx, err)
}

// Head implements state.Store.
func (s *Store) Head(ctx context.Context, ref state.Ref) (head state.Head, err error) {
	in := s.bodies.Seals.Of(ctx, ref)
	err = s.ask(ctx, ref.Org, func(ctx context.Context) error {
		var mark int
		var scan stateengine.HeadScan
		err := s.readers.QueryRowContext(ctx, s.texts.head, ref.Org.String(), string(ref.Name)).Scan(
			append([]any{&mark}, scan.Fields()...)...)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil && mark == isDemoted {
			err = mysqldb.ErrDemoted
		}
		if err != nil {
			return err
		}
		row, err := scan.Value(in)
		head = row.Head
		return err
	})
	return head, err
}

// Current implements state.Store.
func (s *Store) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	args := []any{ref.Org.String(), string(ref.Name)}
	return s.snapshot(ctx, ref, s.texts.current, slices.Concat(args, args))
}

// Version implements state.Store.
func (s *Store) Version(ctx context.Context, ref state.Ref, number uint64) (state.Snapshot, error) {
	args := []any{ref.Org.String(), string(ref.Name), stateengine.Key(number)}
	snapshot, err := s.snapshot(ctx, ref, s.texts.version, slices.Concat(args, args))
	if err == nil {
		err = stateengine.IsAsked(snapshot, number)
	}
	if err != nil {
		return state.Snapshot{}, err
	}
	return snapshot, nil
}

// snapshot reads one version with its bytes. The connection is given back before they are decoded,
// which takes a second for a large state.
func (s *Store) snapshot(ctx context.Context, ref state.Ref, query string, args []any) (state.Snapshot, error) {
	if err := s.rewinds.of(ref); err != nil {
		return state.Snapshot{}, err
	}
	in := s.bodies.Seals.Of(ctx, ref)
	found, err := s.storedVersion(ctx, ref, query, args)
	if err == nil {
		err = s.rewinds.of(ref) // it may have been noticed on the connection that this was read from
	}
	var snapshot state.Snapshot
	if err == nil {
		snapshot, err = s.decode(in, found)
	}
	if fault.Is(err, fault.StateCorrupt) {
		s.bodies.Bases.Drop(ref) // if it is the base itself, no further version may be a delta of it
	}
	return snapshot, err
}

func (s *Store) decode(in stateengine.Envelope, found *storedVersion) (state.Snapshot, error) {
	version, err := found.row.Value(in)
	if err != nil {
		return state.Snapshot{}, err
	}
	if version.Purged {
		return state.Snapshot{}, stateengine.ErrPurged(version.Number)
	}
	place := stateengine.Place{Number: version.Number}
	body, err := s.bodies.Decode(in, place, version, found.own.body(), found.base.body())
	if err != nil {
		return state.Snapshot{}, err
	}
	return state.Snapshot{Version: version, Body: body}, nil
}

// storedVersion is a version as the database keeps it.
type storedVersion struct {
	row       stateengine.VersionRow
	own, base pieces
}

// storedVersion reads one in the organization's turn to read a body.
func (s *Store) storedVersion(ctx context.Context, ref state.Ref, query string,
	args []any) (found *storedVersion, err error) {
	err = s.read(ctx, s.reading, ref.Org, bodyTimeout, func(ctx context.Context) error {
		found, err = s.scanVersion(ctx, query, args)
		return err
	})
	return found, err
}

// scanVersion is storedVersion for a call that is let in already.
func (s *Store) scanVersion(ctx context.Context, query string, args []any) (*storedVersion, error) {
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var found storedVersion
	found.own.base = &found.base
	some, err := found.own.scan(rows, found.row.Fields())
	if err == nil && !some {
		err = fault.New(fault.StateNotFound, "there is no such state, or no such version of it")
	}
	return &found, err
}
