package states

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// Update implements state.Store. The body is compressed before the transaction begins.
func (s *Store) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	if err := s.gate.Enter(); err != nil {
		return state.Head{}, err
	}
	defer s.gate.Leave()
	if err := ctx.Err(); err != nil {
		return state.Head{}, err
	}
	u, err := s.bodies.NewUpdate(ctx, ref, body, decide)
	if err != nil {
		return state.Head{}, err
	}
	return s.bodies.Make(ctx, u, body, func() error {
		return s.transact(ctx, ref, len(u.Body.Bytes), func(t *tx) error {
			t.in = u.Envelope()
			return u.Run(t)
		})
	})
}

// Record implements state.Store.
func (s *Store) Record(ctx context.Context, event audit.Event) error {
	return s.write(ctx, state.Ref{Org: event.Org}, func(t *tx) error { return t.AddEvent(event) })
}

// write is transact for a call that is not let in yet.
func (s *Store) write(ctx context.Context, ref state.Ref, work func(*tx) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.transact(ctx, ref, 0, work)
}

// Usage implements state.Store.
func (s *Store) Usage(ctx context.Context, org uuid.UUID) (used int64, err error) {
	err = s.ask(ctx, org, func(ctx context.Context) error {
		return s.readers.QueryRowContext(ctx, sqlUsage, org.String(), org.String()).Scan(&used)
	})
	return used, err
}

const sqlTotals = `SELECT states + coalesce((SELECT SUM(states) FROM state_journal), 0), locks + coalesce((SELECT SUM(locks) FROM state_journal), 0),
	(SELECT MIN(lock_since) FROM state_heads WHERE lock_since IS NOT NULL) FROM state_log WHERE id = 1`

// Totals implements state.Store. What the journal has yet is little: it moves on all the time.
func (s *Store) Totals(ctx context.Context) (totals state.Totals, err error) {
	var oldest *int64
	err = s.ask(ctx, uuid.Nil, func(ctx context.Context) error {
		return s.readers.QueryRowContext(ctx, sqlTotals).Scan(&totals.States, &totals.Locks, &oldest)
	})
	if err != nil {
		return state.Totals{}, err
	}
	totals.Rewound = int64(s.rewinds.count())
	if oldest != nil {
		totals.Oldest = time.UnixMicro(*oldest).UTC()
	}
	return totals, nil
}

// Ready implements state.Store. It really writes, at most once a second however many ask, because
// a server that lets itself be read may still be read-only or full.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.ready.Ask(ctx, s.now, s.probe)
}

func (s *Store) probe(ctx context.Context) error {
	_, err := s.readers.ExecContext(ctx, sqlProbe, time.Now().UnixMicro())
	if n := s.rewinds.count(); err == nil && n > 0 {
		return fault.New(fault.StoreDegraded, "the database has lost changes of %d states that were acknowledged, and these "+
			"are refused; the log and the table state_rewinds say which", n)
	}
	if err == nil {
		return nil
	}
	if why := s.server.WhyReadOnly(ctx, s.readers); why != "" {
		return fault.Wrap(err, fault.StoreUnavailable, "the database is read-only (%s)", why)
	}
	return s.sql.storeError(err)
}
