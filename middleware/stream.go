package middleware

import (
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/fault"
)

// Streamed is Admit for a body that is not to be in memory: it is read by Stream as it comes, and
// takes up a place meanwhile.
func Streamed() gin.HandlerFunc { return Admit(0) }

// Stream returns the body, to be read once and to its end. Whoever sent it must still be let in
// when all of it is there, else the end is an error. So are a body of more than limit bytes, one
// that comes too slowly and one that breaks off: faults like those of AdmitBody.
func Stream(c *gin.Context, limit int64) io.Reader {
	a := admissionOf(c)
	return &streamed{c: c, a: a, limit: limit, from: &pacedReader{
		from:     http.MaxBytesReader(c.Writer, c.Request.Body, limit),
		control:  http.NewResponseController(c.Writer),
		now:      a.guard.now,
		progress: progress{pace: a.guard.pace},
	}}
}

type streamed struct {
	c     *gin.Context
	a     *admission
	limit int64
	from  *pacedReader
	err   error // once there was one
}

func (s *streamed) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if encoding := s.c.GetHeader("Content-Encoding"); encoding != "" && encoding != "identity" {
		s.err = fault.New(fault.MediaUnsupported,
			"the Content-Encoding %.40q is not one that this body may have; nothing was stored", encoding)
		return 0, s.err
	}
	n, err := s.from.Read(p)
	switch {
	case err == nil:
		return n, nil
	case err == io.EOF:
		_ = s.from.control.SetReadDeadline(time.Time{})
		s.err = io.EOF
		if again := verifyAgain(s.c); again != nil {
			n, s.err = 0, again
		}
	default:
		n, s.err = 0, s.a.explain(err, s.limit)
	}
	return n, s.err
}
