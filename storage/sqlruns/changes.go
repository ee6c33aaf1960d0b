package sqlruns

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// moves reports whether a change is one that who follows the runs is told of: not that an executor
// shows life.
func moves(was runs.Run, change runs.Change) bool {
	return len(change.Events) > 0 || change.Run.Status != was.Status || change.Run.Phase != was.Phase
}

// moved gives a run the organization's next number of a change. Writes of one organization follow
// each other, so that numbers come to be seen in their order.
func (t tx) moved(id string) error {
	last, err := lastChange(t, t.org)
	if err == nil {
		err = t.exec(t.Dialect().Upsert("run_changed", []string{"org"}, []string{"number"}), t.org, last+1)
	}
	if err == nil {
		err = t.forgetChange(id)
	}
	if err != nil {
		return err
	}
	return t.exec("INSERT INTO run_changes (org, number, run) VALUES (?, ?, ?)", t.org, last+1, id)
}

// forgetChange takes a run out of the order.
func (t tx) forgetChange(id string) error {
	return t.exec("DELETE FROM run_changes WHERE org = ? AND run = ?", t.org, id)
}

func lastChange(q sqldb.Querier, org string) (last int64, err error) {
	_, err = sqldb.One(q, []any{&last}, "SELECT number FROM run_changed WHERE org = ?", org)
	return last, err
}

// Changes implements runs.Changes.
func (s *Store) Changes(ctx context.Context, org uuid.UUID, after int64, limit int) ([]runs.ChangedRun, error) {
	scan := func(r *sql.Rows) (c runs.ChangedRun, err error) {
		var found row
		var revision int64
		if err := r.Scan(&c.Number, &revision, &found.events, &found.body); err != nil {
			return c, err
		}
		err = found.decode(revision)
		c.Run = found.run
		return c, err
	}
	return ask(ctx, s, org, scan, "SELECT c.number, "+columns+
		" FROM run_changes c JOIN runs r ON r.org = c.org AND r.id = c.run WHERE c.org = ? AND c.number > ? ORDER BY "+
		"c.number LIMIT ?", org.String(), after, limit)
}

// LastChange implements runs.Changes.
func (s *Store) LastChange(ctx context.Context, org uuid.UUID) (last int64, err error) {
	err = s.db.Ask(ctx, org, func(q sqldb.Querier) error {
		last, err = lastChange(q, org.String())
		return err
	})
	return last, err
}

const dayMicros = int64(24 * time.Hour / time.Microsecond)

func dayOf(at time.Time) int64 { return at.UnixMicro() / dayMicros }

// countDays keeps how many runs have ended on each day.
func (t tx) countDays(s step) error {
	was, next := s.was.Status.Ended(), s.next.Status.Ended()
	if was && next && s.was.Status == s.next.Status && dayOf(s.was.FinishedAt) == dayOf(s.next.FinishedAt) {
		return nil
	}
	if was {
		if err := t.countDay(s.was, -1); err != nil {
			return err
		}
	}
	if next {
		return t.countDay(s.next, 1)
	}
	return nil
}

func (t tx) countDay(run runs.Run, more int) error {
	key := []any{t.org, dayOf(run.FinishedAt), string(run.Status)}
	const where = " WHERE org = ? AND day = ? AND status = ?"
	found, err := sqldb.Change(t, "UPDATE run_days SET runs = runs + ?"+where, append([]any{more}, key...)...)
	switch {
	case err != nil:
		return err
	case !found:
		return t.exec("INSERT INTO run_days (org, day, status, runs) VALUES (?, ?, ?, ?)", append(key, more)...)
	case more < 0:
		return t.exec("DELETE FROM run_days"+where+" AND runs <= 0", key...)
	}
	return nil
}

// Outcomes implements runs.Changes.
func (s *Store) Outcomes(ctx context.Context, org uuid.UUID, from, to time.Time) ([]runs.Outcome, error) {
	scan := func(r *sql.Rows) (o runs.Outcome, err error) {
		var day int64
		err = r.Scan(&day, &o.Status, &o.Runs)
		o.Day = time.UnixMicro(day * dayMicros).UTC()
		return o, err
	}
	return ask(ctx, s, org, scan,
		"SELECT day, status, runs FROM run_days WHERE org = ? AND day BETWEEN ? AND ? ORDER BY day, status",
		org.String(), dayOf(from), dayOf(to))
}
