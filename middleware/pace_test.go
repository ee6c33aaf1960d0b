package middleware

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
)

// line is a connection that moves so many bytes a second, on the clock's time, and no
// more than deadlines allow.
type line struct {
	*httptest.ResponseRecorder
	clock       *clock
	rate        int
	writes      int
	read, write time.Time // deadlines; zero for none
}

func (l *line) SetReadDeadline(t time.Time) error { l.read = t; return nil }

func (l *line) SetWriteDeadline(t time.Time) error { l.write = t; return nil }

func (l *line) move(n int, deadline time.Time) (int, error) {
	took := time.Duration(n) * time.Second / time.Duration(l.rate)
	if end := l.clock.time.Add(took); !deadline.IsZero() && end.After(deadline) {
		l.clock.time = deadline
		return 0, os.ErrDeadlineExceeded
	}
	l.clock.pass(took)
	return n, nil
}

func (l *line) Write(p []byte) (int, error) {
	l.writes++
	return l.move(len(p), l.write)
}

// Read comes in pieces as they would from a connection: what a second brings.
func (l *line) Read(p []byte) (int, error) { return l.move(min(len(p), l.rate), l.read) }

func newLine(rate int) *line {
	return &line{ResponseRecorder: httptest.NewRecorder(), clock: newClock(), rate: rate}
}

func (l *line) readAll(pace Pace, size int64) (int64, error) {
	r := &pacedReader{from: l, control: http.NewResponseController(l), now: l.clock.now, progress: progress{pace: pace}}
	return io.Copy(io.Discard, io.LimitReader(r, size))
}

// answer sends size bytes through the middleware.
func (l *line) answer(pace Pace, handler gin.HandlerFunc) {
	c, _ := gin.CreateTestContext(l)
	c.Request = httptest.NewRequest("GET", "/", nil)
	engine := gin.New()
	engine.Use(Paced(pace, l.clock.now))
	engine.GET("/", handler)
	engine.ServeHTTP(l, c.Request)
}

var testPace = Pace{Silence: 30 * time.Second, MinRate: 1 << 10}

// With a grace of 30 s, who sends at half the rate is cut off at 60 s; who is silent, at
// 30 s; and who keeps to it, never.
func TestPaceOfABody(t *testing.T) {
	for rate, want := range map[int]time.Duration{1 << 9: 60 * time.Second, 1: 30 * time.Second} {
		l := newLine(rate)
		start := l.clock.time
		_, err := l.readAll(testPace, 1<<20)
		took := l.clock.time.Sub(start)
		if err != os.ErrDeadlineExceeded || took > want+time.Second || took < want-time.Second {
			t.Errorf("at %d B/s: %v after %v, want it cut off after %v", rate, err, took, want)
		}
	}
	for _, rate := range []int{1 << 10, 1 << 11, 1 << 20} {
		if n, err := newLine(rate).readAll(testPace, 1<<20); n != 1<<20 || err != nil {
			t.Errorf("at %d B/s: %d bytes, %v", rate, n, err)
		}
	}
	if n, err := newLine(1).readAll(Pace{}, 1<<10); n != 1<<10 || err != nil {
		t.Errorf("without a pace: %d bytes, %v", n, err)
	}
}

// Who takes less than the pace is cut off when it has used up the grace, who takes nothing
// after the silence, and who keeps to it never.
func TestPaceOfAnAnswer(t *testing.T) {
	const size = 1 << 20
	never := time.Duration(0)
	for name, test := range map[string]struct {
		rate int
		pace Pace
		cut  time.Duration // after which the client is cut off; never if it isn't
	}{
		"at once":             {1 << 30, testPace, never},
		"in a minute":         {size / 60, testPace, never},
		"at the pace":         {1 << 10, testPace, never},
		"at half the pace":    {1 << 9, testPace, 60 * time.Second},
		"a tenth of it":       {100, testPace, 30 * time.Second},
		"a byte now and then": {1, testPace, 30 * time.Second},
		"any time":            {1, Pace{}, never},
		"for too long": {size / 60, Pace{Silence: 30 * time.Second, MinRate: 1 << 10, Answer: 40 * time.Second},
			40 * time.Second},
		"with no other end": {size / 60, Pace{Answer: 10 * time.Second}, 10 * time.Second},
		"just in time":      {size / 60, Pace{Silence: 30 * time.Second, Answer: 61 * time.Second}, never},
		"silence alone":     {1 << 9, Pace{Silence: 30 * time.Second}, never},
		"a great rate":      {64 << 20, Pace{Silence: 30 * time.Second, MinRate: 32 << 20}, never},
	} {
		l := newLine(test.rate)
		start := l.clock.time
		var n int
		var err error
		l.answer(test.pace, func(c *gin.Context) { n, err = c.Writer.Write(make([]byte, size)) })
		took := l.clock.time.Sub(start)
		if test.cut == never {
			if n != size || err != nil {
				t.Errorf("%s: %d bytes, %v after %v", name, n, err, took)
			}
			continue
		}
		if early := test.cut - test.pace.Silence/4; err == nil || took < early || took > test.cut+time.Second {
			t.Errorf("%s: %d bytes, %v after %v; want it cut off after %v", name, n, err, took, test.cut)
		}
	}
}

// Of an answer that can be taken up again a quick client is sent much at once, and one that only
// keeps to the pace no more than of others.
func TestPaceOfAResumableAnswer(t *testing.T) {
	const size = 1 << 20
	for _, test := range []struct {
		rate, least, most int // writes
	}{{1 << 28, 4, 8}, {1 << 10, 128, 160}} {
		l := newLine(test.rate)
		var n int
		var err error
		l.answer(testPace, func(c *gin.Context) {
			Resumable(c)
			n, err = c.Writer.Write(make([]byte, size))
		})
		if n != size || err != nil || l.writes < test.least || l.writes > test.most {
			t.Errorf("at %d B/s: %d bytes in %d writes, %v", test.rate, n, l.writes, err)
		}
	}
}

// However fast it moves, and in whatever pieces, an answer has an end, from its first byte
// on.
func TestEndOfAnAnswer(t *testing.T) {
	const rate = 1 << 20
	pace := Pace{Silence: 30 * time.Second, MinRate: 1 << 10, Answer: time.Minute}
	for name, write := range map[string]func(c *gin.Context) error{
		"at once": func(c *gin.Context) error {
			_, err := c.Writer.Write(make([]byte, 100*rate))
			return err
		},
		"in pieces": func(c *gin.Context) (err error) {
			for n := 0; n < 100 && err == nil; n++ {
				_, err = c.Writer.Write(make([]byte, rate))
			}
			return err
		},
		"now and then": func(c *gin.Context) (err error) {
			for n := 0; n < 100 && err == nil; n++ {
				_, err = c.Writer.Write([]byte("x"))
				c.Writer.Flush()
				clockOf(c).pass(time.Second)
			}
			return err
		},
	} {
		l := newLine(rate)
		l.answer(pace, func(c *gin.Context) {
			c.Set("clock", l.clock)
			l.clock.pass(time.Hour) // to make it
			start := l.clock.time
			err := write(c)
			if took := l.clock.time.Sub(start); err == nil || took < 58*time.Second || took > 61*time.Second {
				t.Errorf("%s: %v after %v, want it cut off after a minute", name, err, took)
			}
		})
	}
	l := newLine(rate)
	l.answer(pace, func(c *gin.Context) {
		if _, err := c.Writer.Write(make([]byte, 50*rate)); err != nil {
			t.Errorf("in 50 seconds: %v", err)
		}
	})
	if end := l.clock.time.Add(11 * time.Second); l.write.IsZero() || l.write.After(end) {
		t.Errorf("what is left in the buffer may take until %v, want %v at most", l.write, end)
	}
}

func clockOf(c *gin.Context) *clock { return c.MustGet("clock").(*clock) }

// What the server takes to make an answer is not the client's fault, and no deadline may
// pass meanwhile: HTTP/2 would end the stream.
func TestPaceOfTheServer(t *testing.T) {
	l := newLine(1 << 20)
	l.answer(testPace, func(c *gin.Context) {
		for range 100 {
			l.clock.pass(time.Minute)
			if !l.write.IsZero() {
				t.Fatalf("a deadline stands while nothing is written")
			}
			if _, err := c.Writer.WriteString("a record"); err != nil {
				t.Fatal(err)
			}
			c.Writer.Flush()
		}
	})
	if l.write.IsZero() || l.write.Before(l.clock.time) {
		t.Errorf("what is left in the buffer is sent with the deadline %v, at %v", l.write, l.clock.time)
	}
}

// The next request on a connection does not inherit a deadline.
func TestPaceStartsAnew(t *testing.T) {
	l := newLine(1 << 20)
	l.write = l.clock.time.Add(-time.Hour)
	l.answer(testPace, func(*gin.Context) {
		if !l.write.IsZero() {
			t.Error("it inherits the deadline")
		}
	})
}
