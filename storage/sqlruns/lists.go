package sqlruns

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// ask returns what a query of an organization's finds; uuid.Nil is the store itself.
func ask[T any](ctx context.Context, s *Store, org uuid.UUID,
	scan func(*sql.Rows) (T, error), query string, args ...any) (all []T, err error) {
	err = s.db.Ask(ctx, org, func(q sqldb.Querier) error {
		all, err = sqldb.All(q, scan, query, args...)
		return err
	})
	return all, err
}

// Run implements runs.Store.
func (s *Store) Run(ctx context.Context, ref runs.Ref) (found runs.Run, err error) {
	err = s.db.Ask(ctx, ref.Org, func(q sqldb.Querier) error {
		r, err := load(q, ref)
		found = r.run
		return err
	})
	return found, err
}

// Due implements runs.Store.
func (s *Store) Due(ctx context.Context, now time.Time, after runs.Mark, limit int) ([]runs.Mark, error) {
	return s.marks(ctx, "due", "due <= ?", now, after, limit)
}

// Ended implements runs.Store.
func (s *Store) Ended(ctx context.Context, before time.Time, after runs.Mark, limit int) ([]runs.Mark, error) {
	return s.marks(ctx, "ended", "ended < ?", before, after, limit)
}

// marks returns runs by a column that is a time, from behind a mark.
func (s *Store) marks(ctx context.Context, column, until string, at time.Time, after runs.Mark,
	limit int) ([]runs.Mark, error) {
	text, args := "SELECT "+column+", org, id FROM runs WHERE "+until, []any{at.UnixMicro()}
	if after.ID != "" {
		text += " AND " + column + " >= ? AND (" + column + " > ? OR org > ? OR org = ? AND id > ?)"
		args = append(args, after.At.UnixMicro(), after.At.UnixMicro(), after.Org.String(), after.Org.String(), after.ID)
	}
	return ask(ctx, s, uuid.Nil, scanMark, text+" ORDER BY "+column+", org, id LIMIT ?", append(args, limit)...)
}

// Oldest implements runs.Store.
func (s *Store) Oldest(ctx context.Context, org uuid.UUID, limit int) ([]runs.Ref, error) {
	return ask(ctx, s, org, scanRef,
		"SELECT org, id FROM runs WHERE org = ? AND leaves IS NOT NULL ORDER BY leaves LIMIT ?", org.String(), limit)
}

// Open implements runs.Store.
func (s *Store) Open(ctx context.Context, org uuid.UUID, workspace string) ([]runs.Run, error) {
	rows, err := ask(ctx, s, org, scanRow, "SELECT "+columns+" FROM runs WHERE org = ? AND open = ? ORDER BY id",
		org.String(), workspace)
	return runsOf(rows), err
}

// Leased implements runs.Store.
func (s *Store) Leased(ctx context.Context, orgs []uuid.UUID, agent string) ([]runs.Run, error) {
	if len(orgs) == 0 {
		return nil, nil
	}
	where, args := among(orgs)
	if agent == "" {
		where += " AND agent IS NOT NULL"
	} else {
		where, args = where+" AND agent = ?", append(args, agent)
	}
	reader := uuid.Nil
	if len(orgs) == 1 {
		reader = orgs[0]
	}
	rows, err := ask(ctx, s, reader, scanRow, "SELECT "+columns+" FROM runs WHERE "+where+" ORDER BY org, id", args...)
	return runsOf(rows), err
}

// Tally implements runs.Store.
func (s *Store) Tally(ctx context.Context, org uuid.UUID) (has runs.Tally, err error) {
	err = s.db.Ask(ctx, org, func(q sqldb.Querier) error {
		has, err = tallyOf(q, org.String())
		return err
	})
	return has, err
}

func tallyOf(q sqldb.Querier, org string) (has runs.Tally, err error) {
	_, err = sqldb.One(q, []any{&has.Waiting, &has.Working, &has.Stored, &has.Bytes},
		"SELECT waiting, working, kept, bytes FROM run_tallies WHERE org = ?", org)
	return has, err
}

// Events implements runs.Store.
func (s *Store) Events(ctx context.Context, ref runs.Ref, after int64, limit int) ([]runs.Event, error) {
	scan := func(r *sql.Rows) (e runs.Event, err error) {
		var body []byte
		if err := r.Scan(&body); err != nil {
			return e, err
		}
		if err := json.Unmarshal(body, &e); err != nil {
			return e, fault.Wrap(err, fault.StoreCorrupt, "an event of a run is damaged")
		}
		return e, nil
	}
	return ask(ctx, s, ref.Org, scan,
		"SELECT body FROM run_events WHERE org = ? AND run = ? AND sequence > ? ORDER BY sequence LIMIT ?",
		ref.Org.String(), ref.ID, after, limit)
}

// beyond is behind every ID.
const beyond = "\x7f"

// List implements runs.Store.
func (s *Store) List(ctx context.Context, q runs.Query) (page runs.Page, err error) {
	if q.Before == "" {
		q.Before = beyond
	}
	text, args := idsOf(q)
	err = s.db.Read(ctx, q.Org, func(db sqldb.Querier) error {
		found, err := sqldb.All(db, scanText, text, args...)
		if err != nil || len(found) == 0 {
			return err
		}
		page = runs.Page{}
		if len(found) > q.Limit {
			found = found[:q.Limit]
			page.Next = found[q.Limit-1]
		}
		byID := []any{q.Org.String()}
		for _, id := range found {
			byID = append(byID, id)
		}
		rows, err := sqldb.All(db, scanRow, "SELECT "+columns+" FROM runs WHERE org = ? AND id IN ("+sqldb.Places(len(found))+
			") ORDER BY id DESC", byID...)
		page.Runs = runsOf(rows)
		return err
	})
	return page, err
}

func scanText(r *sql.Rows) (text string, err error) { return text, r.Scan(&text) }

// idsOf returns the query for the IDs of a page and one more. Each combination of a kind and a
// status is a range of an index, which is read from its end: so a page costs the same however
// many runs there are that the filter doesn't want.
func idsOf(q runs.Query) (text string, args []any) {
	where, fixed := "org = ?", []any{q.Org.String()}
	if q.Workspace != "" {
		where, fixed = where+" AND workspace = ?", append(fixed, q.Workspace)
	}
	const order = " ORDER BY id DESC LIMIT ?"
	if q.Kind == "" && len(q.Status) == 0 {
		return "SELECT id FROM runs WHERE " + where + " AND id < ?" + order, append(fixed, q.Before, q.Limit+1)
	}
	parts := []string{"SELECT id FROM runs WHERE 1 = 0"} // of a status that isn't one
	for _, kind := range kindsOf(q) {
		for _, status := range statusesOf(q) {
			parts = append(parts, "SELECT id FROM (SELECT id FROM runs WHERE "+where+" AND kind = ? AND status = ? AND id < ?"+
				order+") part")
			args = append(append(args, fixed...), string(kind), string(status), q.Before, q.Limit+1)
		}
	}
	return strings.Join(parts, " UNION ALL ") + order, append(args, q.Limit+1)
}

func kindsOf(q runs.Query) []runs.Kind {
	if q.Kind != "" {
		return []runs.Kind{q.Kind}
	}
	return runs.Kinds()
}

// statusesOf returns those that a query wants, of those that there are.
func statusesOf(q runs.Query) (wanted []runs.Status) {
	for _, status := range runs.Statuses() {
		if len(q.Status) == 0 || slices.Contains(q.Status, status) {
			wanted = append(wanted, status)
		}
	}
	return wanted
}
