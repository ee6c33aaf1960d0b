package sqlruns

import (
	"context"
	"database/sql"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// maxPiece is how large a sealed piece may be: a MiB, and what sealing adds.
const maxPiece = sqldb.MaxRow + 4<<10

func checkPiece(sealed []byte) error {
	if len(sealed) > maxPiece {
		return fault.New(fault.BodyTooLarge, "a piece has %d bytes; the store keeps at most %d", len(sealed), maxPiece)
	}
	return nil
}

// logKey selects what belongs to a log.
const logKey = "org = ? AND run = ? AND stream = ? AND attempt = ?"

func argsOf(log runs.LogRef, more ...any) []any {
	return append([]any{log.Org.String(), log.ID, string(log.Stream), log.Attempt}, more...)
}

// AppendLog implements runs.Store.
func (s *Store) AppendLog(ctx context.Context, log runs.LogRef, end int64, pieces []runs.LogPiece,
	allow func(runs.Run) error) (after int64, err error) {
	bytes, err := checkPieces(end, pieces)
	if err != nil {
		return 0, err
	}
	err = s.write(ctx, log.Ref, bytes, func(t tx) error {
		if err := t.allowed(log.Ref, allow); err != nil {
			return err
		}
		if after, err = endOf(t, log); err != nil || after != end {
			return err
		}
		if err := t.clear(log, pieces[0].Offset, end); err != nil {
			return err
		}
		for _, piece := range pieces {
			if err := t.addPiece(log, piece); err != nil {
				return err
			}
			after = piece.Offset + piece.Size
		}
		return t.exec(t.Dialect().Upsert("run_logs", []string{"org", "run", "stream", "attempt"}, []string{"size"}),
			argsOf(log, after)...)
	})
	if err != nil {
		return 0, err
	}
	return after, nil
}

// checkPieces returns how many bytes pieces have, which are to follow each other, and to go
// beyond the end.
func checkPieces(end int64, pieces []runs.LogPiece) (bytes int, err error) {
	if len(pieces) == 0 || pieces[0].Offset > end {
		return 0, mismatch(end)
	}
	last := pieces[0].Offset
	for _, piece := range pieces {
		if err := checkPiece(piece.Sealed); err != nil {
			return 0, err
		}
		if piece.Size <= 0 || piece.Offset != last {
			return 0, mismatch(piece.Offset)
		}
		bytes, last = bytes+len(piece.Sealed), piece.Offset+piece.Size
	}
	if last <= end {
		return 0, mismatch(last)
	}
	return bytes, nil
}

func mismatch(offset int64) error {
	return fault.New(fault.LogMismatch, "the pieces at %d don't continue what the log has there", offset)
}

// clear removes the pieces from an offset on, where one of them begins or the log ends.
func (t tx) clear(log runs.LogRef, from, end int64) error {
	if from == end {
		return nil
	}
	old, err := sqldb.All(t, scanSpan, spans+logKey+" AND start >= ? ORDER BY start", argsOf(log, from)...)
	if err != nil {
		return err
	}
	if len(old) == 0 || old[0].start != from {
		return mismatch(from)
	}
	freed := int64(0)
	for _, s := range old {
		freed += s.stored
	}
	if err := t.exec("DELETE FROM run_log_pieces WHERE "+logKey+" AND start >= ?", argsOf(log, from)...); err != nil {
		return err
	}
	return t.tally(runs.Tally{Bytes: -freed})
}

// allowed asks a caller's function about the run as it is.
func (t tx) allowed(ref runs.Ref, allow func(runs.Run) error) error {
	found, err := load(t, ref)
	if err != nil {
		return err
	}
	if err := allow(found.run); err != nil {
		return refusal{err}
	}
	return nil
}

func (t tx) addPiece(log runs.LogRef, piece runs.LogPiece) error {
	const query = "INSERT INTO run_log_pieces (org, run, stream, attempt, start, size, sealed) VALUES (?, ?, ?, " +
		"?, ?, ?, ?)"
	if err := t.exec(query, argsOf(log, piece.Offset, piece.Size, piece.Sealed)...); err != nil {
		return err
	}
	return t.tally(runs.Tally{Bytes: int64(len(piece.Sealed))})
}

func endOf(q sqldb.Querier, log runs.LogRef) (end int64, err error) {
	_, err = sqldb.One(q, []any{&end}, "SELECT size FROM run_logs WHERE "+logKey, argsOf(log)...)
	return end, err
}

// LogEnd implements runs.Store.
func (s *Store) LogEnd(ctx context.Context, log runs.LogRef) (end int64, err error) {
	err = s.db.Read(ctx, log.Org, func(q sqldb.Querier) error {
		end, err = endOf(q, log)
		return err
	})
	return end, err
}

// LogsOf implements runs.Store.
func (s *Store) LogsOf(ctx context.Context, ref runs.Ref) ([]runs.LogInfo, error) {
	scan := func(r *sql.Rows) (runs.LogInfo, error) {
		info := runs.LogInfo{LogRef: runs.LogRef{Ref: ref}}
		return info, r.Scan(&info.Stream, &info.Attempt, &info.End)
	}
	return ask(ctx, s, ref.Org, scan,
		"SELECT stream, attempt, size FROM run_logs WHERE org = ? AND run = ? ORDER BY stream, attempt", ref.Org.String(),
		ref.ID)
}

// ReadLog implements runs.Store.
func (s *Store) ReadLog(ctx context.Context, log runs.LogRef, offset, limit int64) (pieces []runs.LogPiece, err error) {
	err = s.db.Read(ctx, log.Org, func(q sqldb.Querier) error {
		pieces = nil
		if end, err := endOf(q, log); err != nil || offset >= end {
			return err
		}
		first, last, err := stretch(q, log, offset, limit)
		if err != nil {
			return err
		}
		const query = "SELECT start, size, sealed FROM run_log_pieces WHERE " + logKey +
			" AND start >= ? AND start <= ? ORDER BY start"
		pieces, err = sqldb.All(q, func(r *sql.Rows) (p runs.LogPiece, err error) {
			return p, r.Scan(&p.Offset, &p.Size, &p.Sealed)
		}, query, argsOf(log, first, last)...)
		return err
	})
	return pieces, err
}

// span is a piece without its bytes.
type span struct{ start, size, stored int64 }

func scanSpan(r *sql.Rows) (s span, err error) { return s, r.Scan(&s.start, &s.size, &s.stored) }

const spans = "SELECT start, size, LENGTH(sealed) FROM run_log_pieces WHERE "

// piecesAtOnce bounds a stretch where pieces are small.
const piecesAtOnce = 1024

// stretch returns where the first and the last piece of what is to be read begin: the sizes are
// looked at before, as nobody wants the bytes of pieces that are too many.
func stretch(q sqldb.Querier, log runs.LogRef, offset, limit int64) (first, last int64, err error) {
	if _, err := sqldb.One(q, []any{&first}, "SELECT start FROM run_log_pieces WHERE "+logKey+
		" AND start <= ? ORDER BY start DESC LIMIT 1", argsOf(log, offset)...); err != nil {
		return 0, 0, err
	}
	all, err := sqldb.All(q, scanSpan, spans+logKey+" AND start >= ? ORDER BY start LIMIT ?",
		argsOf(log, first, piecesAtOnce)...)
	last = first
	for _, s := range all {
		if s.start >= offset+limit {
			break
		}
		last = s.start
	}
	return first, last, err
}
