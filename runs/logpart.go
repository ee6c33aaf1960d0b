package runs

import (
	"bytes"
	"context"
	"sync"
)

// LogPart is a part of a log that is shown to all who watch it. It is never changed.
type LogPart struct {
	Log
	Offset int64 // of the first byte of Text

	once sync.Once
	sent []byte
}

// Sent returns what make makes of the part, which is done once for all who are sent it.
func (p *LogPart) Sent(make func(*LogPart) []byte) []byte {
	p.once.Do(func() { p.sent = make(p) })
	return p.sent
}

// partKey is a log and an offset.
type partKey struct {
	LogRef
	offset int64
}

// Log returns the part of a log that begins at an offset: of an attempt or, with 0, of the newest
// that has a log. It ends where a piece does, or where the log does now.
func (w *Watch) Log(ctx context.Context, stream Stream, attempt int, offset int64) (*LogPart, error) {
	run, err := w.Run(ctx)
	if err != nil {
		return nil, err
	}
	if !w.caller.SeesValues(run.Workspace) {
		return w.plainPart(ctx, stream, attempt, offset)
	}
	return w.log(ctx, stream, attempt, offset)
}

// log is Log for who is shown all of it.
func (w *Watch) log(ctx context.Context, stream Stream, attempt int, offset int64) (*LogPart, error) {
	key := partKey{LogRef{w.ref, stream, attempt}, offset}
	if part, ok := w.watched.parts.get(key); ok {
		return part, nil
	}
	w.watched.reading.Lock()
	defer w.watched.reading.Unlock()
	_, growths := w.service.changed.versions(w.watched) // before anything is read
	run, err := w.run(ctx)
	if err != nil {
		return nil, err
	}
	if attempt == 0 {
		if attempt, err = w.service.newestLog(ctx, run, stream); err != nil {
			return nil, err
		}
	}
	key.Attempt = attempt
	if part, ok := w.watched.parts.get(key); ok {
		return part, nil
	}
	// Where nothing has come since somebody was at the end, there is nothing still.
	if w.watched.quiet != nil && w.watched.quietAt == key && w.watched.quietIn == growths {
		return w.watched.quiet, nil
	}
	text, err := w.service.partOf(ctx, key.LogRef, offset, run.writes(stream, attempt))
	if err != nil {
		return nil, err
	}
	over := len(text) == 0 && !run.writes(stream, attempt)
	part := &LogPart{Log: Log{Text: text, End: offset + int64(len(text)), Ended: over, Attempt: attempt}, Offset: offset}
	if len(text) > 0 {
		w.watched.parts.add(key, part)
	} else {
		w.watched.quiet, w.watched.quietAt, w.watched.quietIn = part, key, growths
	}
	return part, nil
}

// offer has those who watch a log see what has just come of it, without that it is read again.
func (s *Service) offer(log LogRef, tail logTail, parts []logPart) {
	watched := s.changed.watches(log.Ref)
	if watched == nil {
		return
	}
	for _, p := range parts {
		if shown := min(p.end(), tail.end-int64(tail.open)) - p.offset; shown > 0 {
			part := &LogPart{Log: Log{Text: bytes.Clone(p.text[:shown]), End: p.offset + shown, Attempt: log.Attempt},
				Offset: p.offset}
			watched.parts.add(partKey{log, p.offset}, part)
		}
	}
}

// partOf reads a part of a log, from memory where it has just come.
func (s *Service) partOf(ctx context.Context, log LogRef, offset int64, goesOn bool) ([]byte, error) {
	if tail, ok := s.tails.Get(log); ok && goesOn {
		if text, ok := tail.from(offset); ok {
			return text, nil
		}
	}
	text, open, err := s.readLog(ctx, log, offset, largePiece, true)
	if err == nil && goesOn {
		text = text[:len(text)-open]
	}
	return text, err
}

// from returns what is shown of the tail from an offset on, if it has that.
func (t logTail) from(offset int64) (text []byte, ok bool) {
	shown := t.end - int64(t.open)
	if offset == shown {
		return nil, true
	}
	for _, p := range t.parts {
		if p.end() <= offset || p.offset >= shown {
			continue
		}
		if p.offset > offset && len(text) == 0 {
			return nil, false
		}
		text = append(text, p.text[max(offset-p.offset, 0):min(shown-p.offset, int64(len(p.text)))]...)
	}
	return text, len(text) > 0
}
