package sqlruns

import (
	"context"
	"database/sql"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// What is removed is made invisible first, in one transaction. Its pieces follow in further
// ones, so that nobody waits long behind them. Where that is cut off, the run is still there,
// and the next call goes on.

// atOnce is how many pieces a transaction removes.
const atOnce = 32

// part is a table of pieces, and the column that tells its parts.
type part struct {
	pieces string
	heads  []string // the tables that say what there is
	by     string
}

func logParts() part  { return part{"run_log_pieces", []string{"run_logs"}, "stream"} }
func fileParts() part { return part{"run_file_pieces", []string{"run_files", "run_uploads"}, "kind"} }

// hide removes what says that a run has parts: those of one stream or kind, or all.
func (t tx) hide(ref runs.Ref, p part, only string) error {
	where, args := " WHERE org = ? AND run = ?", []any{t.org, ref.ID}
	if only != "" {
		where, args = where+" AND "+p.by+" = ?", append(args, only)
	}
	for _, table := range p.heads {
		if err := t.exec("DELETE FROM "+table+where, args...); err != nil {
			return err
		}
	}
	return nil
}

// Remove implements runs.Store.
func (s *Store) Remove(ctx context.Context, ref runs.Ref) error {
	err := s.hide(ctx, ref, func(t tx) error {
		for _, p := range []part{logParts(), fileParts()} {
			if err := t.hide(ref, p, ""); err != nil {
				return err
			}
		}
		return nil
	})
	for more := err == nil; more && err == nil; {
		err = s.write(ctx, ref, 0, func(t tx) error {
			more, err = t.sweepAll(ref)
			return err
		})
	}
	return ignoreAbsent(err)
}

// hide runs fn in a transaction in which the run has ended.
func (s *Store) hide(ctx context.Context, ref runs.Ref, fn func(tx) error) error {
	return s.write(ctx, ref, 0, func(t tx) error {
		found, err := load(t, ref)
		if err != nil {
			return err
		}
		if !found.run.Status.Ended() {
			return fault.New(fault.RunStatus, "a run that is %s can't be removed", found.run.Status)
		}
		return fn(t)
	})
}

func ignoreAbsent(err error) error {
	if fault.Is(err, fault.RunNotFound) {
		return nil
	}
	return err
}

// sweepAll removes some pieces of a run, and the run itself when there are none.
func (t tx) sweepAll(ref runs.Ref) (more bool, err error) {
	for _, p := range []part{logParts(), fileParts()} {
		if more, err = t.sweep(ref, p, ""); more || err != nil {
			return more, err
		}
	}
	if err := t.exec("DELETE FROM run_events WHERE org = ? AND run = ?", t.org, ref.ID); err != nil {
		return false, err
	}
	was, err := load(t, ref)
	if err != nil {
		return false, err
	}
	if err := t.countDays(step{was: was.run}); err != nil {
		return false, err
	}
	if err := t.forgetChange(ref.ID); err != nil {
		return false, err
	}
	if err := t.exec("DELETE FROM runs WHERE org = ? AND id = ?", t.org, ref.ID); err != nil {
		return false, err
	}
	if err := t.keepTroubles(step{was: was.run}); err != nil {
		return false, err
	}
	return false, t.tally(runs.Tally{Stored: -1})
}

// sweep removes some pieces of a run: of one stream or kind, or of all.
func (t tx) sweep(ref runs.Ref, p part, only string) (more bool, err error) {
	position := map[string]string{"run_log_pieces": "start", "run_file_pieces": "piece"}[p.pieces]
	type piece struct {
		of               string
		attempt, at, len int64
	}
	where, args := " WHERE org = ? AND run = ?", []any{t.org, ref.ID}
	if only != "" {
		where, args = where+" AND "+p.by+" = ?", append(args, only)
	}
	key := p.by + ", attempt, " + position
	all, err := sqldb.All(t, func(r *sql.Rows) (one piece, err error) {
		return one, r.Scan(&one.of, &one.attempt, &one.at, &one.len)
	}, "SELECT "+key+", LENGTH(sealed) FROM "+p.pieces+where+" ORDER BY "+key+" LIMIT ?", append(args, atOnce)...)
	if err != nil {
		return false, err
	}
	freed := int64(0)
	for _, one := range all {
		freed += one.len
		query := "DELETE FROM " + p.pieces + " WHERE org = ? AND run = ? AND " + p.by + " = ? AND attempt = ? AND " +
			position + " = ?"
		if err := t.exec(query, t.org, ref.ID, one.of, one.attempt, one.at); err != nil {
			return false, err
		}
	}
	return len(all) == atOnce, t.tally(runs.Tally{Bytes: -freed})
}

// Strip implements runs.Store.
func (s *Store) Strip(ctx context.Context, ref runs.Ref, kinds []runs.FileKind, streams []runs.Stream) error {
	type one struct {
		part
		name string
	}
	var wanted []one
	for _, kind := range kinds {
		wanted = append(wanted, one{fileParts(), string(kind)})
	}
	for _, stream := range streams {
		wanted = append(wanted, one{logParts(), string(stream)})
	}
	err := s.hide(ctx, ref, func(t tx) error {
		for _, w := range wanted {
			if err := t.hide(ref, w.part, w.name); err != nil {
				return err
			}
		}
		return nil
	})
	for _, w := range wanted {
		for more := true; more && err == nil; {
			err = s.write(ctx, ref, 0, func(t tx) error {
				more, err = t.sweep(ref, w.part, w.name)
				return err
			})
		}
	}
	return ignoreAbsent(err)
}
