// Package sqllayers keeps layers in a database of package sqldb. It is a layers.Store.
package sqllayers

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
)

// Store is a layers.Store. Make it with New.
type Store struct{ db *sqldb.DB }

var _ layers.Store = (*Store)(nil)

// New returns the layers of a database, which it shares with others.
func New(db *sqldb.DB) *Store { return &Store{db} }

// Ready implements layers.Store.
func (s *Store) Ready(ctx context.Context) error { return s.db.Ready(ctx) }

const selectLayers = "SELECT name, revision, document FROM layers WHERE org = ? AND "

func scan(org uuid.UUID, row func(...any) error) (l layers.Layer, err error) {
	var document string
	if err := row(&l.Name, &l.Revision, &document); err != nil {
		return l, err
	}
	l.Org = org
	return l, json.Unmarshal([]byte(document), &l)
}

func find(q sqldb.Querier, ref layers.Ref) (l layers.Layer, found bool, err error) {
	l, err = scan(ref.Org, q.QueryRow(selectLayers+"name = ?", ref.Org.String(), ref.Name).Scan)
	if err == sql.ErrNoRows {
		return layers.Layer{}, false, nil
	}
	return l, err == nil, err
}

// Update implements layers.Store.
func (s *Store) Update(ctx context.Context, ref layers.Ref, decide layers.Decision) (now layers.Layer, err error) {
	err = s.db.Write(ctx, ref.Org, func(tx sqldb.Tx) error {
		now = layers.Layer{}
		was, found, err := find(tx, ref)
		if err != nil {
			return err
		}
		var given *layers.Layer
		if found {
			copied, _, err := find(tx, ref) // what decide changes is nobody else's
			if err != nil {
				return err
			}
			given = &copied
		}
		change, err := decide(given)
		switch {
		case err != nil:
			return err
		case change.Delete:
			if err := remove(tx, ref); err != nil {
				return err
			}
			return sqlworkspace.AddEvent(tx, change.Audit)
		case change.Put == nil:
			now = was
			return nil
		}
		if now, err = put(tx, ref, was.Revision, *change.Put); err != nil {
			return err
		}
		if err := add(tx, ref, change.Tally); err != nil {
			return err
		}
		return sqlworkspace.AddEvent(tx, change.Audit)
	})
	if err != nil {
		return layers.Layer{}, err
	}
	return now, nil
}

func remove(tx sqldb.Tx, ref layers.Ref) error {
	if err := forget(tx, ref); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM layers WHERE org = ? AND name = ?", ref.Org.String(), ref.Name)
	return err
}

// forget removes the days of a layer: those of one that goes, or that a node of before there were days has let go.
func forget(tx sqldb.Tx, ref layers.Ref) error {
	_, err := tx.Exec("DELETE FROM layer_days WHERE org = ? AND layer = ?", ref.Org.String(), ref.Name)
	return err
}

func put(tx sqldb.Tx, ref layers.Ref, revision int64, l layers.Layer) (layers.Layer, error) {
	if revision == 0 {
		if err := forget(tx, ref); err != nil {
			return l, err
		}
	}
	l.Ref, l.Revision = ref, revision+1
	document, err := json.Marshal(l)
	if err != nil {
		return l, err
	}
	if len(document) > sqldb.MaxRow {
		return l, fault.New(fault.LayerInvalid, "the layer has more than can be kept of one")
	}
	checking := 0
	if l.Run != nil && l.Run.Want == layers.WantCheck {
		checking = 1
	}
	_, err = tx.Exec(tx.Dialect().Upsert("layers", []string{"org", "name"},
		[]string{"repository", "revision", "due_at", "checking", "document"}), ref.Org.String(), ref.Name,
		l.Settings.Repository, l.Revision, micros(l.Due), checking, string(document))
	if err != nil {
		return l, err
	}
	read := layers.Layer{Ref: ref, Revision: l.Revision}
	return read, json.Unmarshal(document, &read)
}

// micros is a time as a column has it; 0 for none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Layer implements layers.Store.
func (s *Store) Layer(ctx context.Context, ref layers.Ref) (l layers.Layer, err error) {
	err = s.db.Ask(ctx, ref.Org, func(q sqldb.Querier) error {
		found := false
		if l, found, err = find(q, ref); err == nil && !found {
			err = fault.New(fault.LayerNotFound, "there is no layer %q", ref.Name)
		}
		return err
	})
	return l, err
}

// Layers implements layers.Store.
func (s *Store) Layers(ctx context.Context, of layers.Query) (all []layers.Layer, err error) {
	query, args := "name > ?", []any{of.Org.String(), of.After}
	if of.Repository != "" {
		query, args = "repository = ? AND "+query, []any{of.Org.String(), of.Repository, of.After}
	}
	err = s.db.Ask(ctx, of.Org, func(q sqldb.Querier) error {
		all, err = sqldb.All(q, func(rows *sql.Rows) (layers.Layer, error) { return scan(of.Org, rows.Scan) },
			selectLayers+query+" ORDER BY name LIMIT ?", append(args, of.Limit)...)
		return err
	})
	return all, err
}

// Count implements layers.Store.
func (s *Store) Count(ctx context.Context, org uuid.UUID) (n int, err error) {
	return s.count(ctx, org, "SELECT count(*) FROM layers WHERE org = ?")
}

// Checking implements layers.Store.
func (s *Store) Checking(ctx context.Context, org uuid.UUID) (n int, err error) {
	return s.count(ctx, org, "SELECT count(*) FROM layers WHERE org = ? AND checking = 1")
}

func (s *Store) count(ctx context.Context, org uuid.UUID, query string) (n int, err error) {
	err = s.db.Ask(ctx, org, func(q sqldb.Querier) error {
		_, err := sqldb.One(q, []any{&n}, query, org.String())
		return err
	})
	return n, err
}

// Due implements layers.Store.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) (all []layers.Ref, err error) {
	err = s.db.Ask(ctx, uuid.Nil, func(q sqldb.Querier) error {
		all, err = sqldb.All(q, func(rows *sql.Rows) (ref layers.Ref, err error) {
			var org string
			if err := rows.Scan(&org, &ref.Name); err != nil {
				return ref, err
			}
			ref.Org, err = uuid.Parse(org)
			return ref, err
		}, `SELECT org, name FROM (SELECT org, name, due_at, ROW_NUMBER() OVER (PARTITION BY org ORDER BY due_at, name) AS place
			FROM layers WHERE due_at > 0 AND due_at <= ?) AS due ORDER BY place, due_at, org, name LIMIT ?`, now.UnixMicro(),
			limit)
		return err
	})
	return all, err
}

// Wake implements layers.Store.
func (s *Store) Wake(ctx context.Context, org uuid.UUID, repository string, at time.Time) (woken int, err error) {
	err = s.db.Write(ctx, org, func(tx sqldb.Tx) error {
		_, err := tx.Exec("UPDATE layers SET revision = revision + 1 WHERE org = ? AND repository = ?", org.String(), repository)
		if err != nil {
			return err
		}
		n, err := sqldb.Count(tx,
			"UPDATE layers SET due_at = ? WHERE org = ? AND repository = ? AND (due_at = 0 OR due_at > ?)",
			at.UnixMicro(), org.String(), repository, at.UnixMicro())
		woken = int(n)
		return err
	})
	if err != nil {
		return 0, err
	}
	return woken, nil
}
