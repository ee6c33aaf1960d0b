package middleware

import (
	"errors"
	"time"
)

// looks is how often a long write is looked at while nothing else may move.
const looks = 4

// stretched is a write that was begun as a whole, whatever its length, and how far it got.
// In pieces with a deadline each, an answer of 1 MB costs 0.2 ms more of the processor, of
// 0.5: the client wakes up for each.
type stretched struct {
	counted   int       // bytes of it that are in progress
	since     time.Time // when they were counted
	lastMoved time.Time // when something moved last
}

// writeWhole writes p, whose beginning leaves in one go with the header.
func (w *pacedWriter) writeWhole(p []byte) (int, error) {
	now := w.now()
	w.begin(now)
	w.stretched = stretched{since: now, lastMoved: now}
	_ = w.conn.SetWriteDeadline(w.nextLook(now))
	w.conn.stretch = w.stretch
	n, err := w.send(p)
	w.conn.stretch = nil
	w.add(max(n-w.counted, 0), w.now().Sub(w.since))
	w.free()
	return n, err
}

// send holds the header back if p is longer than what net/http gathers anyway.
func (w *pacedWriter) send(p []byte) (int, error) {
	if w.Size() > 0 || len(p) <= heldBytes {
		return w.ResponseWriter.Write(p)
	}
	w.conn.hold()
	n, err := w.ResponseWriter.Write(p)
	return n, errors.Join(err, w.conn.release())
}

// stretch counts n more bytes, and reports whether the client may take longer.
func (w *pacedWriter) stretch(n int) bool {
	now := w.now()
	w.add(n, now.Sub(w.since))
	w.counted, w.since = w.counted+n, now
	if n > 0 {
		w.lastMoved = now
	}
	next := w.nextLook(now)
	return next.After(now) && w.conn.SetWriteDeadline(next) == nil
}

// nextLook is the zero time, which is none, for the zero Pace; now, or before, when the
// client has had its time.
func (w *pacedWriter) nextLook(now time.Time) time.Time {
	silence := w.pace.Silence
	if silence <= 0 {
		return w.ends
	}
	left := min(w.patience(), w.lastMoved.Add(silence).Sub(now))
	return earlier(now.Add(min(left, max(silence/looks, 1))), w.ends)
}
