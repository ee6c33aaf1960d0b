package handlers

import (
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzip"
)

const (
	// sendAt is how much is gathered before it is sent, and so what an error may take
	// back: up to there the answer can still become another one.
	sendAt = 32 << 10
	// sendEvery is how long a record waits for others to come.
	sendEvery = time.Second
	// minGzip is the length from which on compression is worth its overhead.
	minGzip = 1 << 10
)

// sender sends an answer piece by piece, whose length nobody knows. It holds one piece.
type sender struct {
	c       *gin.Context
	control *http.ResponseController
	prepare func(header http.Header) // called once, before the header goes out
	piece   []byte
	sentAt  time.Time
	out     io.Writer // nil until something was sent
	gzip    *gzip.Writer
	lost    bool // the reader, not the store, broke off
}

func newSender(c *gin.Context, prepare func(http.Header)) *sender {
	return &sender{c: c, prepare: prepare, control: http.NewResponseController(c.Writer), sentAt: time.Now()}
}

// started reports whether the answer can't become another one any more.
func (s *sender) started() bool { return s.out != nil }

// sendIfDue sends the piece when it is large or old enough.
func (s *sender) sendIfDue() error {
	now := time.Now()
	if len(s.piece) < sendAt && now.Sub(s.sentAt) < sendEvery {
		return nil
	}
	slow := now.Sub(s.sentAt) >= sendEvery
	if err := s.send(now, false); err != nil || !slow {
		return err
	}
	return s.flush()
}

// flush pushes out what compression and the connection hold back.
func (s *sender) flush() error {
	if s.gzip != nil {
		if err := s.gzip.Flush(); err != nil {
			return s.lose(err)
		}
	}
	return s.lose(s.control.Flush())
}

func (s *sender) lose(err error) error {
	s.lost = s.lost || err != nil
	return err
}

// send writes the piece. A reader may be slow, but not keep a store's files and connections
// by taking nothing at all: middleware.Paced sees to that.
func (s *sender) send(now time.Time, all bool) error {
	if s.out == nil {
		s.start(all && len(s.piece) < minGzip)
	}
	_, err := s.out.Write(s.piece)
	s.piece, s.sentAt = s.piece[:0], now
	return s.lose(err)
}

func (s *sender) start(tiny bool) {
	header := s.c.Writer.Header()
	s.prepare(header)
	header.Set("Vary", "Accept, Accept-Encoding")
	s.out = s.c.Writer
	if !tiny && acceptsGzip(s.c.GetHeader("Accept-Encoding")) {
		header.Set("Content-Encoding", "gzip")
		s.gzip, _ = gzip.NewWriterLevel(s.c.Writer, gzip.BestSpeed) // fails for a wrong level only
		s.out = s.gzip
	}
	s.c.Status(http.StatusOK)
}

// finish sends what is left.
func (s *sender) finish() error {
	if err := s.send(time.Now(), true); err != nil {
		return err
	}
	if s.gzip != nil {
		if err := s.gzip.Close(); err != nil {
			return s.lose(err)
		}
	}
	s.c.Writer.WriteHeaderNow()
	return nil
}
