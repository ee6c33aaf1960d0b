package middleware

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
)

// wire is a connection whose client takes rate bytes a second, on the clock's time, until
// it has had most bytes, and none after. A write that its deadline ends has written what it
// could.
type wire struct {
	net.Conn
	clock *clock
	rate  int
	most  int
	end   time.Time // zero for none
	taken bytes.Buffer
}

func (w *wire) SetReadDeadline(time.Time) error    { return nil }
func (w *wire) SetWriteDeadline(t time.Time) error { w.end = t; return nil }

func (w *wire) Write(p []byte) (int, error) {
	n := min(len(p), w.most-w.taken.Len())
	whole := w.clock.time.Add(time.Duration(n) * time.Second / time.Duration(w.rate))
	if n == len(p) && (w.end.IsZero() || !whole.After(w.end)) {
		w.clock.time = whole
		return w.taken.Write(p)
	}
	if w.end.IsZero() {
		return 0, io.ErrNoProgress // for ever
	}
	left := max(w.end.Sub(w.clock.time), 0)
	w.clock.pass(left)
	n = min(n, int(left*time.Duration(w.rate)/time.Second))
	w.taken.Write(p[:n])
	return n, os.ErrDeadlineExceeded
}

// onWire answers through net/http's way of writing: header and body apart.
type onWire struct {
	*httptest.ResponseRecorder
	conn *conn
}

func (o onWire) Write(p []byte) (int, error) {
	if _, err := o.conn.Write([]byte("header ")); err != nil {
		return 0, err
	}
	return o.conn.Write(p)
}

func (o onWire) SetWriteDeadline(t time.Time) error { return o.conn.SetWriteDeadline(t) }
func (o onWire) SetReadDeadline(t time.Time) error  { return o.conn.SetReadDeadline(t) }

// answer sends a body of this size in one write and returns what became of it.
func (w *wire) answer(pace Pace, size int) (n int, err error) {
	gin.SetMode(gin.ReleaseMode)
	c := newConn(w, w.clock.now)
	engine := gin.New()
	engine.Use(Paced(pace, w.clock.now))
	engine.GET("/", func(g *gin.Context) { n, err = g.Writer.Write(make([]byte, size)) })
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	engine.ServeHTTP(onWire{httptest.NewRecorder(), c}, r.WithContext(ConnContext(context.Background(), c)))
	return n, err
}

// As pieces with a deadline each: who takes less than the pace is cut off when it has used
// up the grace, who takes nothing after the silence, and who keeps to it never.
func TestPaceOfAWholeAnswer(t *testing.T) {
	const size = 1 << 20
	never := time.Duration(0)
	for name, test := range map[string]struct {
		rate, most int
		pace       Pace
		cut        time.Duration // after which the client is cut off; never if it isn't
	}{
		"at once":             {1 << 30, 2 * size, testPace, never},
		"in a minute":         {size / 60, 2 * size, testPace, never},
		"at the pace":         {1 << 10, 2 * size, testPace, never},
		"at half the pace":    {1 << 9, 2 * size, testPace, 60 * time.Second},
		"a byte now and then": {1, 2 * size, testPace, 30 * time.Second},
		"not at all":          {1 << 10, 0, testPace, 30 * time.Second},
		"half, then nothing":  {1 << 16, size / 2, testPace, 8*time.Second + 30*time.Second},
		"any time":            {1, 2 * size, Pace{}, never},
		"for too long":        {size / 60, 2 * size, Pace{Silence: 30 * time.Second, MinRate: 1 << 10, Answer: 40 * time.Second}, 40 * time.Second},
		"with no other end":   {size / 60, 2 * size, Pace{Answer: 40 * time.Second}, 40 * time.Second},
		"just in time":        {size / 60, 2 * size, Pace{Silence: 30 * time.Second, Answer: 61 * time.Second}, never},
		"silence alone":       {1 << 9, 2 * size, Pace{Silence: 30 * time.Second}, never},
	} {
		w := &wire{clock: newClock(), rate: test.rate, most: test.most}
		start := w.clock.time
		n, err := w.answer(test.pace, size)
		took := w.clock.time.Sub(start)
		if test.cut == never {
			if n != size || err != nil || w.taken.Len() != size+len("header ") || !bytes.HasPrefix(w.taken.Bytes(), []byte("header ")) {
				t.Errorf("%s: %d bytes, %v after %v", name, n, err, took)
			}
			continue
		}
		if err == nil || took < test.cut-time.Second || took > test.cut+test.pace.Silence/looks {
			t.Errorf("%s: %d bytes, %v after %v; want it cut off after %v", name, n, err, took, test.cut)
		}
	}
}
