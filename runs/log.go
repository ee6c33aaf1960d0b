package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/mask"
	"github.com/holdfast/holdfast/seal"
)

// MaxLogPiece is how many bytes of a log come at once.
const MaxLogPiece = 1 << 20

// SealedLog is what pieces of logs are sealed as.
const SealedLog seal.Kind = "log"

// SealedAs is what a piece of the log is sealed under, as SealedLog.
func (l LogRef) SealedAs(offset int64) string {
	return fmt.Sprintf("%s/%s/%d/%d", l.ID, l.Stream, l.Attempt, offset)
}

// LogGapError says up to where a log is as its executor has it, to one that goes on from somewhere
// else: where the log ends, for a LogGap, or where it has another byte, for a LogMismatch.
type LogGapError struct {
	Fault *fault.Error
	End   int64
}

func (e *LogGapError) Error() string { return e.Fault.Error() }

func (e *LogGapError) Unwrap() error { return e.Fault }

// AppendLog adds bytes to a log at an offset, and returns where it ends then. Bytes that are
// there already are fine if they are the same. Faults: EpochOld, LogTooLarge, and LogGap and
// LogMismatch, each as *LogGapError.
func (s *Service) AppendLog(ctx context.Context, p auth.Principal, id string, stream Stream, attempt int, offset int64,
	text []byte) (int64, error) {
	run, err := s.executed(ctx, p, id)
	if err != nil {
		return 0, err
	}
	if stream != Stream(p.Run.Stage) || attempt < 1 || attempt > run.Attempt || offset < 0 {
		return 0, fault.New(fault.RunInvalid,
			"an executor writes the log of its stage, of an attempt up to %d, from offset 0", run.Attempt)
	}
	if len(text) > MaxLogPiece {
		return 0, fault.New(fault.BodyTooLarge, "a piece of a log may have %d bytes", MaxLogPiece)
	}
	if most := run.logFrom() + run.logRoom(s.Limits.LogBytes); offset+int64(len(text)) > most {
		return 0, fault.New(fault.LogTooLarge, "a log may have %d bytes", most)
	}
	masker, err := s.maskerOf(ctx, run)
	if err != nil {
		return 0, err
	}
	log := LogRef{run.Ref(), stream, attempt}
	end, err := s.append(ctx, p, log, offset, text, masker)
	if err == nil {
		s.changed.tellLog(log.Ref)
	}
	return end, err
}

// append goes by where the log ends: what is there is compared, the rest is added.
func (s *Service) append(ctx context.Context, p auth.Principal, log LogRef, offset int64, text []byte,
	masker *mask.Masker) (int64, error) {
	allow := func(r Run) error {
		if err := r.current(p.Run.Epoch); err != nil || log.Attempt == r.Attempt {
			return err
		}
		return fault.New(fault.RunInvalid, "the run is in attempt %d", r.Attempt)
	}
	for {
		tail, err := s.tailOf(ctx, log, offset)
		if err != nil {
			return 0, err
		}
		rest, err := s.beyond(ctx, log, tail.end, offset, text)
		if gap, ok := errors.AsType[*LogGapError](err); ok {
			return gap.End, err
		}
		if err != nil || len(rest) == 0 {
			return tail.end, err
		}
		next, parts := tail.extended(rest, masker)
		pieces, err := s.sealParts(ctx, log, next, parts)
		if err != nil {
			return 0, err
		}
		s.tails.Remove(log) // until it is known what became of it
		after, err := s.Store.AppendLog(ctx, log, tail.end, pieces, allow)
		if err == nil && after == next.end {
			s.tails.Add(log, next)
			s.offer(log, next, parts)
		}
		if err != nil || after == next.end {
			return after, err
		}
		// Another call has added something meanwhile: perhaps the same.
	}
}

// sealParts seals parts that end where the tail does.
func (s *Service) sealParts(ctx context.Context, log LogRef, tail logTail,
	parts []logPart) (pieces []LogPiece, err error) {
	for i, part := range parts {
		plain := part.text
		if i == len(parts)-1 {
			plain = tail.plain(plain)
		}
		sealed, err := s.Seals.Seal(ctx, log.Org, SealedLog, log.SealedAs(part.offset), plain)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, LogPiece{Offset: part.offset, Size: int64(len(part.text)), Sealed: sealed})
	}
	return pieces, nil
}

// tailOf returns the end of a log. What is remembered of it counts only where the log is to go on
// there: another server may have added something since.
func (s *Service) tailOf(ctx context.Context, log LogRef, offset int64) (tail logTail, err error) {
	if known, ok := s.tails.Get(log); ok && known.end == offset {
		return known, nil
	}
	end, err := s.Store.LogEnd(ctx, log)
	if err != nil || end == 0 {
		return tail, err
	}
	var all []logPart
	err = s.openLog(ctx, log, max(end-2*smallPiece, 0), end, func(piece LogPiece, plain []byte) {
		part := logPart{offset: piece.Offset}
		part.text, tail.context, tail.open = piece.textOf(plain)
		tail.end = part.end()
		all = append(all, part)
	})
	tail.parts = lastParts(all, tail.end-int64(tail.open))
	return tail, err
}

// beyond returns what of the text comes behind the log's end, when the rest is there already. What
// was masked is taken for the same: nobody knows any more what it was.
func (s *Service) beyond(ctx context.Context, log LogRef, end, offset int64, text []byte) ([]byte, error) {
	if offset > end {
		return nil, &LogGapError{fault.New(fault.LogGap, "the log ends at %d, so nothing can be added at %d", end, offset),
			end}
	}
	common := text[:min(int64(len(text)), end-offset)]
	for done := 0; done < len(common); {
		have, _, err := s.readLog(ctx, log, offset+int64(done), int64(len(common)-done), false)
		if err != nil {
			return nil, err
		}
		same := sameButMasked(have, common[done:])
		if len(have) == 0 || same < len(have) {
			other := offset + int64(done+same)
			return nil, &LogGapError{fault.New(fault.LogMismatch, "the log has other bytes from %d on", other), other}
		}
		done += len(have)
	}
	return text[len(common):], nil
}

// sameButMasked returns how many of the first bytes are the same.
func sameButMasked(have, sent []byte) int {
	for i, b := range have {
		if b != sent[i] && b != '*' {
			return i
		}
	}
	return len(have)
}

// readLog returns bytes of a log from an offset on: at most limit, or up to the end of the piece
// that has the last of them, and at least one where there is one. The last open ones of them may
// have to be masked yet.
func (s *Service) readLog(ctx context.Context, log LogRef, offset, limit int64,
	whole bool) (text []byte, open int, err error) {
	var end int64
	err = s.openLog(ctx, log, offset, limit, func(piece LogPiece, plain []byte) {
		var part []byte
		part, _, open = piece.textOf(plain)
		end = piece.Offset + int64(len(part))
		text = append(text, part[min(max(offset-piece.Offset, 0), int64(len(part))):]...)
	})
	open = min(open, len(text))
	if over := end - (offset + limit); over > 0 && len(text) > 0 && !whole {
		text, open = text[:int64(len(text))-over], max(open-int(over), 0)
	}
	return text, open, err
}

// openLog calls take with the pieces of a log from an offset on, and what was sealed of each.
func (s *Service) openLog(ctx context.Context, log LogRef, offset, limit int64,
	take func(piece LogPiece, plain []byte)) error {
	pieces, err := s.Store.ReadLog(ctx, log, offset, limit)
	if err != nil {
		return err
	}
	for _, piece := range pieces {
		plain, err := s.Seals.Open(ctx, log.Org, SealedLog, log.SealedAs(piece.Offset), piece.Sealed)
		if err != nil {
			return err
		}
		take(piece, plain)
	}
	return nil
}

// Log is a part of what a run's tool has printed.
type Log struct {
	Text []byte
	End  int64 // behind Text
	// Ended says that nothing will come behind End.
	Ended   bool
	Attempt int
}

// ReadLog returns a part of a log, of an attempt or, with 0, of the newest that has one.
func (s *Service) ReadLog(ctx context.Context, p auth.Principal, id string, stream Stream, attempt int, offset,
	limit int64) (Log, error) {
	run, err := s.find(ctx, p, auth.ReadRun, id)
	if err != nil {
		return Log{}, err
	}
	if attempt == 0 {
		if attempt, err = s.newestLog(ctx, run, stream); err != nil {
			return Log{}, err
		}
	}
	read := func(offset int64) ([]byte, bool, error) {
		text, open, err := s.readLog(ctx, LogRef{run.Ref(), stream, attempt}, offset, min(limit, MaxLogPiece), false)
		if err == nil && run.writes(stream, attempt) {
			text = text[:len(text)-open]
		}
		return text, len(text) == 0 && !run.writes(stream, attempt), err
	}
	if !p.SeesValues(run.Workspace) {
		return s.plainPiece(attempt, offset, read)
	}
	text, over, err := read(offset)
	return Log{Text: text, End: offset + int64(len(text)), Ended: over, Attempt: attempt}, err
}

// plainPiece is ReadLog for who is shown no values: it goes on until there is something that is shown.
func (s *Service) plainPiece(attempt int, offset int64, read func(int64) ([]byte, bool, error)) (Log, error) {
	for {
		log, err := s.plainLog(offset, read)
		if err != nil || len(log.Text) > 0 || log.End == offset {
			log.Attempt = attempt
			return log, err
		}
		offset = log.End
	}
}

func (s *Service) newestLog(ctx context.Context, run Run, stream Stream) (int, error) {
	logs, err := s.Store.LogsOf(ctx, run.Ref())
	newest := run.Attempt
	if !run.writes(stream, run.Attempt) {
		newest = 0
		for _, l := range logs {
			if l.Stream == stream {
				newest = max(newest, l.Attempt)
			}
		}
	}
	return max(newest, 1), err
}

// writes reports whether there may come more of a log.
func (r Run) writes(stream Stream, attempt int) bool {
	switch {
	case r.Status.Ended() || attempt < r.Attempt:
		return false
	case r.Stage == ApplyStage && stream == Stream(PlanStage):
		return false
	case r.Status == AwaitingApproval || r.Status == Confirmed:
		return stream == Stream(ApplyStage)
	}
	return true
}
