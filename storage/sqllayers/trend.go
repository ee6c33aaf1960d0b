package sqllayers

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// add counts what a run's end adds to a layer's day. The first of a day takes the place of the oldest one.
func add(tx sqldb.Tx, ref layers.Ref, t *layers.Tally) error {
	if t == nil {
		return nil
	}
	row := []any{t.Checks, t.Found, t.Drifted, t.Fresh, t.Healed, ref.Org.String(), int64(t.Day), ref.Name}
	found, err := sqldb.Change(tx, `UPDATE layer_days SET checks = checks + ?, found = found + ?, drifted = ?,
		fresh = fresh + ?, healed = healed + ? WHERE org = ? AND day = ? AND layer = ?`, row...)
	if err != nil || found {
		return err
	}
	_, err = tx.Exec(`INSERT INTO layer_days (checks, found, drifted, fresh, healed, org, day, layer)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, row...)
	if err != nil {
		return err
	}
	_, err = tx.Exec("DELETE FROM layer_days WHERE org = ? AND layer = ? AND day <= ?", ref.Org.String(), ref.Name,
		int64(t.Day-layers.MostDays))
	return err
}

// named is how many layers one statement names.
const named = 500

// Trend implements layers.Store.
func (s *Store) Trend(ctx context.Context, of layers.TrendQuery) (all []layers.Trend, err error) {
	err = s.db.Ask(ctx, of.Org, func(q sqldb.Querier) error {
		all = nil
		switch {
		case of.Layer != "":
			all, err = trend(q, of, []string{of.Layer})
			return err
		case of.Sees == nil:
			all, err = trend(q, of, nil)
			return err
		}
		names, err := seen(q, of)
		if err != nil {
			return err
		}
		days := map[layers.Day]layers.Trend{}
		for some := range slices.Chunk(names, named) {
			part, err := trend(q, of, some)
			if err != nil {
				return err
			}
			for _, day := range part {
				days[day.Day] = day.Add(days[day.Day])
			}
		}
		all = slices.SortedFunc(maps.Values(days), func(a, b layers.Trend) int { return cmp.Compare(a.Day, b.Day) })
		return nil
	})
	return all, err
}

// seen returns the names of the layers that count.
func seen(q sqldb.Querier, of layers.TrendQuery) ([]string, error) {
	names, err := sqldb.All(q, func(rows *sql.Rows) (name string, err error) { return name, rows.Scan(&name) },
		"SELECT name FROM layers WHERE org = ?", of.Org.String())
	return slices.DeleteFunc(names, func(name string) bool { return !of.Sees(name) }), err
}

// trend returns the days of the layers of these names, or of all for none, with their numbers together.
func trend(q sqldb.Querier, of layers.TrendQuery, names []string) ([]layers.Trend, error) {
	where, args := "", []any{of.Org.String(), int64(of.From), int64(of.To)}
	if len(names) > 0 {
		where = " AND layer IN (" + sqldb.Places(len(names)) + ")"
		for _, name := range names {
			args = append(args, name)
		}
	}
	return sqldb.All(q, func(rows *sql.Rows) (t layers.Trend, err error) {
		return t, rows.Scan(&t.Day, &t.Checks, &t.Found, &t.Layers, &t.Drifted, &t.Resources, &t.Fresh, &t.Healed)
	}, `SELECT day, SUM(checks), SUM(found), SUM(CASE WHEN checks > 0 THEN 1 ELSE 0 END),
		SUM(CASE WHEN drifted > 0 THEN 1 ELSE 0 END), SUM(drifted), SUM(fresh), SUM(healed)
		FROM layer_days WHERE org = ? AND day BETWEEN ? AND ?`+where+" GROUP BY day ORDER BY day", args...)
}
