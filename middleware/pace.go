package middleware

import (
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// How much of an answer is written under one deadline, at least and at most.
const (
	minPiece = 4 << 10
	maxPiece = 256 << 10
)

// Pace is how slow a client may be, while it sends a body or takes an answer. A large
// state on a slow line arrives; a silent connection, or one byte now and then, does not
// stay. The zero Pace lets a client take any time.
type Pace struct {
	// Silence is how long nothing at all may move.
	Silence time.Duration
	// MinRate is how much must move on average, in bytes a second, once Silence has passed.
	MinRate int64
	// Answer is how long a client may take an answer altogether, from its first byte on,
	// however fast it moves: what is made for it takes up memory meanwhile. 0 is any time.
	Answer time.Duration
}

// piece is how much is written under one deadline: what a client that keeps to the pace
// takes in a quarter of the silence, so that it never looks silent. It is no less than
// minPiece, though: who takes that in no less than the silence is cut off, whatever MinRate is.
func (p Pace) piece() int {
	if p.Silence <= 0 {
		return maxPiece
	}
	return int(min(max(float64(p.MinRate)*p.Silence.Seconds()/4, minPiece), maxPiece))
}

// progress is what moved in one direction, and how long the client was waited for.
type progress struct {
	pace   Pace
	moved  int64
	waited time.Duration
}

// patience is how long the client may take for what comes next.
func (p *progress) patience() time.Duration {
	if p.pace.MinRate <= 0 {
		return p.pace.Silence
	}
	earned := time.Duration(float64(p.moved) / float64(p.pace.MinRate) * float64(time.Second))
	return min(p.pace.Silence, p.pace.Silence+earned-p.waited)
}

func (p *progress) add(n int, took time.Duration) {
	p.moved += int64(n)
	p.waited += took
}

// pacedReader reads a body at its client's pace. A Read that takes too long fails with
// os.ErrDeadlineExceeded.
type pacedReader struct {
	from    io.Reader
	control *http.ResponseController
	now     func() time.Time
	progress
}

func (r *pacedReader) Read(p []byte) (int, error) {
	start := r.now()
	// A writer without deadlines, as in tests, reads without them.
	_ = r.control.SetReadDeadline(r.deadline(start))
	n, err := r.from.Read(p)
	r.add(n, r.now().Sub(start))
	return n, err
}

// deadline is the zero time, which is none, for the zero Pace.
func (p *progress) deadline(now time.Time) time.Time {
	if p.pace.Silence <= 0 {
		return time.Time{}
	}
	return now.Add(p.patience())
}

// pacedWriter writes an answer at its client's pace. What the server takes to make it does
// not count, however long that is: a deadline stands only while something is written.
type pacedWriter struct {
	gin.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
	ends    time.Time // when the answer has to be through; zero before its first byte, and for no end
	// resumable says that the client can take the answer up again where it broke off.
	resumable bool
	progress
}

// Paced cuts off clients who take their answers more slowly than pace, or for longer, and
// those who announce a body that nobody reads and don't send it. It does not hold for other bodies:
// what reads them does so by itself.
func Paced(pace Pace, now func() time.Time) gin.HandlerFunc {
	return func(c *gin.Context) {
		w := &pacedWriter{
			ResponseWriter: c.Writer,
			control:        http.NewResponseController(c.Writer),
			now:            now,
			progress:       progress{pace: pace},
		}
		c.Writer = w
		w.free()
		limitUnread(c)
		// The server sends what is left in its buffer when all handlers have returned.
		defer w.limit()
		c.Next()
	}
}

func (w *pacedWriter) limit() {
	now := w.now()
	w.begin(now)
	_ = w.control.SetWriteDeadline(w.deadline(now))
}

// begin has the answer's time run from its first byte on.
func (w *pacedWriter) begin(now time.Time) {
	if w.ends.IsZero() && w.pace.Answer > 0 {
		w.ends = now.Add(w.pace.Answer)
	}
}

// deadline is that of the pace, or the answer's end if that comes first.
func (w *pacedWriter) deadline(now time.Time) time.Time {
	return earlier(w.progress.deadline(now), w.ends)
}

// earlier takes the zero time for never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// GoOn has the time in which a client must have taken its answer begin anew: for an answer
// without an end, of which nothing is kept in memory but the piece that is being sent. How fast
// the client must be holds as before.
func GoOn(c *gin.Context) {
	if w, ok := c.Writer.(*pacedWriter); ok {
		w.ends = time.Time{}
	}
}

// Resumable has a client that is quick be sent more at once. If it becomes slow all of a sudden, it
// may be cut off, though it keeps to the pace on the whole: so it is for answers that a client
// takes up again where they broke off.
func Resumable(c *gin.Context) {
	if w, ok := c.Writer.(*pacedWriter); ok {
		w.resumable = true
	}
}

// piece is how much is written under one deadline: at least what the pace allows, and what a
// client that has been quick so far takes in a small part of the silence.
func (w *pacedWriter) piece() int {
	least := w.pace.piece()
	if !w.resumable || w.moved == 0 {
		return least
	}
	rate := float64(w.moved) / max(w.waited.Seconds(), 1e-6)
	return int(min(max(rate*w.pace.Silence.Seconds()/16, float64(least)), maxPiece))
}

func (w *pacedWriter) free() { _ = w.control.SetWriteDeadline(time.Time{}) }

// Unwrap is for http.ResponseController.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *pacedWriter) Write(p []byte) (written int, err error) {
	for first := true; first || written < len(p) && err == nil; first = false {
		var n int
		n, err = w.writePiece(p[written:min(len(p), written+w.piece())])
		written += n
	}
	return written, err
}

func (w *pacedWriter) writePiece(p []byte) (int, error) {
	start := w.now()
	w.limit()
	n, err := w.ResponseWriter.Write(p)
	w.add(n, w.now().Sub(start))
	w.free()
	return n, err
}

// WriteString implements gin.ResponseWriter.
func (w *pacedWriter) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// Flush implements http.Flusher.
func (w *pacedWriter) Flush() {
	start := w.now()
	w.limit()
	w.ResponseWriter.Flush()
	w.add(0, w.now().Sub(start))
	w.free()
}
